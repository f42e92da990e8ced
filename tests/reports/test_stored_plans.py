"""Which experiments of a store a site shows."""

from html import unescape

import pytest
from typer.testing import CliRunner

from kernlearn.cli.app import app
from kernlearn.config import load_config
from kernlearn.config.read import shipped_configs
from kernlearn.engine import make_plan, run_plan
from kernlearn.exceptions import ConfigError, ReportError
from kernlearn.reports import assemble, write_site
from kernlearn.reports.site import stored_plans
from kernlearn.store import Store
from tests.engine.stores import begun, done, trial
from tests.reports.sites import LONG, plant


def test_plans_are_those_of_the_latest_runs(site):
    with Store(site.store, read_only=True) as store:
        plans, skipped = stored_plans(store, configs=site.configs)
        assert [(p.experiment.name, p.experiment.profile) for p in plans] == [
            ("held", "full"),
            ("long", "full"),
        ]
        assert skipped == []
        plans, skipped = stored_plans(store, configs=site.configs[:1], profile="quick")
        assert [(p.experiment.profile, p.experiment.config.protocol.splits) for p in plans] == [
            ("quick", 1)
        ]
        assert skipped[0].name == "long"
        assert "--config FILE" in skipped[0].reason
        _, skipped = stored_plans(store, configs=site.configs, settings=["seed=77"])
        assert [one.name for one in skipped] == ["held", "long"]
        assert "none of its trials under profile full" in skipped[0].reason


def test_an_experiment_is_shown_as_it_was_run(small, tmp_path):
    """With the settings of then, and of several ways the one with the most trials."""

    def shown(**how):
        (plan,), skipped = stored_plans(store, configs=[small], **how)
        assert skipped == []
        experiment = plan.experiment
        return experiment.profile, experiment.settings, len(plan.trials)

    def run(*settings, profile="full"):
        plant(store, small, profile, settings)

    with Store(tmp_path / "s") as store:
        settings = ["seed=7", "splits=1"]
        run_plan(make_plan(load_config(small, settings=settings)), store)
        assert shown() == ("full", ("seed=7", "splits=1"), 8)
        assert [r.settings for r in store.runs()] == [("seed=7", "splits=1")]
        # of two with as many the later
        run("seed=8", "splits=1")
        assert shown() == ("full", ("seed=8", "splits=1"), 8)
        run()
        run("seed=9", "splits=1")
        assert shown() == ("full", (), 16)
        # of two with as many the one with fewer settings
        run("seed=10")
        assert shown() == ("full", (), 16)
        # what is asked for
        assert shown(settings=["seed=9", "splits=1"]) == ("full", ("seed=9", "splits=1"), 8)
        run(profile="quick")
        assert shown(profile="quick")[:2] == ("quick", ())
        # a setting that is no longer one is passed over
        number = store.begin_run("small", "full", 1, {}, ["methods.gone.C=1"])
        assert number == len(store.runs())
        assert shown() == ("full", (), 16)


def test_the_page_says_with_which_settings_it_was_run(small, tmp_path):
    settings = ["seed=7", "methods.RF.n_components=[5, 7]"]
    with Store(tmp_path / "s") as store:
        report = assemble(plant(store, small, settings=settings), store)
    index = write_site([report], tmp_path / "out")
    assert "full, seed=7, methods.RF.n_components=[5, 7]" in index.read_text()
    page = unescape(index.with_name("small.html").read_text())
    again = "small.yaml --profile full -o seed=7 -o 'methods.RF.n_components=[5, 7]'"
    assert f"<code>kernlearn run {again}\nkernlearn report {again}</code>" in page
    assert "datasets fetch" not in page


def test_configs_that_do_not_fit_the_store_are_refused(site, tmp_path):
    other = tmp_path / "held.yaml"
    other.write_text(LONG)
    unknown = tmp_path / "unknown.yaml"
    unknown.write_text(LONG)
    broken = tmp_path / "long.yaml"
    broken.write_text("title: 3\n")
    with Store(site.store, read_only=True) as store:
        with pytest.raises(ReportError, match="no run of unknown; there are runs of: held, long"):
            stored_plans(store, configs=[unknown])
        with pytest.raises(ReportError, match="named after its file"):
            stored_plans(store, configs=[site.configs[0], other])
        with pytest.raises(ConfigError, match=r"long\.yaml:1"):
            stored_plans(store, configs=[broken])


def test_a_shipped_config_is_found_by_the_name_of_its_runs(tmp_path):
    t = trial(experiment="quickstart")
    with begun(tmp_path / "s", experiment="quickstart") as (store, put):
        put(t, done(t, accuracy=0.5))
        plans, skipped = stored_plans(store)
        assert plans == []
        (one,) = skipped
        assert one.name == "quickstart"
        assert "none of its trials under profile full" in one.reason
        planned = make_plan(load_config("quickstart")).trials[0]
        put(planned, done(planned, accuracy=0.5))
        (plan,), skipped = stored_plans(store)
        assert (plan.experiment.name, skipped) == ("quickstart", [])
        report = assemble(plan, store)
    index = write_site([report], tmp_path / "out")
    page = index.with_name("quickstart.html").read_text()
    assert "kernlearn run quickstart --profile full" in page


def test_a_store_cannot_name_code_to_run(tmp_path):
    """Neither as an experiment that is a path to a config, nor by the settings of a run."""
    written = tmp_path / "written"
    (tmp_path / "code.py").write_text(f"open({str(written)!r}, 'w')")
    config = tmp_path / "shown.yaml"
    config.write_text(
        f"plugins: [{tmp_path / 'code.py'}]\n" + shipped_configs()["quickstart"].read_text()
    )
    setting = f"plugins=[{tmp_path / 'code.py'}]"
    t = trial(experiment="quickstart")
    with begun(tmp_path / "s", experiment="quickstart") as (store, put):
        put(t, done(t, accuracy=0.5))
        for name, settings in [
            (str(config.with_suffix("")), ()),
            ("../" * 20 + str(config.with_suffix(""))[1:], ()),
            ("quickstart", (setting,)),
            ("quickstart", (f"plugins.0={tmp_path / 'code.py'}",)),
        ]:
            store.begin_run(name, "full", 1, {}, settings)
        plans, skipped = stored_plans(store)
        assert {one.name for one in skipped} == {run.experiment for run in store.runs()}
        assert plans == []
    command = ["report", "--store", str(tmp_path / "s"), "--output", str(tmp_path / "out")]
    assert CliRunner().invoke(app, command).exit_code != 0
    assert not written.exists()
    # what a user names does run
    with Store(tmp_path / "s", read_only=True) as store:
        _, skipped = stored_plans(store, settings=[setting])
    assert any("registers nothing" in one.reason for one in skipped)
    assert written.exists()
