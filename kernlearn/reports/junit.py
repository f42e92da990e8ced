"""A check as JUnit XML, which servers of continuous integration show."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from kernlearn.exceptions import SummaryError
from kernlearn.reports.check import FAILURES, LEFT_OUT, MOVED, OTHER_SPLITS

# What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cell_name(row: pd.Series) -> str:
    """Name a cell of a check by its labels, parameters and metric."""
    parameters = json.loads(row["params"]) if row["params"] else {}
    labels = [row["dataset"], row["kernel"], row["method"]]
    parts = [*labels, *(f"{k}={v}" for k, v in parameters.items()), row["metric"]]
    return " · ".join(part for part in parts if part)


def cell_text(row: pd.Series) -> str:
    """Say of a cell of a check what it was, what it is, and what is allowed."""
    if row["outcome"] == MOVED:
        return (
            f"{row['baseline']:g} in the baseline, {row['measured']:g} measured: "
            f"{row['difference']:+.3g}, allowed {row['allowed']:.3g}"
        )
    if row["outcome"] == OTHER_SPLITS:
        return f"{row['n_baseline']:g} splits in the baseline, {row['n_measured']:g} measured"
    before = "not in the baseline" if pd.isna(row["baseline"]) else f"{row['baseline']:g} there"
    now = "not measured" if pd.isna(row["measured"]) else f"{row['measured']:g} measured"
    return f"{before}, {now}"


def write_junit(checks: dict[str, pd.DataFrame], path: Path) -> None:
    """Write checks as JUnit XML: a suite an experiment, a test case a cell.

    Parameters
    ----------
    checks : dict of str to pandas.DataFrame
        By experiment, from :func:`~kernlearn.reports.check.check_plan`.
    path : Path

    Raises
    ------
    SummaryError
        If the file cannot be written.
    """
    root = ElementTree.Element("testsuites", name="kernlearn check")
    for name, frame in checks.items():
        suite = ElementTree.SubElement(root, "testsuite", _counted(name, frame))
        for _, row in frame.iterrows():
            case = ElementTree.SubElement(
                suite, "testcase", classname=_clean(name), name=_clean(cell_name(row))
            )
            if row["outcome"] in FAILURES:
                ElementTree.SubElement(
                    case, "failure", type=row["outcome"], message=cell_text(row)
                )
            elif row["outcome"] == LEFT_OUT:
                ElementTree.SubElement(case, "skipped", message="left out, not found")
    ElementTree.indent(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise SummaryError(f"{path}: cannot be written: {error.strerror or error}") from None


def _counted(name: str, frame: pd.DataFrame) -> dict[str, str]:
    failed = int(frame["outcome"].isin(FAILURES).sum())
    skipped = int((frame["outcome"] == LEFT_OUT).sum())
    numbers = {"tests": len(frame), "failures": failed, "errors": 0, "skipped": skipped}
    return {"name": _clean(name), **{key: str(number) for key, number in numbers.items()}}


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
