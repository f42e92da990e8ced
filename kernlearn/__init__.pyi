__version__: str
from kernlearn import config as config
from kernlearn import datasets as datasets
from kernlearn import engine as engine
from kernlearn import features as features
from kernlearn import kernels as kernels
from kernlearn import landmarks as landmarks
from kernlearn import linear as linear
from kernlearn import metrics as metrics
from kernlearn import onepass as onepass
from kernlearn import pairwise as pairwise
from kernlearn import plugins as plugins
from kernlearn import reports as reports
from kernlearn import store as store
from kernlearn import svm as svm
from kernlearn import theory as theory
from kernlearn import voted as voted
