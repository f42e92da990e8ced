"""Advice on a data set: methods are measured on samples of it within a given time."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "candidates": "Candidate Facts shortlist",
        "choosing": "Advice Verdict advise",
        "similarities": "choose_similarity",
    },
)
