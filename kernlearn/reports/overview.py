"""A map of all reported numbers, and of all differences that the papers' tables show."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.reports import conclusions, verdicts
from kernlearn.reports.addresses import joined, place_of
from kernlearn.reports.charts import Chart
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.summary import judged
from kernlearn.reports.tables import SYMBOLS
from kernlearn.reports.totals import SCORES, Measured, kind_of
from kernlearn.reports.vega import data_of, style, whole

MAP_TITLE = "All reported numbers, and all differences between methods that the tables show"
_COLUMNS = 48
_TILE = 13
NUMBERS, DIFFERENCES = "reported numbers", "differences between methods"
#: Outcome to symbol and colour, so that colour is never the only sign.
LOOKS = {
    verdicts.MATCH: (SYMBOLS[verdicts.MATCH], "#2e7d4f"),
    verdicts.WITHIN_SPREAD: (SYMBOLS[verdicts.WITHIN_SPREAD], "#6aa781"),
    verdicts.BETTER: (SYMBOLS[verdicts.BETTER], "#3b7bbf"),
    verdicts.BASELINE_BETTER: (SYMBOLS[verdicts.BASELINE_BETTER], "#d1861f"),
    verdicts.WORSE: (SYMBOLS[verdicts.WORSE], "#c0392b"),
    verdicts.NOT_COMPARABLE: (SYMBOLS[verdicts.NOT_COMPARABLE], "#8a8a8a"),
    verdicts.NOT_RUN: (SYMBOLS[verdicts.NOT_RUN], "#c4c4c4"),
    conclusions.SHOWN: ("✓", "#2e7d4f"),
    conclusions.NOT_SHOWN: ("○", "#b9a63b"),
    conclusions.REVERSED: ("✗", "#c0392b"),
    conclusions.NOT_MEASURED: ("–", "#c4c4c4"),
}


def map_rows(measured: Iterable[Measured]) -> pd.DataFrame:
    """Return a row per tile: ``table``, ``what``, ``outcome``, ``name``, ``address``, its place.

    Scores and differences of the experiments that have reported numbers, without variants, by
    name; the tiles of a table are sorted by outcome.
    """
    tiles: list[dict[str, Any]] = []
    for one in measured:
        config = one.experiment.config
        if config.variant_of is not None:
            continue
        reported = one.summary[one.summary["reported_mean"].notna()]
        reported = reported.assign(verdict=judged(reported, config))
        for row in reported.to_dict("records"):
            if row["verdict"] and kind_of(row["metric"], config) == SCORES:
                names = *place_of(row), row["metric"]
                tiles.append(_tile(one, NUMBERS, row["verdict"], " ".join(names), joined(*names)))
        for c in one.conclusions:
            name = f"{c.cell}: {c.ahead} ahead of {c.behind}"
            tiles.append(_tile(one, DIFFERENCES, c.outcome, name, c.address))
    frame = pd.DataFrame(tiles, columns=["table", "what", "outcome", "name", "address"])
    order = {outcome: i for i, outcome in enumerate(LOOKS)}
    frame["rank"] = frame["outcome"].map(order)
    frame = frame.sort_values(["table", "rank"], kind="stable").drop(columns="rank")
    place = frame.groupby(["table", "what"], sort=False).cumcount()
    return frame.assign(column=place % _COLUMNS, line=place // _COLUMNS)


def _tile(one: Measured, what: str, outcome: str, name: str, address: str) -> dict[str, Any]:
    labels = {"table": one.experiment.name, "what": what, "outcome": outcome}
    return {**labels, "name": name, "address": address}


def write_map(measured: Iterable[Measured], folder: Path) -> Chart | None:
    """Draw the map into a folder, as ``map.svg`` and ``map.pdf``; None if there is nothing."""
    chart = map_chart(measured)
    if chart is not None:
        folder.mkdir(parents=True, exist_ok=True)
        save_pictures(chart.spec, folder / chart.stem)
    return chart


def map_chart(measured: Iterable[Measured]) -> Chart | None:
    """Draw the map: a row of tiles for each table, numbers on the left, differences on the right.

    Returns
    -------
    Chart or None
        None if there are no reported numbers.
    """
    rows = map_rows(measured)
    if rows.empty:
        return None
    present = [outcome for outcome in LOOKS if outcome in set(rows["outcome"])]
    rows["symbol"] = rows["outcome"].map({name: symbol for name, (symbol, _) in LOOKS.items()})
    tables = list(dict.fromkeys(rows["table"]))
    # every table is as high as its longest list of tiles
    heights = rows.groupby("table")["line"].max() + 1
    first = heights.reindex(tables).cumsum().shift(fill_value=0) + pd.Series(
        range(len(tables)), index=tables
    )
    rows["y"] = rows["line"] + rows["table"].map(first)
    color = {
        "field": "outcome",
        "type": "nominal",
        "scale": {"domain": present, "range": [LOOKS[name][1] for name in present]},
        "legend": {"title": None, "orient": "bottom", "columns": 4, "symbolType": "square"},
    }
    n_lines = int(heights.sum()) + len(tables) - 1
    labels = pd.DataFrame({"table": tables, "y": [first[t] for t in tables]})
    x, y = _place("column", _COLUMNS), _place("y", n_lines)
    tooltip = [{"field": name, "type": "nominal"} for name in ("table", "name", "outcome")]
    layers = [
        {
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1},
            "encoding": {"x": x, "y": y, "color": color, "tooltip": tooltip},
        },
        {
            "mark": {"type": "text", "color": "white", "fontSize": 9, "baseline": "middle"},
            "encoding": {"x": x, "y": y, "text": {"field": "symbol", "type": "nominal"}},
        },
    ]
    panels = [
        {
            "data": data_of(rows[rows["what"] == what]),
            "layer": layers,
            "title": what,
            "width": _COLUMNS * _TILE,
            "height": n_lines * _TILE,
        }
        for what in (NUMBERS, DIFFERENCES)
    ]
    names = {
        "data": data_of(labels),
        "mark": {"type": "text", "align": "right", "fontSize": 11, "x": 80},
        "encoding": {"y": y, "text": {"field": "table", "type": "nominal"}},
        "width": 80,
        "height": n_lines * _TILE,
    }
    spec = whole({"hconcat": [names, *panels], "spacing": 12})
    spec["config"] = {**style(), "view": {"stroke": None}}
    counts = [
        f"{', '.join(f'{n} {name}' for name, n in part['outcome'].value_counts().items())} of "
        f"{len(part)} {what}"
        for what, part in rows.groupby("what", sort=False)
    ]
    return Chart("map", MAP_TITLE, f"Map with a tile for each: {'; '.join(counts)}.", spec, [])


def _place(field: str, n: int) -> dict[str, Any]:
    """Return the encoding of a place among n, without an axis."""
    return {"field": field, "type": "ordinal", "axis": None, "scale": {"domain": list(range(n))}}
