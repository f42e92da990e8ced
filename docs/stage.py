"""The sources of the documentation site in one folder: ``python docs/stage.py FOLDER``.

The Markdown pages of docs/ are written for a reader of the repository. Here they are copied, with
the links that lead out of docs/ made downloads, beside the pages that are generated, one for each
public name.
"""

import inspect
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import kernlearn
from kernlearn.reports.page import grouped, write_site
from kernlearn.reports.report import read_reports
from kernlearn.reports.totals import outcome, totals

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))
import reference_pages  # noqa: E402

# Pages of the repository's root, and what they are called on the site.
ROOT_PAGES = {
    "README.md": "readme",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
}
_OFFERED = {*kernlearn.__all__} - {"__version__", "plugins"}
_FILLED = [
    name for name in _OFFERED if getattr(import_module(f"kernlearn.{name}"), "__all__", True)
]
PACKAGES = [*sorted(_FILLED), "plugins"]
#: What the page of the API names first.
COMMON = {
    "landmarks": [
        "BBSClassifier",
        "FTuneClassifier",
        "SparseRegLand",
        "ORLand",
        "NystroemEmbedding",
    ],
    "kernels": ["CallableKernel", "ColumnSimilarity", "GaussianKernel"],
    "features": ["RandomMaclaurin", "MaclaurinSVM"],
    "svm": ["KernelSVM"],
    "onepass": ["OnePassRidge", "OnePassRidgeClassifier"],
    "pairwise": ["OLP", "AllPairsMoments"],
    "voted": ["VotedKernelClassifier"],
}
#: What belongs to experiments comes last.
RUNNER = ("config", "datasets", "engine", "plugins", "reports", "store")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
#: Pictures in HTML.
SOURCE = re.compile(r'(src|srcset)="([^":]+)"')


def public_names(package: str) -> list[str]:
    """Return what a package offers, without its modules; of a module what is defined there."""
    module = import_module(f"kernlearn.{package}")
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in vars(module) if n[0] != "_" and _is_of(module, getattr(module, n))]
    return [n for n in sorted(names) if not inspect.ismodule(getattr(module, n))]


def _is_of(module: Any, value: Any) -> bool:
    is_code = inspect.isclass(value) or inspect.isfunction(value)
    return is_code and value.__module__ == module.__name__


def public(package: str, name: str) -> Any:
    """Return what a public name means."""
    return getattr(import_module(f"kernlearn.{package}"), name)


def pages() -> dict[str, Path]:
    """Return the Markdown page of each name on the site."""
    found = {page.stem: page for page in sorted(DOCS.glob("*.md"))}
    return found | {name: ROOT / file for file, name in ROOT_PAGES.items()}


def relinked(text: str, source: Path, target: Path) -> str:
    """Return the text with links to the repository's files as links of the site.

    A file that is no page becomes a download, a folder its name.
    """
    names = {path.resolve(): name for name, path in pages().items()}

    def copied(file: Path, folder: Path = target) -> str:
        copy = Path("files", file.relative_to(ROOT))
        (folder / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / copy)
        return copy.as_posix()

    def replace(match: re.Match[str]) -> str:
        mark, shown, link = match.groups()
        path, hash_, anchor = link.partition("#")
        if not path or ":" in path:
            return match[0]
        file = (source.parent / unquote(path)).resolve()
        if file in names:
            return f"{mark}[{shown}]({names[file]}.md{hash_}{anchor})"
        if file == DOCS / "gallery":
            return f"[{shown}](auto_examples/index.rst)"
        if not file.is_file():
            return shown
        return f"{mark}[{shown}]({copied(file)})"

    def picture(match: re.Match[str]) -> str:
        file = (source.parent / match[2]).resolve()
        # Sphinx reads no HTML, but copies the folder extra
        return f'{match[1]}="{copied(file, target / "extra")}"' if file.is_file() else match[0]

    text = SOURCE.sub(picture, text)
    # a doctest ends with a blank line, which a page need not show
    return LINK.sub(replace, re.sub(r"\n\n```$", "\n```", text, flags=re.MULTILINE))


def methods(cls: type) -> list[str]:
    """Return the documented public methods of a class that kernlearn itself defines."""
    found = []
    for attribute in inspect.classify_class_attrs(cls):
        ours = attribute.defining_class.__module__.startswith("kernlearn")
        method = attribute.kind in ("method", "class method", "static method", "property")
        # set_score_request and the like, which scikit-learn writes
        routed = re.fullmatch(r"set_\w+_request", attribute.name)
        written = inspect.getdoc(attribute.object)
        if ours and method and written and not routed and not attribute.name.startswith("_"):
            found.append(attribute.name)
    return found


