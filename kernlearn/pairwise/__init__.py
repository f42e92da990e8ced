"""Online learning with losses of pairs of points, in the memory of a small buffer."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "all_pairs": "AllPairsMoments AllPairsSVM",
        "learned_kernels": (
            "MetricKNNClassifier MultipleKernelSVM OnlineMKL OnlineMetricLearner "
            "OnlineSimilarityLearner SimilaritySVM"
        ),
        "learners": "OAM OLP",
        "regret": "RegretCurve StreamRegret stream_regret",
    },
)
