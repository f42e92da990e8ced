"""Names that packages import lazily, and the stubs from which type checkers and editors know them.

``python -m tests.test_lazy`` writes the stubs anew.
"""

import ast
import re
import subprocess
import sys
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


def sources(path: Path) -> dict[str, list[str]]:
    """The names of each module that a package hands on, and those of its submodules as ""."""
    tables = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Dict)]
    found: dict[str, list[str]] = {}
    for table in tables:
        for module, names in ast.literal_eval(table).items():
            found.setdefault(module, []).extend(names.split())
    return found


def stub(path: Path) -> str:
    """The text of the stub of a package."""
    package, lines, public = dotted(path), [], []
    listed = import_module(package).__all__
    for module, names in sorted(sources(path).items()):
        public += [name for name in names if name in listed]
        if not module:
            lines += [f"from {package} import {name} as {name}" for name in names]
            continue
        source = (
            f"{package.rpartition('.')[0]}{module}" if module[0] == "." else f"{package}.{module}"
        )
        lines += [f"from {source} import {name} as {name}" for name in names]
    if "__version__" in listed:
        lines.append("__version__: str")
        public.append("__version__")
    names = "".join(f'    "{name}",\n' for name in sorted(public))
    return (
        "# Written by `python -m tests.test_lazy` from the table in __init__.py.\n"
        + "\n".join(sorted(lines))
        + f"\n\n__all__ = [\n{names}]\n"
    )


@pytest.mark.parametrize("path", PACKAGES, ids=dotted)
def test_public_names_are_there_and_in_the_stub(path):
    package = import_module(dotted(path))
    assert sorted(package.__all__) == sorted(set(package.__all__))
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert path.with_suffix(".pyi").read_text("utf-8") == stub(path), "python -m tests.test_lazy"


def test_type_checkers_see_through(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "user.py"
    file.write_text(
        "import kernlearn.landmarks\n"
        "reveal_type(kernlearn.landmarks.FTuneClassifier(10).per_class)\n"
        "kernlearn.landmarks.FTuneClassifer\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(file)]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert re.search(r'Revealed type is "(builtins\.)?bool"', out), out
    assert '"FTuneClassifer"; maybe "FTuneClassifier"' in out, out


if __name__ == "__main__":
    for path in PACKAGES:
        path.with_suffix(".pyi").write_text(stub(path), "utf-8")
