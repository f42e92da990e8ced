"""Fixtures shared by all tests; the rule for tests on real data."""

import os
import re
import signal
from pathlib import Path

import hypothesis
import pytest

# For type checkers alone.
collect_ignore = ["typing/uses.py", "typing/errors.py"]

# The same examples every time where others wait for the answer; new ones on a developer's machine.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


# Shells ignore SIGINT for a command in the background, and so would all processes of the tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _data_folders() -> list[Path]:
    named = os.environ.get("KERNLEARN_DATA", "").split(os.pathsep)
    return [Path(name) for name in named if name and Path(name).is_dir()]


def _mark_other_settings_as_exhaustive(items: list[pytest.Item]) -> None:
    """Of scikit-learn's estimator checks, keep those of the first setting of a class.

    ``parametrize_with_checks`` runs some 50 checks per setting.
    """
    first: dict[type, object] = {}
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if "check" in parameters and "estimator" in parameters:
            estimator = parameters["estimator"]  # its checks share it
            if first.setdefault(type(estimator), estimator) is not estimator:
                item.add_marker(pytest.mark.exhaustive)


def _leave_out_array_api(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out scikit-learn's check of arrays that no estimator here says it takes.

    It is skipped unless SciPy is told to look for these arrays.
    """
    if os.environ.get("SCIPY_ARRAY_API"):
        return
    left_out = [item for item in items if "check_array_api_input" in item.name]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if "check_array_api_input" not in item.name]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _mark_other_settings_as_exhaustive(items)
    _leave_out_array_api(config, items)
    if _data_folders():
        return
    if os.environ.get("KERNLEARN_REQUIRE_DATA"):
        raise pytest.UsageError("KERNLEARN_REQUIRE_DATA is set but KERNLEARN_DATA names no folder")
    skip = pytest.mark.skip(reason="real data needed: set KERNLEARN_DATA to its folder")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data_dirs() -> list[Path]:
    """All folders with real data sets."""
    folders = _data_folders()
    assert folders, "mark the test with pytest.mark.data"
    return folders


@pytest.fixture(scope="session")
def data_dir(data_dirs: list[Path]) -> Path:
    """The first folder with real data sets."""
    return data_dirs[0]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the run when a data test was skipped although data was promised."""
    if not os.environ.get("KERNLEARN_REQUIRE_DATA") or exitstatus:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    skipped = [r for r in reports if "data" in getattr(r, "keywords", ())]  # a module has none
    if skipped:
        reporter.write_line(f"{len(skipped)} tests on real data were skipped", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name a parameter by what it is, without what would differ between workers.

    That is an address, and the time at which bytes were packed.
    """
    if isinstance(val, bytes):
        return argname
    text = repr(val)
    return re.sub(r" at 0x[0-9a-f]+", "", text) if " at 0x" in text else None
