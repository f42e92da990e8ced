"""Pictures of the gallery's charts: the last value of a cell, if it is an Altair chart."""

from typing import Any

import altair
from sphinx_gallery.scrapers import figure_rst


def altair_scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the chart that a cell ends with, and return the reStructuredText that shows it."""
    names = block_vars["example_globals"]
    # the value stays there until another cell ends with one: a picture is wanted once
    chart, names["___"] = names.get("___"), None
    if not isinstance(chart, altair.TopLevelMixin):
        return ""
    path = next(block_vars["image_path_iterator"])
    chart.save(path, scale_factor=2)
    return figure_rst([path], gallery_conf["src_dir"])
