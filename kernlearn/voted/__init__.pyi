from kernlearn.voted.classifier import L1SVMClassifier as L1SVMClassifier
from kernlearn.voted.classifier import VotedKernelClassifier as VotedKernelClassifier
from kernlearn.voted.classifier import VotedPath as VotedPath
from kernlearn.voted.classifier import dimension_complexity as dimension_complexity
from kernlearn.voted.classifier import feature_dimension as feature_dimension
from kernlearn.voted.classifier import local_complexity as local_complexity
from kernlearn.voted.classifier import monte_carlo_complexity as monte_carlo_complexity
from kernlearn.voted.classifier import trace_complexity as trace_complexity
