"""Pages from summaries alone: as those from the store, but for single splits."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from kernlearn.config import load_config
from kernlearn.exceptions import ReportError, SummaryError
from kernlearn.reports import write_report, write_site, write_summary
from kernlearn.reports.charts import figures
from kernlearn.reports.claims import Decision
from kernlearn.reports.conclusions import Conclusion
from kernlearn.reports.summarised import summarised, summarised_reports
from kernlearn.reports.summary import KEY
from tests.reports.test_site import Page
from tests.reports.test_totals import RESULTS

NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    """The summaries of the site's two experiments."""
    place = tmp_path_factory.mktemp("summaries")
    for report in site.reports.values():
        write_summary(report, place)
    return place


@pytest.fixture(scope="module")
def summary_site(site, folder, tmp_path_factory):
    reports, skipped = summarised_reports(folder, configs=site.configs)
    assert not skipped
    return write_site(reports, tmp_path_factory.mktemp("from") / "site")


@pytest.fixture
def own(site, folder, tmp_path):
    """A copy of one summary, to be changed, and its config."""
    for suffix in (".csv", ".json"):
        (tmp_path / f"held{suffix}").write_bytes((folder / f"held{suffix}").read_bytes())
    return tmp_path, site.configs[0]


def change(folder: Path, **values: object) -> None:
    path = folder / "held.json"
    details = json.loads(path.read_text()) | values
    path.write_text(json.dumps({k: v for k, v in details.items() if v is not ...}))


def shown(path: Path) -> dict[str | None, list[list[str]]]:
    """The texts of all tables of a page, but for that of its files."""
    page = Page(path)
    downloads = [None]  # without an id
    return {
        name: [[" ".join("".join(text).split()) for _, text in row] for row in rows]
        for name, rows in page.tables.items()
        if name not in downloads
    }


def assert_same(text: str, other: str) -> None:
    """Two texts are the same; a number that was rounded twice may differ in its last digit."""
    assert NUMBER.sub("#", text) == NUMBER.sub("#", other)
    for a, b in zip(NUMBER.findall(text), NUMBER.findall(other), strict=True):
        digits = len(a.partition(".")[2])
        assert abs(float(a) - float(b)) <= 1.001 * 10**-digits, (text, other)


def test_tables_verdicts_and_claims_are_those_of_the_store(site, summary_site):
    cells = same = 0
    for name in site.reports:
        of_store = shown(site.page(name))
        of_summary = shown(summary_site.with_name(f"{name}.html"))
        assert [*of_store] == [*of_summary]
        for table, rows in of_store.items():
            for row, other in zip(rows, of_summary[table], strict=True):
                for text, again in zip(row, other, strict=True):
                    assert_same(text, again)
                    cells, same = cells + 1, same + (text == again)
    assert cells > 300
    assert same > 0.98 * cells
    held = shown(summary_site.with_name("held.html"))
    assert {"table-1", "deviations-table", "claims-table"} <= {*held}
    assert len(held["claims-table"]) == 3
    assert any("▼" in cell or "▲" in cell for row in held["table-1"] for cell in row)
    index, other = Page(site.index), Page(summary_site)
    for table in other.tables:
        if table is not None:
            assert index.tables[table] == other.tables[table]


def test_numbers_charts_and_all_else_are_those_of_the_store(site, folder):
    for name, report in site.reports.items():
        again = summarised(report.plan.experiment.path, folder)
        assert again.from_summary
        assert again.runs.empty
        assert again.claims == report.claims
        assert again.remarks == report.remarks
        assert list(again.summary.columns) == list(report.summary.columns), name
        numbers = ["mean", "std", "n_splits", "reported_mean", "not_converged"]
        np.testing.assert_allclose(
            again.summary[numbers].to_numpy(dtype=float),
            report.summary[numbers].to_numpy(dtype=float),
            rtol=1e-5,
        )
        assert [*again.summary["verdict"]] == [*report.summary["verdict"]]
        for table, other in zip(again.shown_tables, report.shown_tables, strict=True):
            assert (table.title, table.heads) == (other.title, other.heads)
            for (labels, _), (those, _) in zip(table.rows, other.rows, strict=True):
                assert labels == those
        drawn = zip(figures(again), figures(report), strict=True)
        assert all(a.stem == b.stem and a.tables == [] for a, b in drawn if not b.tables)


def test_the_page_says_that_splits_are_not_there(site, folder, tmp_path):
    report = summarised(site.configs[0], folder)
    page = write_report(report, tmp_path / "page")
    names = {path.name for path in page.parent.iterdir()}
    other = {path.name for path in (site.index.parent / "files/held").iterdir()}
    assert other - names == {"splits.csv"}
    assert "single splits are not part of it" in Page(page).text
    assert "It does not say" not in Page(page).text
    for suffix in (".csv", ".json"):  # as it was
        name = f"held{suffix}"
        assert (page.parent / name).read_bytes() == (folder / name).read_bytes()


