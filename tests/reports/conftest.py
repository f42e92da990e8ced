from dataclasses import dataclass
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.reports import Report, assemble, write_report, write_site
from kernlearn.reports.site import Skipped, stored_plans
from kernlearn.store import Store
from tests.engine.conftest import SMALL, small
from tests.reports.browsing import browser, phone, reader, shared_reader
from tests.reports.sites import make_store

__all__ = ["browser", "phone", "reader", "shared_reader", "small"]


@pytest.fixture(scope="session")
def plan(tmp_path_factory):
    """The plan of a small experiment; nobody changes it."""
    path = tmp_path_factory.mktemp("plan") / "small.yaml"
    path.write_text(SMALL)
    return make_plan(load_config(path))


@pytest.fixture(scope="session")
def config(plan):
    return plan.experiment.config


@dataclass(frozen=True)
class Site:
    """A written site and what it was made from."""

    index: Path
    store: Path
    configs: list[Path]
    reports: dict[str, Report]

    def page(self, name: str) -> Path:
        return self.index.with_name(f"{name}.html")

    @property
    def pages(self) -> list[Path]:
        return [self.index, *(self.page(name) for name in self.reports)]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A site of a small experiment that was run, and of a long table."""
    folder = tmp_path_factory.mktemp("site")
    path = make_store(folder)
    configs = [folder / "held.yaml", folder / "long.yaml"]
    with Store(path, read_only=True) as store:
        plans, skipped = stored_plans(store, configs=configs)
        assert not skipped
        reports = {plan.experiment.name: assemble(plan, store) for plan in plans}
    gone = [Skipped("gone", "no config <of> that name")]
    index = write_site(list(reports.values()), folder / "a site", skipped=gone)
    return Site(index, path, configs, reports)


@pytest.fixture(scope="session")
def page(site, tmp_path_factory):
    """The report of the experiment that was run, in a folder of its own."""
    return write_report(site.reports["held"], tmp_path_factory.mktemp("page") / "one")
