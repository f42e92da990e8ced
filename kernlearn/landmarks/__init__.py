"""Embeddings by similarities to landmarks, and the models of the thesis on them."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "baselines": "SimilarityFeatureSVM SpectrumSVM",
        "classifiers": "BBSClassifier FTuneClassifier",
        "dboost": "DBoostClassifier",
        "embeddings": "LandmarkEmbedding NystroemEmbedding PairEmbedding",
        "neighbours": "LandmarkKNNClassifier SimilarityKNNClassifier",
        "ordinal": "ORLand",
        "regressors": "KernelRegressor RankLand RegLand",
        "selection": "dselect",
        "sparse": "SparseRegLand",
        "transfer": "CallableTransfer Identity Ramp Sigmoid Sign Transfer as_transfer",
    },
)
