"""The papers that the shipped experiments repeat: how to cite them, and where they are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper: how configs cite it, its BibTeX entry, and its address if it has a lasting one."""

    citation: str
    bibtex: str
    address: str = ""


PAPERS = (
    Paper(
        "Kar (2013)",
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
        """\
@misc{cortes2015voted,
  author        = {Cortes, Corinna and Goyal, Prasoon and Kuznetsov, Vitaly and Mohri, Mehryar},
  title         = {Voted Kernel Regularization},
  year          = {2015},
  eprint        = {1509.04340},
  archiveprefix = {arXiv}
}
""",
        "https://arxiv.org/abs/1509.04340",
    ),
)


def cited(source: str) -> list[Paper]:
    """Return the papers that a config's ``source`` cites."""
    return [paper for paper in PAPERS if paper.citation in source]
