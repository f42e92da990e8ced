"""``python -m benchmarks [NAME ...]``: measure, and print one table."""

import sys
from importlib import import_module

from rich.console import Console
from rich.table import Table

NAMES = (
    "features",
    "feature_maps",
    "solvers",
    "shares",
    "newton",
    "dboost",
    "greedy",
    "pairwise",
    "streams",
    "engine",
)
#: Those that take long, or miss a target so far, run only by name.
LONG = (
    "paths",
    "moments",
    "ftune",
    "voted",
    "report",
    "defaults",
    "bias",
    "peers",
    "slow",
    "load",
    "service",
)


def main() -> int:
    """Run the benchmarks named, or all; return 1 if a target was missed."""
    asked = sys.argv[1:] or NAMES
    known = (*NAMES, *LONG)
    unknown = [name for name in asked if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    table = Table("benchmark", "what", "seconds", "ratio", "target", "met")
    missed = False
    for name in asked:
        print(f"measuring {name}", file=sys.stderr)
        for row in import_module(f"benchmarks.bench_{name}").run():
            met = ("yes" if row.met else "NO") if row.target else ""
            table.add_row(
                name, row.what, f"{row.seconds:.3f}", f"{row.ratio:.3g}", row.target, met
            )
            missed |= not row.met
    Console(width=120).print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
