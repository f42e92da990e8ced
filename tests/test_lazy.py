"""Names that packages import lazily, from the stubs that type checkers and editors read."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(
    path
    for path in (ROOT / "kernlearn").rglob("__init__.py")
    if "attach(" in path.read_text(encoding="utf-8")
)


def dotted(path: Path) -> str:
    return ".".join(path.parent.relative_to(ROOT).parts)


@pytest.mark.parametrize("path", PACKAGES, ids=dotted)
def test_public_names_are_there(path):
    package = import_module(dotted(path))
    assert sorted(package.__all__) == sorted(set(package.__all__))
    assert set(package.__all__) <= set(dir(package)) | {"__version__"}
    for name in package.__all__:
        assert getattr(package, name) is not None
