"""``python -m benchmarks [features|solvers|shares ...]``: measure, and print one table."""

import sys
from importlib import import_module

from rich.console import Console
from rich.table import Table

NAMES = ("features", "solvers", "shares")


def main() -> int:
    """Run the benchmarks named, or all; return 1 if a target was missed."""
    asked = sys.argv[1:] or NAMES
    unknown = [name for name in asked if name not in NAMES]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    console = Console()
    rows = [
        row for name in asked for row in import_module(f"benchmarks.bench_{name}").run(console)
    ]
    table = Table("benchmark", "what", "seconds", "ratio", "target", "met")
    for row in rows:
        met = ("yes" if row["met"] else "NO") if row["target"] else ""
        shown = (f"{row['seconds']:.3f}", f"{row['ratio']:.3g}", str(row["target"] or ""), met)
        table.add_row(row["benchmark"], row["what"], *shown)
    console.print(table)
    return int(any(row["target"] and not row["met"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
