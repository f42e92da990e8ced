"""The papers that the shipped experiments repeat, and how to cite them."""

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
)


def cited(source: str) -> list[Paper]:
    """Return the papers that a config's ``source`` cites."""
    return [paper for paper in PAPERS if paper.citation in source]
