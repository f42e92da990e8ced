"""A site that is written again: in several processes, and only where something has changed."""

import re
import sqlite3

import pytest

from kernlearn.reports import write_summary
from kernlearn.reports.site import Skipped, publish, stored_plans
from kernlearn.store import Store

GONE = [Skipped("gone", "no config <of> that name")]


def contents(folder):
    """All files of a site by name, without the times at which they were written."""
    texts = {}
    for path in folder.rglob("*.*"):
        if path.suffix in (".html", ".json", ".csv", ".md", ".tex", ".svg"):
            text = path.read_text(encoding="utf-8")
            text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC|\"written\": \"[^\"]*\"", "", text)
            # the size of a file varies with its date alone
            texts[path.relative_to(folder).as_posix()] = text
    return texts


@pytest.fixture(scope="module")
def published(site, tmp_path_factory):
    """A site written by two processes, with its store and plans."""
    folder = tmp_path_factory.mktemp("published")
    with Store(site.store, read_only=True) as store:
        plans, _ = stored_plans(store, configs=site.configs)
        index, reports = publish(plans, store, folder / "site", skipped=GONE, jobs=2)
        yield folder / "site", store, plans, reports
    assert index == folder / "site" / "index.html"


def test_processes_write_what_one_writes(site, published):
    folder, _, plans, reports = published
    assert contents(folder) == contents(site.index.parent)
    assert [report.plan for report in reports] == plans


def test_what_has_not_changed_is_not_made_again(site, published, monkeypatch, tmp_path):
    folder, store, plans, _ = published
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*.*") if p.parent.name != "assets"}
    texts = contents(folder)
    monkeypatch.setattr("kernlearn.reports.site.writing.assemble", None)
    index, reports = publish(plans, store, folder, skipped=GONE)
    after = {p: p.stat().st_mtime_ns for p in before}
    assert {p for p in before if before[p] != after[p]} == {index}
    assert contents(folder) == texts
    for report in reports:
        whole = site.reports[report.plan.experiment.name]
        assert report.claims == whole.claims
        # those that were not measured are NaN
        assert repr(report.conclusions) == repr(whole.conclusions)
        assert report.measured.chances == whole.chances
        files = [write_summary(one, tmp_path / one.run_as) for one in (report, whole)]
        assert files[0].read_text() == files[1].read_text()


@pytest.mark.parametrize("change", ["result", "page", "file", "neighbour", "config", "code"])
def test_what_has_changed_is_made_again(site, published, change, monkeypatch, tmp_path):
    _, _, plans, _ = published
    path = tmp_path / "store.sqlite"
    path.write_bytes(site.store.read_bytes())
    folder, made = tmp_path / "site", []
    with Store(path, read_only=True) as store:
        publish(plans, store, folder, jobs=1)
    from kernlearn.reports.site import writing

    assemble = writing.assemble

    def noted(plan, store):
        made.append(plan.experiment.name)
        return assemble(plan, store)

    monkeypatch.setattr(writing, "assemble", noted)
    expected = ["long"]
    if change == "result":
        connection = sqlite3.connect(path)
        connection.execute(
            "UPDATE trial SET started = 'x', metrics = '{\"accuracy\": 0.25}' "
            "WHERE experiment = 'long' AND key = (SELECT min(key) FROM trial "
            "WHERE experiment = 'long')"
        )
        connection.commit()
        connection.close()
    elif change == "page":
        (folder / "long.html").write_text("changed")
    elif change == "file":
        (folder / "files" / "long" / "table.md").unlink()
    elif change == "neighbour":
        plans = [plan for plan in plans if plan.experiment.name == "long"]
    elif change == "config":
        (plan,) = [plan for plan in plans if plan.experiment.name == "long"]
        other = tmp_path / "long.yaml"
        other.write_text(plan.experiment.path.read_text() + "\n# a remark\n")
        experiment = plan.experiment.model_copy(update={"path": other})
        from dataclasses import replace

        plans = [replace(plan, experiment=experiment), *(p for p in plans if p is not plan)]
    else:
        monkeypatch.setattr("kernlearn.reports.written._code", lambda: "other")
        expected = ["held", "long"]
    with Store(path, read_only=True) as store:
        publish(plans, store, folder, jobs=1)
        assert sorted(made) == expected
        publish(plans, store, folder, jobs=1)
    assert sorted(made) == expected
    assert (folder / "files" / "long" / "table.md").is_file()
