"""Online learning with losses of pairs of points, in the memory of a small buffer."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "all_pairs": "AllPairsSVM",
        "buffers": "Buffer FIFO RS RSx RSx2 as_buffer",
        "losses": (
            "CallableLoss Exponential Hinge Logistic PairwiseLoss Squared SquaredHinge "
            "as_pairwise_loss pair_labels"
        ),
        "metric": "OnlineMetricLearner",
        "mkl": "OnlineMKL",
        "online_auc": "OAM OLP",
        "projections": "project_l1 project_l2 project_psd project_simplex project_trace_norm",
        "regret": "Followed RegretCurve StreamRegret buffer_contents follow stream_regret",
        "similarity": "OnlineSimilarityLearner kernel_target_alignment",
    },
)
