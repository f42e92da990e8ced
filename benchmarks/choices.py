"""How often validation chose an end of a list of numbers: ``results/measured/choices.csv``.

    python -m benchmarks.choices

The choices are those in the summaries, the lists those of the configs, or the estimator's own
where the config gives none. An end is closed where no longer list makes sense, see
`kernlearn.reports.report.is_closed`. Where the held-out score rises towards an end that is chosen,
a longer list might be better; `rising` counts these choices. Elsewhere it would change nothing.
Lists of chapter 4 and of voted kernels are the papers'.
"""

import json
from collections import Counter
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config import load_config
from kernlearn.config.model import ExperimentConfig
from kernlearn.reports.report import is_closed

FOLDER = Path("results/measured")
#: Experiments whose lists the papers state.
STATED = ("table4_", "figure4_", "vkr_", "control_voted")


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
    rises = {
        (one["method"], one["parameter"], one["end"]): one["rising"] for one in about["open_ends"]
    }
    rows = []
    for (method, name), chosen in counts.items():
        values = lists(config, method).get(name, []) if method in config.methods else []
        numbers = sorted(v for v in values if isinstance(v, Real) and not isinstance(v, bool))
        if len(numbers) < 2 or not {*chosen} <= {*map(float, numbers)}:
            continue
        low, high = float(numbers[0]), float(numbers[-1])
        total = chosen.total()
        ends = {"lowest": ("low", low), "highest": ("high", high)}
        closed = {side: is_closed(name, *end) for side, end in ends.items()}
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
                "closed": " ".join(end for end, is_closed in closed.items() if is_closed),
                "rising_lowest": rises.get((method, name, "low")),
                "rising_highest": rises.get((method, name, "high")),
                "list": "paper" if path.stem.startswith(STATED) else "",
            }
        )
    return rows


if __name__ == "__main__":
    found = [row for path in sorted(FOLDER.glob("*.json")) for row in choices_of(path)]
    table = pd.DataFrame(found)
    table.to_csv(FOLDER / "choices.csv", index=False)
    own, sides = table[table["list"] == ""], ("lowest", "highest")
    open_ = pd.DataFrame({end: ~own["closed"].str.contains(end) for end in sides})
    shares = pd.DataFrame({end: own[f"share_{end}"] for end in sides}).where(open_, 0)
    rising = pd.DataFrame({end: own[f"rising_{end}"] for end in sides}).where(open_, 0)
    # a summary without its splits counts them only in lists where they are above a tenth
    counted = [(FOLDER / "splits" / f"{name}.csv.gz").exists() for name in own["experiment"]]
    known = rising.notna() | np.array(counted)[:, None]
    rising = rising.fillna(0)
    most = rising.where(known, shares.mul(own["choices"], axis=0))
    ends = own[shares.max(axis=1) > 0.1]
    too_short = 10 * rising.max(axis=1) > own["choices"]
    on_ends = round((shares.sum(axis=1) * own["choices"]).sum())
    print(ends.to_string(index=False))
    print(f"{on_ends} of {own['choices'].sum()} choices are an open end of their list")
    print(
        f"{len(ends)} of {len(own)} lists have an open end that is chosen above a tenth "
        f"({len(table) - len(own)} lists are the papers')"
    )
    least, up_to, n = rising.to_numpy().sum(), most.to_numpy().sum(), own["choices"].sum()
    print(
        f"in {too_short.sum()} lists the held-out score still rises there in more than a tenth of "
        f"the choices; in all for {least:.0f} to {up_to:.0f} choices, {least / n:.1%} to "
        f"{up_to / n:.1%}"
    )
