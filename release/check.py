"""``make release-check``: build what is released, and install and use it as a user would.

The source distribution and the wheel are built, checked by twine, and each installed in an empty
environment with the newest versions of all dependencies that fit. There the quick start of the
README and a small table run. The wheel is installed without extras as well: an estimator fits a
CSV file, the examples of all public names of the estimators' packages run, and the estimator fits
again without LIBLINEAR and LIBSVM, as where they cannot be compiled. Last, pip-audit looks the
dependencies up among known faults, where its service can be reached. What was built is left in
dist/.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: Rows of the data file for which the README has a config.
ROWS = "a,b,label\n" + "".join(
    f"{a},{b},{'xy'[(a > 3) ^ (b > 4)]}\n" for a, b in ((i % 7, i * i % 11) for i in range(120))
)
#: A first result with the estimators alone.
FIRST = """\
import numpy as np
from kernlearn.landmarks import BBSClassifier
from sklearn.model_selection import cross_val_score

rows = np.genfromtxt("mine.csv", delimiter=",", skip_header=1, dtype=None, encoding="utf-8")
X, y = np.column_stack([rows["f0"], rows["f1"]]).astype(float), rows["f2"]
scores = cross_val_score(BBSClassifier(20, random_state=0), X, y)
assert len(scores) == 5 and scores.mean() > 0.7, scores
print(f"accuracy {scores.mean():.2f}")
"""
#: The same with LIBLINEAR.
LINEAR = FIRST.replace("landmarks import BBSClassifier", "linear import LinearSVM")
LINEAR = LINEAR.replace("BBSClassifier(20, random_state=0)", "LinearSVM()").replace("0.7", "0.6")
#: The examples of the packages that need no extra, and of which names they need one all the same,
#: or pandas, which a user of data frames has.
EXAMPLES = """\
import doctest
import inspect
from importlib import import_module

finder = doctest.DocTestFinder(recurse=True)
ran, lines, needing = 0, 0, []
packages = "features kernels landmarks linear onepass pairwise svm theory voted"
for package in packages.split():
    module = import_module(f"kernlearn.{package}")
    for name in module.__all__:
        value = getattr(module, name)
        owner = value if inspect.ismodule(value) else False
        for test in finder.find(value, f"{package}.{name}", module=owner):
            runner = doctest.DocTestRunner(
                verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            )
            report = []
            runner.run(test, out=report.append)
            text = "".join(report)
            missing = "MissingExtraError" in text or "No module named 'pandas'" in text
            if runner.failures and not missing:
                raise SystemExit(text)
            if runner.failures:
                needing.append(test.name)
            elif test.examples:
                ran, lines = ran + 1, lines + len(test.examples)
print(f"{ran} examples of {lines} lines passed, need an extra: {', '.join(needing) or 'none'}")
"""
#: What a user tries first, besides the examples of the README.
COMMANDS = (
    "kernlearn --version",
    "kernlearn run mine.yaml -o splits=2",
    "kernlearn compare mine.yaml -o splits=2",
    "kernlearn plan mine.yaml -o splits=2",
    "kernlearn export --output numbers.csv",
    "kernlearn run demo_voted -o splits=1",
    "kernlearn plan quickstart",
    "kernlearn datasets info iris",
)


class Failed(Exception):
    """A step that did not end as it should."""


def run(words: list[str], folder: Path) -> str:
    """Run a program in a folder, away from this checkout, and return what it wrote."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KERNLEARN_", "PYTHON"))}
    ended = subprocess.run(
        words,
        cwd=folder,
        env={**kept, "KERNLEARN_CACHE": str(folder / "cache"), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode or "Traceback" in ended.stdout:
        said = ended.stdout[-3000:]
        raise Failed(f"{' '.join(words)}: exit code {ended.returncode}\n{said}")
    return ended.stdout


def megabytes(place: Path) -> float:
    """Return the size of a file, or of all files in a folder."""
    files = [place] if place.is_file() else place.rglob("*")
    return sum(f.lstat().st_size for f in files if not f.is_dir() or f.is_symlink()) / 1e6


def build(folder: Path) -> list[Path]:
    """Build the source distribution, and the wheel out of it; check both."""
    run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], folder)
    built = sorted(folder.glob("kernlearn-*"), reverse=True)
    if [path.suffix for path in built] != [".gz", ".whl"]:
        raise Failed(f"built {', '.join(path.name for path in built) or 'nothing'}")
    print(run([sys.executable, "-m", "twine", "check", "--strict", *map(str, built)], folder))
    return built


