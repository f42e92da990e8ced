"""Embeddings by similarities to landmarks, and the models of the thesis on them."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": "Contributions",
        "baselines": (
            "LandmarkKNNClassifier SimilarityFeatureSVM SimilarityKNNClassifier SpectrumSVM"
        ),
        "classifiers": "BBSClassifier DBoostClassifier FTuneClassifier",
        "embeddings": (
            "Identity LandmarkEmbedding NystroemEmbedding PairEmbedding Ramp Sigmoid Sign "
            "Transfer as_transfer"
        ),
        "ordinal": "ORLand",
        "regressors": "KernelRegressor RankLand RegLand",
        "selection": "dselect",
        "sparse": "SparseRegLand",
    },
)
