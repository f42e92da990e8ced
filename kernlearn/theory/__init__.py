"""The guarantees of Kar (2013) as numbers: feature counts, goodness, complexities, regret."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "": "bounds goodness pairwise_bounds rademacher",
        "bounds": (
            "InnerMapConstants UniformAccuracy compositional_failure_probability "
            "compositional_n_components maclaurin_failure_probability maclaurin_n_components "
            "maclaurin_pointwise_failure_probability"
        ),
        "voted": "VotedBound voted_bound",
    },
)
