"""Pictures of the gallery's charts: the last value of a cell, if it is an Altair chart."""

from typing import Any

import altair
from sphinx_gallery.scrapers import figure_rst

# A thumbnail is shown at a third of its size.
_LARGE = {"labelFontSize": 26, "titleFontSize": 30}
_THUMBNAIL = {
    "axis": {**_LARGE, "tickCount": 3, "labelOverlap": True},
    "header": _LARGE,
    "line": {"strokeWidth": 4},
    "view": {"continuousWidth": 360, "continuousHeight": 220},
    "legend": {**_LARGE, "orient": "bottom", "symbolSize": 400, "columns": 2, "labelLimit": 400},
}


def altair_scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the chart that a cell ends with, and return the reStructuredText that shows it."""
    names = block_vars["example_globals"]
    # the value stays there until another cell ends with one: a picture is wanted once
    chart, names["___"] = names.get("___"), None
    if not isinstance(chart, altair.TopLevelMixin):
        return ""
    # the first picture of an example becomes its thumbnail, and is not on the page
    small: Any = chart
    while isinstance(small, altair.ConcatChart | altair.VConcatChart):  # the first panel
        small = small["concat" if isinstance(small, altair.ConcatChart) else "vconcat"][0]
    if small is not chart:
        small = small.properties(title="", width=360, height=220)
    style = _THUMBNAIL if small is chart else {**_THUMBNAIL, "legend": {"disable": True}}
    small.configure(**style).save(next(block_vars["image_path_iterator"]), scale_factor=1.5)
    path = next(block_vars["image_path_iterator"])
    chart.save(path, scale_factor=2)
    return figure_rst([path], gallery_conf["src_dir"])
