"""Learning with similarities to landmarks, positive semi-definite or not."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BBSClassifier": "_bbs",
        "CallableTransfer": "_transfer",
        "DBoostClassifier": "_dboost",
        "FTuneClassifier": "_ftune",
        "Identity": "_transfer",
        "KernelRegressor": "_kernel_regression",
        "LandmarkEmbedding": "_embedding",
        "ORLand": "_orland",
        "PairEmbedding": "_embedding",
        "Ramp": "_transfer",
        "RankLand": "_rankland",
        "RegLand": "_regland",
        "Sigmoid": "_transfer",
        "Sign": "_transfer",
        "SimilarityFeatureSVM": "_similarity_features",
        "SimilarityKNNClassifier": "_neighbors",
        "SparseRegLand": "_sparse_regland",
        "SpectrumSVM": "_spectrum",
        "Transfer": "_transfer",
        "as_transfer": "_transfer",
        "dselect": "_selection",
    },
)
