from kernlearn.config.model import ExperimentConfig as ExperimentConfig
from kernlearn.config.read import find_config as find_config
from kernlearn.config.read import load_config as load_config
from kernlearn.config.trial import Trial as Trial
