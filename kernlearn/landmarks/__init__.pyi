# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.landmarks.base import Contributions as Contributions
from kernlearn.landmarks.baselines import LandmarkKNNClassifier as LandmarkKNNClassifier
from kernlearn.landmarks.baselines import SimilarityFeatureSVM as SimilarityFeatureSVM
from kernlearn.landmarks.baselines import SimilarityKNNClassifier as SimilarityKNNClassifier
from kernlearn.landmarks.baselines import SpectrumSVM as SpectrumSVM
from kernlearn.landmarks.classifiers import BBSClassifier as BBSClassifier
from kernlearn.landmarks.classifiers import DBoostClassifier as DBoostClassifier
from kernlearn.landmarks.classifiers import FTuneClassifier as FTuneClassifier
from kernlearn.landmarks.embeddings import Identity as Identity
from kernlearn.landmarks.embeddings import LandmarkEmbedding as LandmarkEmbedding
from kernlearn.landmarks.embeddings import NystroemEmbedding as NystroemEmbedding
from kernlearn.landmarks.embeddings import PairEmbedding as PairEmbedding
from kernlearn.landmarks.embeddings import Ramp as Ramp
from kernlearn.landmarks.embeddings import Sigmoid as Sigmoid
from kernlearn.landmarks.embeddings import Sign as Sign
from kernlearn.landmarks.embeddings import Transfer as Transfer
from kernlearn.landmarks.embeddings import as_transfer as as_transfer
from kernlearn.landmarks.ordinal import ORLand as ORLand
from kernlearn.landmarks.regressors import KernelRegressor as KernelRegressor
from kernlearn.landmarks.regressors import RankLand as RankLand
from kernlearn.landmarks.regressors import RegLand as RegLand
from kernlearn.landmarks.selection import dselect as dselect
from kernlearn.landmarks.sparse import SparseRegLand as SparseRegLand

__all__ = [
    "BBSClassifier",
    "Contributions",
    "DBoostClassifier",
    "FTuneClassifier",
    "Identity",
    "KernelRegressor",
    "LandmarkEmbedding",
    "LandmarkKNNClassifier",
    "NystroemEmbedding",
    "ORLand",
    "PairEmbedding",
    "Ramp",
    "RankLand",
    "RegLand",
    "Sigmoid",
    "Sign",
    "SimilarityFeatureSVM",
    "SimilarityKNNClassifier",
    "SparseRegLand",
    "SpectrumSVM",
    "Transfer",
    "as_transfer",
    "dselect",
]
