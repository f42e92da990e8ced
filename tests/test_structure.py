"""The rules of docs/architecture.md on modules and imports, checked against the code."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from kernlearn.lazy import stub_names

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kernlearn"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def lazy_names(package: str) -> dict[str, str]:
    """The module behind each name that a package hands on."""
    if package not in MODULES or MODULES[package].name != "__init__.py":
        return {}
    sources = stub_names(stub) if (stub := MODULES[package].with_suffix(".pyi")).exists() else {}
    return {n: f"{package}.{n}" if source == package else source for n, source in sources.items()}


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of kernlearn that a module imports, within functions and for types too."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            for alias in node.names:
                full = f"{source}.{alias.name}"
                found.add(full if full in MODULES else lazy_names(source).get(alias.name, source))
    return frozenset((found & MODULES.keys()) - {module})


def package_of(module: str) -> str:
    """The package of a module; a module beside the packages is on its own."""
    return module.split(".")[1] if "." in module else ""


def allowed() -> dict[str, set[str]]:
    """The table of docs/architecture.md: what each package may import."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    return {package: set(re.findall(r"`(\w+)`", others)) for package, others in rows}


def test_no_module_imports_itself_through_others():
    try:
        TopologicalSorter({module: imports(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_packages_import_what_the_page_says():
    permitted = allowed()
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= permitted.keys()
    wrong = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module)
        if (package := package_of(module)) in packages
        and (theirs := package_of(other)) in packages - {package}
        and theirs not in permitted[package]
    ]
    assert wrong == []


def test_modules_beside_the_packages_import_no_package():
    top = [
        m for m in MODULES if m.count(".") == 1 and package_of(m) not in {*allowed(), "__main__"}
    ]
    wrong = {m: other for m in top for other in imports(m) if package_of(other) in allowed()}
    assert wrong == {}


def test_modules_do_not_import_private_names_of_others():
    wrong = [
        f"{module}: {alias.name}"
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kernlearn")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert wrong == []
