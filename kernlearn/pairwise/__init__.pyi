# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.pairwise.buffer_names import as_buffer as as_buffer
from kernlearn.pairwise.buffers import Buffer as Buffer
from kernlearn.pairwise.buffers import FIFO as FIFO
from kernlearn.pairwise.buffers import RS as RS
from kernlearn.pairwise.buffers import RSx as RSx
from kernlearn.pairwise.buffers import RSx2 as RSx2
from kernlearn.pairwise.classifiers import MetricKNNClassifier as MetricKNNClassifier
from kernlearn.pairwise.classifiers import MultipleKernelSVM as MultipleKernelSVM
from kernlearn.pairwise.classifiers import SimilaritySVM as SimilaritySVM
from kernlearn.pairwise.drift_buffers import AwareBuffer as AwareBuffer
from kernlearn.pairwise.drift_buffers import ClassBalanced as ClassBalanced
from kernlearn.pairwise.drift_buffers import LossWeighted as LossWeighted
from kernlearn.pairwise.drift_buffers import TimeBiased as TimeBiased
from kernlearn.pairwise.learned_kernels import OnlineMKL as OnlineMKL
from kernlearn.pairwise.learned_kernels import OnlineSimilarityLearner as OnlineSimilarityLearner
from kernlearn.pairwise.learned_kernels import kernel_target_alignment as kernel_target_alignment
from kernlearn.pairwise.losses import CallableLoss as CallableLoss
from kernlearn.pairwise.losses import Exponential as Exponential
from kernlearn.pairwise.losses import Hinge as Hinge
from kernlearn.pairwise.losses import Logistic as Logistic
from kernlearn.pairwise.losses import PairwiseLoss as PairwiseLoss
from kernlearn.pairwise.losses import Squared as Squared
from kernlearn.pairwise.losses import SquaredHinge as SquaredHinge
from kernlearn.pairwise.losses import as_pairwise_loss as as_pairwise_loss
from kernlearn.pairwise.metric import OnlineMetricLearner as OnlineMetricLearner
from kernlearn.pairwise.online_auc import OAM as OAM
from kernlearn.pairwise.online_auc import OLP as OLP
from kernlearn.pairwise.pair_moments import AllPairsMoments as AllPairsMoments
from kernlearn.pairwise.ranking import AllPairsSVM as AllPairsSVM
from kernlearn.pairwise.regret import RegretCurve as RegretCurve
from kernlearn.pairwise.regret import StreamRegret as StreamRegret
from kernlearn.pairwise.regret import stream_regret as stream_regret

__all__ = [
    "AllPairsMoments",
    "AllPairsSVM",
    "AwareBuffer",
    "Buffer",
    "CallableLoss",
    "ClassBalanced",
    "Exponential",
    "FIFO",
    "Hinge",
    "Logistic",
    "LossWeighted",
    "MetricKNNClassifier",
    "MultipleKernelSVM",
    "OAM",
    "OLP",
    "OnlineMKL",
    "OnlineMetricLearner",
    "OnlineSimilarityLearner",
    "PairwiseLoss",
    "RS",
    "RSx",
    "RSx2",
    "RegretCurve",
    "SimilaritySVM",
    "Squared",
    "SquaredHinge",
    "StreamRegret",
    "TimeBiased",
    "as_buffer",
    "as_pairwise_loss",
    "kernel_target_alignment",
    "stream_regret",
]
