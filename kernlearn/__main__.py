"""The ``kernlearn`` command, also as ``python -m kernlearn``."""

import gc
import sys
from importlib.util import find_spec

from kernlearn.lazy import EXTRAS, missing_text


def main() -> None:
    """Run the command, or say in one line that it needs the extra `run`."""
    needed = [module for module, extra in EXTRAS.items() if extra == "run"]
    missing = [module for module in needed if find_spec(module) is None]
    if missing:
        print(f"kernlearn: {missing_text('the command', missing[0])}", file=sys.stderr)
        raise SystemExit(2)
    # plans, rows and imports are many objects that stay: looking for garbage among them takes a
    # fifth of the time of `kernlearn plan configs/*.yaml`
    gc.set_threshold(200_000, 20, 20)
    from kernlearn.cli.app import main as command

    command()


if __name__ == "__main__":
    main()
