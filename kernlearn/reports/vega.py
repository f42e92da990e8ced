"""Vega-Lite: the style of charts, and their data."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

# The colours of Okabe and Ito can be told apart with any kind of colour vision.
_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_NUMERIC = {"integer", "floating", "mixed-integer-float", "decimal"}


def style() -> dict[str, Any]:
    """Return the style that all charts share, as a Vega-Lite configuration."""
    return {
        "axis": {"labelFontSize": 11, "titleFontSize": 12, "gridColor": "#e5e5e5"},
        "title": {"fontSize": 13, "anchor": "start"},
        "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelAnchor": "start"},
        "legend": {"symbolOpacity": 1},
        "view": {"stroke": "#bbbbbb"},
        "range": {"category": _PALETTE},
    }


def page_style() -> dict[str, Any]:
    """Return a configuration with the colours of the style sheet, light or dark."""
    text = {"labelColor": "var(--fg)", "titleColor": "var(--fg)", "titleFontWeight": 500}
    strong = {"domainColor": "var(--line-strong)", "tickColor": "var(--line-strong)"}
    looks: dict[str, dict[str, Any]] = {
        "axis": {**text, "gridColor": "var(--line)", **strong},
        "header": {"labelColor": "var(--fg)"},
        "legend": text,
        "title": {"color": "var(--fg)"},
        "view": {"stroke": "var(--line)"},
        "range": {"category": [f"var(--series-{i + 1})" for i in range(len(_PALETTE))]},
    }
    styles = {key: {**look, **looks[key]} for key, look in style().items()}
    return {"background": "transparent", "font": "system-ui, sans-serif", **styles}


def whole(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart with the version of Vega-Lite and the style."""
    schema = f"https://vega.github.io/schema/vega-lite/v{vega_lite_version()}.json"
    return {"$schema": schema, **chart, "config": style()}


def data_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the rows of a frame as data of a chart; what is missing is null."""
    plain = frame.astype(object).where(frame.notna(), None)
    return {"values": plain.to_dict("records")}


def type_of(column: "pd.Series[Any]") -> str:
    """Return the type by which a column is encoded."""
    return "quantitative" if pd.api.types.infer_dtype(column) in _NUMERIC else "nominal"


def vega_lite_version() -> str:
    """Return the newest version of Vega-Lite that pictures can be drawn by, such as ``"6.4"``."""
    import vl_convert

    return str(vl_convert.get_vegalite_versions()[-1])
