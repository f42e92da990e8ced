"""Names that packages import lazily: stubs for type checkers and editors, and names that moved.

``python -m tests.test_lazy`` writes the stubs anew.
"""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import jedi
import pytest

import kernlearn.kernels
from kernlearn.lazy import attach

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
        lines.append("from kernlearn.version import __version__ as __version__")
        public.append("__version__")
    names = "".join(f'    "{name}",\n' for name in sorted(public))
    return (
        "# Written by `python -m tests.test_lazy` from the table in __init__.py.\n"
        + "\n".join(sorted(lines))
        + f"\n\n__all__ = [\n{names}]\n"
    )


@pytest.mark.parametrize("path", PACKAGES, ids=dotted)
def test_stubs_are_current(path):
    assert path.with_suffix(".pyi").read_text("utf-8") == stub(path), "python -m tests.test_lazy"


@pytest.mark.parametrize("path", PACKAGES, ids=dotted)
def test_public_names_are_there(path):
    package = import_module(dotted(path))
    assert sorted(package.__all__) == sorted(set(package.__all__))
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_attach_finds_submodules():
    find, listed, names = attach("kernlearn", {"": "kernels"})
    assert find("kernels") is import_module("kernlearn.kernels")
    assert listed() == names == ["kernels"]


def test_type_checkers_see_through(tmp_path):
    pytest.importorskip("mypy")
    code = """
        import kernlearn.landmarks
        reveal_type(kernlearn.landmarks.FTuneClassifier)
        reveal_type(kernlearn.landmarks.FTuneClassifier(10).per_class)
        kernlearn.landmarks.FTuneClassifer
    """
    file = tmp_path / "user.py"
    file.write_text(textwrap.dedent(code), "utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(file)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    returned = r'Revealed type is "def \(.*\) -> kernlearn.landmarks.classifiers.FTune'
    assert re.search(returned, said), said
    assert re.search(r'Revealed type is "(builtins\.)?bool"', said), said
    assert '"FTuneClassifer"; maybe "FTuneClassifier"' in said, said


@pytest.mark.parametrize("path", PACKAGES, ids=dotted)
def test_editors_complete_the_names(path):
    line = f"from {dotted(path)} import "
    found = {name.name for name in jedi.Script(line).complete(1, len(line))}
    assert set(import_module(dotted(path)).__all__) <= found


@pytest.mark.parametrize("name", sorted(kernlearn.kernels.__all__))
def test_editors_know_the_parameters(name):
    code = f"from kernlearn.kernels import {name}\n{name}("
    there = inspect.signature(getattr(kernlearn.kernels, name)).parameters
    (signature,) = jedi.Script(code).get_signatures()
    found = [parameter.name for parameter in signature.params]
    assert [name for name in found if name != "_"] == list(there)


if __name__ == "__main__":
    for path in PACKAGES:
        path.with_suffix(".pyi").write_text(stub(path), "utf-8")