def quick_start(folder: Path) -> None:
    """Write the data and the config of the README's first example."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    config = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    if config is None:
        raise Failed("README.md: no config")
    (folder / "mine.yaml").write_text(config[1], encoding="utf-8")
    (folder / "mine.csv").write_text(ROWS, encoding="utf-8")
    shutil.copy(ROOT / "README.md", folder)


def installed(what: str, distribution: Path, folder: Path) -> Path:
    """Install a distribution in an empty environment; return the folder of its programs."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    empty = megabytes(environment)
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    start = time.perf_counter()
    quiet = ["--quiet", "--disable-pip-version-check"]
    run([str(binaries / "python"), "-m", "pip", "install", *quiet, what], folder)
    print(
        f"{what.removeprefix(str(distribution.parent) + os.sep)}: "
        f"{megabytes(distribution):.1f} MB, installed in {time.perf_counter() - start:.0f} s, "
        f"{megabytes(environment) - empty:.0f} MB with its dependencies",
        flush=True,
    )
    run([str(binaries / "python"), "-m", "pip", "check"], folder)
    return binaries


def timed(name: str, words: list[str], place: Path) -> str:
    """Run a program and say how long it took."""
    start = time.perf_counter()
    said = run(words, place)
    print(f"  {name}: {time.perf_counter() - start:.1f} s", flush=True)
    return said


def try_out(distribution: Path, folder: Path) -> Path:
    """Install a distribution in an empty environment and use it; return its packages' folder."""
    place = folder / "user"
    place.mkdir(parents=True)
    binaries = installed(f"{distribution}[run]", distribution, folder)
    python = str(binaries / "python")
    quick_start(place)
    words = [python, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "README.md"]
    timed("the examples of the README", words, place)
    for line in COMMANDS:
        name, *words = line.split()
        timed(line, [str(binaries / name), *words], place)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(run([python, "-c", code], place).strip())


def try_out_light(wheel: Path, folder: Path) -> None:
    """Install the wheel without extras, and learn from a CSV file."""
    folder.mkdir()
    binaries = installed(str(wheel), wheel, folder)
    (folder / "mine.csv").write_text(ROWS, encoding="utf-8")
    python = str(binaries / "python")
    timed("a first result on a CSV file", [python, "-c", FIRST], folder)
    timed("with LIBLINEAR", [python, "-c", LINEAR], folder)
    said = timed("the examples", [python, "-W", "ignore", "-c", EXAMPLES], folder)
    print(f"  {said.strip()}", flush=True)
    ended = subprocess.run(
        [str(binaries / "kernlearn"), "list"], capture_output=True, text=True, check=False
    )
    if ended.returncode != 2 or "pip install 'kernlearn[run]'" not in ended.stderr:
        raise Failed(f"kernlearn list without the extra 'run': {ended.returncode} {ended.stderr}")
    compiled = ["liblinear-official", "libsvm-official"]
    run([python, "-m", "pip", "uninstall", "--quiet", "--yes", *compiled], folder)
    timed("without LIBLINEAR and LIBSVM", [python, "-c", FIRST], folder)
    ended = subprocess.run([python, "-c", LINEAR], cwd=folder, capture_output=True, text=True)
    if "pip install liblinear-official" not in ended.stderr:
        raise Failed(f"without LIBLINEAR the error does not say how to install it: {ended.stderr}")


def audit(packages: Path, folder: Path) -> bool:
    """Say which installed packages have known faults; whether none has, as far as is known."""
    words = [sys.executable, "-m", "pip_audit", "--path", str(packages), "--format", "json"]
    ended = subprocess.run(
        [*words, "--progress-spinner", "off", "--timeout", "20"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        found = json.loads(ended.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError, TypeError):
        reason = (ended.stderr.strip().splitlines() or ["it ended without an answer"])[-1]
        print(f"known faults: not looked up, the service was not reached: {reason[:300]}")
        return True
    lines, fine = told(found)
    print("\n".join(lines))
    return fine


def told(found: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return what pip-audit found in lines, and whether no package has a known fault."""
    known = [one for one in found if "skip_reason" not in one]
    others = [one["name"] for one in found if "skip_reason" in one]
    if not known:
        return ["known faults: not looked up, the service knows none of the packages"], True
    faulty = [one for one in known if one["vulns"]]
    lines = [f"known faults: {len(faulty)} of {len(known)} packages that the service knows"]
    for one in faulty:
        for fault in one["vulns"]:
            fixed = ", ".join(fault["fix_versions"]) or "no version"
            lines.append(f"  {one['name']} {one['version']}: {fault['id']}, mended in {fixed}")
    if others:
        lines.append(f"  not looked up: {', '.join(others)}")
    return lines, not faulty


def main() -> int:
    """Run all steps; return 1 if one fails, or if a dependency has a known fault."""
    with tempfile.TemporaryDirectory(prefix="kernlearn-release-") as temporary:
        folder = Path(temporary)
        try:
            wheel_and_source = build(folder)[::-1]
            try_out_light(wheel_and_source[0], folder / "light")
            packages = [try_out(one, folder / one.suffix[1:]) for one in wheel_and_source]
        except Failed as failure:
            print(f"release-check: {failure}", file=sys.stderr)
            return 1
        (ROOT / "dist").mkdir(exist_ok=True)
        for one in wheel_and_source:
            shutil.copy(one, ROOT / "dist")
        return 0 if audit(packages[0], folder) else 1


if __name__ == "__main__":
    sys.exit(main())
