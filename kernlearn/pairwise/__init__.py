"""Online learning with losses of pairs of points, in the memory of a small buffer."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "buffer_names": "as_buffer",
        "buffers": "Buffer FIFO RS RSx RSx2",
        "classifiers": "MetricKNNClassifier MultipleKernelSVM SimilaritySVM",
        "drift_buffers": "AwareBuffer ClassBalanced LossWeighted TimeBiased",
        "learned_kernels": "OnlineMKL OnlineSimilarityLearner kernel_target_alignment",
        "losses": (
            "CallableLoss Exponential Hinge Logistic PairwiseLoss Squared SquaredHinge "
            "as_pairwise_loss"
        ),
        "metric": "OnlineMetricLearner",
        "online_auc": "OAM OLP",
        "pair_moments": "AllPairsMoments",
        "ranking": "AllPairsSVM",
        "regret": "RegretCurve StreamRegret stream_regret",
    },
)
