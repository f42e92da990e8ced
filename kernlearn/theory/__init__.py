"""The guarantees of Kar (2013) as numbers: feature counts, goodness, complexities, regret."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "InnerMapConstants": "bounds",
        "UniformAccuracy": "bounds",
        "bounds": "",
        "compositional_failure_probability": "bounds",
        "compositional_n_components": "bounds",
        "goodness": "",
        "maclaurin_failure_probability": "bounds",
        "maclaurin_n_components": "bounds",
        "maclaurin_pointwise_failure_probability": "bounds",
        "pairwise_bounds": "",
        "rademacher": "",
    },
)