def name_page(package: str, name: str) -> str:
    """Return the page of a public name."""
    value = public(package, name)
    full = f"kernlearn.{package}.{name}"
    lines = [name, "=" * len(name), "", f".. currentmodule:: kernlearn.{package}", ""]
    if inspect.isclass(value):
        lines += [f".. autoclass:: {full}", ""]
        for method in methods(value):
            kind = "method" if callable(getattr(value, method)) else "attribute"
            lines += [f".. auto{kind}:: {full}.{method}", ""]
    else:
        kind = "function" if callable(value) else "data"
        lines += [f".. auto{kind}:: {full}", ""]
    return "\n".join(lines)


def package_page(package: str) -> str:
    """Return the page of a package: its docstring and a table of its names."""
    module = import_module(f"kernlearn.{package}")
    title = f"kernlearn.{package}"
    names = public_names(package)
    lines = [title, "=" * len(title), "", f".. module:: {title}", ""]
    lines += [inspect.getdoc(module) or "", "", ".. autosummary::", ""]
    lines += [f"   {name}" for name in names]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {package}/{name}" for name in names]
    return "\n".join(lines) + "\n"


def _first_sentence(value: Any) -> str:
    text = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return re.sub(r" \[\d\]_", "", " ".join(text.split()))


def write_api(target: Path) -> None:
    """Write a page for each package and one for each public name."""
    for package in PACKAGES:
        folder = target / "api" / package
        folder.mkdir(parents=True, exist_ok=True)
        for name in public_names(package):
            (folder / f"{name}.rst").write_text(name_page(package, name), encoding="utf-8")
        (target / "api" / f"{package}.rst").write_text(package_page(package), encoding="utf-8")
    lines = ["API", "===", "", "Most used", "---------", ""]
    for package, names in COMMON.items():
        for name in names:
            about = _first_sentence(public(package, name))
            lines += [f":class:`~kernlearn.{package}.{name}`", f"   {about}", ""]
    lines += ["Every public name, by package or module", "-" * 40, ""]
    listed = sorted(PACKAGES, key=lambda name: name in RUNNER)
    for package in listed:
        about = _first_sentence(import_module(f"kernlearn.{package}"))
        lines += [f":doc:`kernlearn.{package} <{package}>`", f"   {about}", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {package}" for package in listed)]
    (target / "api" / "index.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_reference(target: Path) -> None:
    """Write the pages that are made of the application itself, beside those of the API."""
    folder = target / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in reference_pages.PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")
    about = "What there is, made of the code: it cannot be out of date."
    lines = ["Reference", "=========", "", about, ""]
    lines += [":doc:`API <../api/index>`", "   Every class and function, with an example.", ""]
    for name, page in reference_pages.PAGES.items():
        about = (inspect.getdoc(page) or "").removeprefix("Return the page of ")
        lines += [f":doc:`{name}`", f"   {about[0].upper()}{about[1:]}", ""]
    lines += [".. toctree::", "   :hidden:", ""]
    lines += ["   ../api/index", *(f"   {name}" for name in reference_pages.PAGES)]
    (folder / "index.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_experiments(target: Path) -> None:
    """Write the site of all experiments, which Sphinx copies as it is, and list them on a page."""
    measured = ROOT / "results" / "measured"
    reports, skipped = read_reports(measured)
    write_site(reports, target.resolve() / "extra" / "experiments", skipped=skipped)
    lines = (target / "experiments.rst").read_text(encoding="utf-8").splitlines()
    for name, of_group in grouped(reports).items():
        title = name or "Controls, further methods, and what one would take today"
        sentence = totals(of_group).in_short() if name else ""
        lines += ["", title, "-" * len(title), "", sentence, ""]
        for report in of_group:
            one, came_out = report.experiment, outcome(report)
            lines += [f"`{one.name} <experiments/{one.name}.html>`__", f"   {one.config.title}."]
            lines += [f"   {came_out}".replace("|", r"\|")] if came_out else []
    (target / "experiments.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def stage(target: Path) -> None:
    """Write the sources of the site anew."""
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for name, page in pages().items():
        text = relinked(page.read_text(encoding="utf-8"), page, target)
        (target / f"{name}.md").write_text(text, encoding="utf-8")
    for page in DOCS.glob("*.rst"):
        shutil.copy(page, target)
    shutil.copytree(DOCS / "gallery", target / "gallery_sources")
    shutil.copytree(DOCS / "static", target / "static")
    write_api(target)
    write_reference(target)
    write_experiments(target)


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
