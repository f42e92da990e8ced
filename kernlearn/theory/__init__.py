"""The guarantees of the papers as numbers: feature counts, goodness, complexities, regret."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "goodness": (
            "Goodness SimilarityScore SupervisedGoodness classification_goodness "
            "compare_similarities ordinal_goodness ranking_goodness regression_goodness"
        ),
        "rademacher": (
            "BilinearSimilarity ComplexityEstimate ExcessRiskBound KernelAUC KernelCombination "
            "LinearAUC MahalanobisMetric VotedBound all_pairs_regret_bound "
            "contracted_complexity excess_risk_bound fast_rate_bound olp_buffer_regret_bound "
            "olp_regret_bound rademacher_complexity voted_bound"
        ),
        "sample_sizes": (
            "InnerMapConstants SampleSizes compositional_failure_probability "
            "compositional_n_components landmarks_for_approximation landmarks_for_family "
            "landmarks_for_loss landmarks_for_margin maclaurin_failure_probability "
            "maclaurin_n_components ndcg_regret_bound ordinal_error_bounds ordinal_sample_sizes "
            "ramp_covering_number ranking_sample_sizes ranking_weight_bound "
            "regression_sample_sizes sparse_regression_sample_sizes"
        ),
    },
)
