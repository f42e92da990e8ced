from kernlearn.theory.goodness import Goodness as Goodness
from kernlearn.theory.goodness import SupervisedGoodness as SupervisedGoodness
from kernlearn.theory.goodness import classification_goodness as classification_goodness
from kernlearn.theory.goodness import compare_similarities as compare_similarities
from kernlearn.theory.goodness import ordinal_goodness as ordinal_goodness
from kernlearn.theory.goodness import ranking_goodness as ranking_goodness
from kernlearn.theory.goodness import regression_goodness as regression_goodness
from kernlearn.theory.rademacher import BilinearForm as BilinearForm
from kernlearn.theory.rademacher import ComplexityEstimate as ComplexityEstimate
from kernlearn.theory.rademacher import ExcessRiskBound as ExcessRiskBound
from kernlearn.theory.rademacher import KernelAUC as KernelAUC
from kernlearn.theory.rademacher import KernelCombination as KernelCombination
from kernlearn.theory.rademacher import LinearAUC as LinearAUC
from kernlearn.theory.rademacher import MahalanobisMetric as MahalanobisMetric
from kernlearn.theory.rademacher import VotedBound as VotedBound
from kernlearn.theory.rademacher import all_pairs_regret_bound as all_pairs_regret_bound
from kernlearn.theory.rademacher import contracted_complexity as contracted_complexity
from kernlearn.theory.rademacher import excess_risk_bound as excess_risk_bound
from kernlearn.theory.rademacher import fast_rate_bound as fast_rate_bound
from kernlearn.theory.rademacher import olp_buffer_regret_bound as olp_buffer_regret_bound
from kernlearn.theory.rademacher import olp_regret_bound as olp_regret_bound
from kernlearn.theory.rademacher import rademacher_complexity as rademacher_complexity
from kernlearn.theory.rademacher import voted_bound as voted_bound
from kernlearn.theory.sample_sizes import InnerMapConstants as InnerMapConstants
from kernlearn.theory.sample_sizes import SampleSizes as SampleSizes
from kernlearn.theory.sample_sizes import (
    compositional_failure_probability as compositional_failure_probability,
)
from kernlearn.theory.sample_sizes import compositional_n_components as compositional_n_components
from kernlearn.theory.sample_sizes import (
    landmarks_for_approximation as landmarks_for_approximation,
)
from kernlearn.theory.sample_sizes import landmarks_for_family as landmarks_for_family
from kernlearn.theory.sample_sizes import landmarks_for_loss as landmarks_for_loss
from kernlearn.theory.sample_sizes import landmarks_for_margin as landmarks_for_margin
from kernlearn.theory.sample_sizes import (
    maclaurin_failure_probability as maclaurin_failure_probability,
)
from kernlearn.theory.sample_sizes import maclaurin_n_components as maclaurin_n_components
from kernlearn.theory.sample_sizes import ndcg_regret_bound as ndcg_regret_bound
from kernlearn.theory.sample_sizes import ordinal_error_bounds as ordinal_error_bounds
from kernlearn.theory.sample_sizes import ordinal_sample_sizes as ordinal_sample_sizes
from kernlearn.theory.sample_sizes import ramp_covering_number as ramp_covering_number
from kernlearn.theory.sample_sizes import ranking_sample_sizes as ranking_sample_sizes
from kernlearn.theory.sample_sizes import ranking_weight_bound as ranking_weight_bound
from kernlearn.theory.sample_sizes import regression_sample_sizes as regression_sample_sizes
from kernlearn.theory.sample_sizes import (
    sparse_regression_sample_sizes as sparse_regression_sample_sizes,
)
