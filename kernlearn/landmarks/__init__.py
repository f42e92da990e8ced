"""Learning with similarities to landmarks, positive semi-definite or not."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BBSClassifier": "bbs",
        "CallableTransfer": "transfer",
        "DBoostClassifier": "dboost",
        "FTuneClassifier": "ftune",
        "Identity": "transfer",
        "KernelRegressor": "kernel_regression",
        "LandmarkEmbedding": "embedding",
        "ORLand": "orland",
        "PairEmbedding": "embedding",
        "Ramp": "transfer",
        "RankLand": "rankland",
        "RegLand": "regland",
        "Sigmoid": "transfer",
        "Sign": "transfer",
        "SimilarityFeatureSVM": "baselines",
        "SimilarityKNNClassifier": "baselines",
        "SparseRegLand": "sparse_regland",
        "SpectrumSVM": "baselines",
        "Transfer": "transfer",
        "as_transfer": "transfer",
        "dselect": "selection",
    },
)
