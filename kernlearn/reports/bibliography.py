"""The papers that the shipped experiments and examples repeat, and how to cite them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper: how configs cite it, its reference in full, and as BibTeX."""

    citation: str
    reference: str
    bibtex: str


PAPERS = (
    Paper(
        "Kar (2013)",
        "Purushottam Kar: Topics in Resource-efficient Kernel Learning. PhD thesis, Indian "
        "Institute of Technology Kanpur, November 2013.",
        """\
@phdthesis{kar2013topics,
  author = {Kar, Purushottam},
  title  = {Topics in Resource-efficient Kernel Learning},
  school = {Indian Institute of Technology Kanpur},
  month  = nov,
  year   = {2013}
}
""",
    ),
    Paper(
        "Cortes, Goyal, Kuznetsov & Mohri (2015)",
        "Corinna Cortes, Prasoon Goyal, Vitaly Kuznetsov and Mehryar Mohri: Voted Kernel "
        "Regularization, 2015.",
        """\
@misc{cortes2015voted,
  author = {Cortes, Corinna and Goyal, Prasoon and Kuznetsov, Vitaly and Mohri, Mehryar},
  title  = {Voted Kernel Regularization},
  year   = {2015}
}
""",
    ),
    Paper(
        "Gorman & Sejnowski (1988)",
        "R. Paul Gorman and Terrence J. Sejnowski: Analysis of Hidden Units in a Layered Network "
        "Trained to Classify Sonar Targets. Neural Networks 1, 1988, pages 75–89.",
        """\
@article{gorman1988analysis,
  author  = {Gorman, R. Paul and Sejnowski, Terrence J.},
  title   = {Analysis of Hidden Units in a Layered Network Trained to Classify Sonar Targets},
  journal = {Neural Networks},
  volume  = {1},
  pages   = {75--89},
  year    = {1988}
}
""",
    ),
)


def cited(source: str) -> list[Paper]:
    """Return the papers that a config's ``source`` cites."""
    return [paper for paper in PAPERS if paper.citation in source]