def test_all_committed_summaries_are_shown():
    reports, skipped = summarised_reports(
        RESULTS / "measured", names=("table5_1b", "vkr_table2", "figure5_4")
    )
    assert [len(reports), skipped] == [3, []]
    table = next(r for r in reports if r.plan.experiment.name == "table5_1b")
    assert [*table.summary["verdict"]].count("match") == 19
    assert not table.unknown
    with pytest.raises(ReportError, match="no summary of table9; there are summaries of: control"):
        summarised_reports(RESULTS / "measured", names=["table9"])


def test_an_old_summary_says_less_and_the_page_says_what(own, tmp_path):
    folder, config = own
    later = (
        "measured",
        "rules",
        "claims",
        "conclusions",
        "chances",
        "data",
        "settings",
        "indicative",
        "left_out",
        "seconds",
    )
    change(folder, **dict.fromkeys(later, ...))
    report = summarised(config, folder)
    page = write_report(report, tmp_path / "page")
    # what is written again says the same
    assert summarised(config, page.parent).unknown == report.unknown
    text = Page(page).text
    assert "It does not say when it was measured, the rules of the verdicts, the claims, " in text
    assert report.claims == []
    assert not report.plan.left_out


def test_notes_are_those_of_the_config(own, tmp_path):
    folder, config = own
    notes = summarised(config, folder).remarks[:2]
    assert notes[1] == "K: the exact kernel"
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "held.yaml").write_text(
        config.read_text().replace("K: the exact kernel", "K: exact\n  RF: new")
    )
    remarks = json.loads((folder / "held.json").read_text())["remarks"]
    assert summarised(changed / "held.yaml", folder).remarks == [
        notes[0],
        "K: exact",
        "RF: new",
        *remarks[2:],
    ]


WRONG = {
    "done": "many",
    "claims": [{"says": 1}],
    "measured": ["soon"],
    "data": {"moons": "text"},
    "measured_on": [{"cores": -1}],
    "trial_seconds": float("nan"),
    "remarks": ["fine", 3],
}


@pytest.mark.parametrize("name", WRONG, ids="of_{}".format)
def test_what_does_not_fit_is_one_line(own, name):
    folder, config = own
    change(folder, **{name: WRONG[name]})
    with pytest.raises(SummaryError, match=rf"held\.json: {name}") as caught:
        summarised(config, folder)
    assert "\n" not in str(caught.value)


def test_outcomes_are_those_that_there_are(own):
    folder, config = own
    for name, one in (
        ("claims", Decision("s", "1", "certainly", "n")),
        ("conclusions", Conclusion("c", "accuracy", "a", "b", 1.0, 1.0, 0.0, 2.0, "proved")),
    ):
        change(folder, claims=[], conclusions=[])
        summarised(config, folder)
        change(folder, **{name: [vars(one)]})
        with pytest.raises(SummaryError, match="expected one of"):
            summarised(config, folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",RF,", ",XF,", "of another config, which has the method XF;"),
        ("held,spambase,", "held,sonar,", "which has the data set sonar;"),
        ("n_components", "n_landmarks", "which has the parameter n_landmarks;"),
        (",accuracy,", ",fortune,", "which has the metric fortune;"),
        (",0.938,,", ",0.937,,", "reported numbers of its summary are not those of table3_1.csv;"),
    ],
)
def test_a_summary_of_another_config_is_not_shown(own, old, new, said):
    folder, config = own
    path = folder / "held.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ReportError, match=said):
        summarised(config, folder)
    reports, skipped = summarised_reports(folder, configs=[config])
    assert reports == []
    assert said in skipped[0].reason


def test_settings_name_no_files(own):
    folder, config = own
    change(folder, settings=["plugins=[evil.py]"])
    with pytest.raises(ReportError, match="a summary may not"):
        summarised(config, folder)


def test_only_summaries_are_read_and_those_without_a_config_named(own):
    folder, config = own
    (folder / "choice.csv").write_text("table,choice\n1,2\n")
    (folder / "other.json").write_text("[]")
    (folder / "gone.csv").write_text(f"{','.join(KEY)}\n")
    reports, skipped = summarised_reports(folder, configs=[config])
    assert [r.plan.experiment.name for r in reports] == ["held"]
    assert [one.name for one in skipped] == ["gone"]
    assert "has no config of that name" in skipped[0].reason
    with pytest.raises(SummaryError, match="nowhere: cannot be read"):
        summarised_reports(folder / "nowhere")
    with pytest.raises(ReportError, match="has the same name"):
        summarised_reports(folder, configs=[config, config])


def test_counts_are_counts(own):
    folder, config = own
    path = folder / "held.csv"
    for wrong in ("inf", "-1", "1.5"):
        lines = path.read_text().splitlines()
        fields = lines[1].split(",")
        assert fields[-8] == "2"
        broken = [lines[0], ",".join([*fields[:-8], wrong, *fields[-7:]]), *lines[2:]]
        (folder / "held.csv").write_text("\n".join(broken) + "\n")
        with pytest.raises(SummaryError, match=f"n_splits is not a count: '?{wrong}"):
            summarised(config, folder)
        path.write_text("\n".join(lines) + "\n")
    assert load_config(config).config.title
