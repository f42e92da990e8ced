"""``make release-check``: build what is released, and install and use it as a user would.

The source distribution and the wheel are built, checked by twine, and each installed in an empty
environment with the newest versions of all dependencies that fit. There the quick start of the
README and a small table run. Last, pip-audit looks the dependencies up among known faults, where
its service can be reached.
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
ROWS = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11},{'xy'[i % 3 == 0]}\n" for i in range(120))
#: What a user tries first, besides the examples of the README.
COMMANDS = (
    "kernlearn --version",
    "kernlearn run mine.yaml --splits 2",
    "kernlearn runs",
    "kernlearn show mine.yaml --splits 2",
    "kernlearn export --output numbers.csv",
    "kernlearn run demo_voted --splits 1",
    "kernlearn plan quickstart",
    "kernlearn datasets info iris",
)


class Failed(Exception):
    """A step that did not end as it should."""


def run(words: list[str], folder: Path) -> str:
    """Run a program in a folder, away from this checkout, and return what it wrote."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KERNLEARN_", "PYTHON"))}
    ended = subprocess.run(
        words, cwd=folder, env={**kept, "KERNLEARN_CACHE": str(folder / "cache"), "NO_COLOR": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
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


def try_out(distribution: Path, folder: Path) -> Path:
    """Install a distribution in an empty environment and use it; return its packages' folder."""
    environment, place = folder / "environment", folder / "user"
    place.mkdir(parents=True)
    venv.create(environment, with_pip=True)
    empty = megabytes(environment)
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    python = str(binaries / "python")
    start = time.perf_counter()
    quiet = ["--quiet", "--disable-pip-version-check"]
    run([python, "-m", "pip", "install", *quiet, f"{distribution}[run]"], folder)
    seconds = time.perf_counter() - start
    print(
        f"{distribution.name}: {megabytes(distribution):.1f} MB, installed in {seconds:.0f} s, "
        f"{megabytes(environment) - empty:.0f} MB with its dependencies",
        flush=True,
    )
    run([python, "-m", "pip", "check"], folder)
    quick_start(place)
    start = time.perf_counter()
    run([python, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "README.md"], place)
    print(f"  the examples of the README: {time.perf_counter() - start:.0f} s", flush=True)
    for line in COMMANDS:
        name, *words = line.split()
        start = time.perf_counter()
        run([str(binaries / name), *words], place)
        print(f"  {line}: {time.perf_counter() - start:.0f} s", flush=True)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(run([python, "-c", code], place).strip())


def audit(packages: Path, folder: Path) -> bool:
    """Say which installed packages have known faults; whether none has, as far as is known."""
    words = [sys.executable, "-m", "pip_audit", "--path", str(packages), "--format", "json"]
    ended = subprocess.run(
        [*words, "--progress-spinner", "off", "--timeout", "20"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
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
            packages = [try_out(one, folder / one.suffix[1:]) for one in wheel_and_source]
        except Failed as failure:
            print(f"release-check: {failure}", file=sys.stderr)
            return 1
        return 0 if audit(packages[0], folder) else 1


if __name__ == "__main__":
    sys.exit(main())
