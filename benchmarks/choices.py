"""How often validation chose an end of a list of numbers: ``results/measured/choices.csv``.

    python -m benchmarks.choices

An end counts as open if a longer list could be better there; 0 and 1 close a list that cannot go
beyond them. The choices are those in the summaries, the lists those of the configs, or the
estimator's own where the config gives none.
"""

import json
from collections import Counter
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.config import load_config
from kernlearn.config.model import ExperimentConfig

FOLDER = Path("results/measured")


def lists(config: ExperimentConfig, method: str) -> dict[str, list[Any]]:
    """Return the values that a method chooses among, by parameter."""
    entry = config.methods[method]
    known: dict[str, list[Any]] = {}
    for label, component in entry.components(config.scope):
        prefix = f"{label}__" if label else ""
        known |= {f"{prefix}{k}": [v] for k, v in component.parameters.items()}
    known |= {name: value.candidates for name, value in entry.parameters.items()}
    unpacked = {}
    for name, values in known.items():
        inner = values[0] if len(values) == 1 else values
        unpacked[name.rpartition("__")[2] if inner is not values else name] = inner
    return {k: v for k, v in unpacked.items() if isinstance(v, (list, tuple)) and len(v) > 1}


def choices_of(path: Path) -> list[dict[str, Any]]:
    """Return a row for each method and parameter of a summary that lists numbers."""
    about = json.loads(path.read_text())
    config = load_config(path.stem).config
    counts: dict[tuple[str, str], Counter[float]] = {}
    for cell in about["selected"]:
        for text, n in cell["selected"].items():
            for name, value in json.loads(text).items():
                if isinstance(value, Real) and not isinstance(value, bool):
                    counts.setdefault((cell["method"], name), Counter())[float(value)] += n
    rows = []
    for (method, name), chosen in counts.items():
        values = lists(config, method).get(name, []) if method in config.methods else []
        numbers = sorted(v for v in values if isinstance(v, Real) and not isinstance(v, bool))
        if len(numbers) < 2 or not {*chosen} <= {*map(float, numbers)}:
            continue
        low, high = float(numbers[0]), float(numbers[-1])
        total = chosen.total()
        rows.append(
            {
                "experiment": path.stem,
                "method": method,
                "parameter": name,
                "lowest": low,
                "highest": high,
                "values": len(numbers),
                "choices": total,
                "share_lowest": round(chosen[low] / total, 3),
                "share_highest": round(chosen[high] / total, 3),
            }
        )
    return rows


if __name__ == "__main__":
    found = [row for path in sorted(FOLDER.glob("*.json")) for row in choices_of(path)]
    table = pd.DataFrame(found)
    table.to_csv(FOLDER / "choices.csv", index=False)
    shares = table[["share_lowest", "share_highest"]].max(axis=1)
    print(table[shares > 0.1].to_string(index=False))
    print(f"{(shares > 0.1).sum()} of {len(table)} lists have an end that is chosen above a tenth")
