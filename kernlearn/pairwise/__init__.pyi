# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.pairwise.all_pairs import AllPairsMoments as AllPairsMoments
from kernlearn.pairwise.all_pairs import AllPairsSVM as AllPairsSVM
from kernlearn.pairwise.learned_kernels import MetricKNNClassifier as MetricKNNClassifier
from kernlearn.pairwise.learned_kernels import MultipleKernelSVM as MultipleKernelSVM
from kernlearn.pairwise.learned_kernels import OnlineMKL as OnlineMKL
from kernlearn.pairwise.learned_kernels import OnlineMetricLearner as OnlineMetricLearner
from kernlearn.pairwise.learned_kernels import OnlineSimilarityLearner as OnlineSimilarityLearner
from kernlearn.pairwise.learned_kernels import SimilaritySVM as SimilaritySVM
from kernlearn.pairwise.learners import OAM as OAM
from kernlearn.pairwise.learners import OLP as OLP
from kernlearn.pairwise.regret import RegretCurve as RegretCurve
from kernlearn.pairwise.regret import StreamRegret as StreamRegret
from kernlearn.pairwise.regret import stream_regret as stream_regret

__all__ = [
    "AllPairsMoments",
    "AllPairsSVM",
    "MetricKNNClassifier",
    "MultipleKernelSVM",
    "OAM",
    "OLP",
    "OnlineMKL",
    "OnlineMetricLearner",
    "OnlineSimilarityLearner",
    "RegretCurve",
    "SimilaritySVM",
    "StreamRegret",
    "stream_regret",
]
