"""Learning with similarities to landmarks, positive semi-definite or not."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "baselines": "SimilarityFeatureSVM SimilarityKNNClassifier SpectrumSVM",
        "bbs": "BBSClassifier",
        "dboost": "DBoostClassifier",
        "embedding": "LandmarkEmbedding PairEmbedding",
        "ftune": "FTuneClassifier",
        "kernel_regression": "KernelRegressor",
        "landmark_neighbors": "LandmarkKNNClassifier LandmarkKNNRegressor",
        "multi_similarity": "MultiSimilarityClassifier",
        "nystroem": "NystroemEmbedding",
        "orland": "ORLand",
        "rankland": "RankLand",
        "regland": "RegLand",
        "selection": "dselect",
        "sparse_regland": "SparseRegLand",
        "transfer": "CallableTransfer Identity Ramp Sigmoid Sign Transfer as_transfer",
    },
)
