"""Answers, held against the outcomes that they rest on."""

import pytest

from kernlearn.cli.output import show_report
from kernlearn.config import load_config
from kernlearn.config.claims import Evidence
from kernlearn.config.read import shipped_configs
from kernlearn.reports import report_rows, write_report, write_site
from kernlearn.reports.answers import Conclusion, answer, changes, concluded, papers
from tests.reports.test_page import text_of

ANSWER = """
answer:
  - says: Both come back.
    rests_on: {claims: {1: %s}}
  - says: None is bold.
    rests_on: {bold: {guess: 0}}
"""


@pytest.fixture
def answered(held, rows, report, tmp_path):
    """Return the report of a config whose answer rests on an outcome of its first claim."""

    def make(outcome, profile="full"):
        path = tmp_path / "held.yaml"
        path.write_text(held.read_text() + ANSWER % outcome)
        return report_rows(load_config(path, profile=profile), rows)

    return make


def test_a_sentence_says_what_has_changed(answered, report, capsys, tmp_path):
    outcome = report.claims["outcome"][0]
    same, other = answered(outcome), answered("reversed")
    assert [one.changes for one in answer(same)] == [[], []]
    assert answer(other)[0].changes == [f"claim 1 {outcome}, not reversed"]
    assert answer(answered(outcome, "quick")) == []
    page = text_of(write_report(other, tmp_path / "page"))
    show_report(other)
    printed = " ".join(capsys.readouterr().out.split())
    for text in (page, printed):
        assert text.index("Both come back.") < text.index("K is best")
        assert f"No longer so: claim 1 {outcome}, not reversed." in text
        assert "None is bold. (No" not in text


def test_every_kind_of_outcome_is_counted(report):
    scores = report.counts.loc["scores"]
    right = {name: int(n) for name, n in scores.items() if name == "match"}
    differences = report.differences["outcome"].value_counts().to_dict()
    best = report.cells.loc[report.cells["best"], "method"].value_counts().to_dict()
    claims = dict(enumerate(report.claims["outcome"], 1))
    evidence = {"scores": right, "differences": differences, "bold": best, "claims": claims}
    assert changes(Evidence.model_validate(evidence), report) == []
    for kind, counts in evidence.items():
        for name, value in counts.items():
            wrong = "no outcome" if kind == "claims" else value + 1
            assert len(changes(Evidence.model_validate({kind: {name: wrong}}), report)) == 1
    assert "is not there" in changes(Evidence(claims={9: "holds"}), report)[0]


def test_sentences_on_several_experiments(report):
    outcome = report.claims["outcome"][0]
    evidence = {"held": {"claims": {1: "fails"}}, "other": {"claims": {1: outcome}}}
    one = Conclusion.model_validate({"says": "All.", "rests_on": evidence})
    assert concluded([one], {"held": report}) == []
    ((says, changed),) = concluded([one], {"held": report, "other": report})
    assert (says, changed) == ("All.", [f"held: claim 1 {outcome}, not fails"])


def test_what_shipped_answers_rest_on_exists(tmp_path, report):
    configs = {name: load_config(name).config for name in shipped_configs()}
    named = [pair for paper in papers() for c in paper.conclusions for pair in c.rests_on.items()]
    named += [(name, one.rests_on) for name, own in configs.items() for one in own.answer]
    for name, evidence in named:
        assert all(1 <= number <= len(configs[name].claims) for number in evidence.claims)
        assert evidence.bold.keys() <= configs[name].methods.keys()
    listed = [name for paper in papers() for part in paper.chapters for name in part.experiments]
    assert len({*listed}) == len(listed) > 0
    assert {*listed} <= configs.keys()
    assert "How to read this" not in text_of(write_site([report], tmp_path))
