"""A badge: a small picture that says how many claims of a paper hold."""

from xml.sax.saxutils import escape

from kernlearn.reports.report import Report
from kernlearn.reports.significance import HOLDS
from kernlearn.reports.verdicts import MATCH, NOT_RUN, WITHIN_SPREAD
from kernlearn.reports.xml_text import xml_text

# Pixels of a character of the font, and on both sides of a text.
_CHARACTER, _SIDE, _HEIGHT = 6.6, 7, 20
_GOOD, _MIXED, _POOR, _NEUTRAL = "#0a7339", "#8a6100", "#a34300", "#5a6069"


def badge_words(report: Report) -> tuple[str, str, str]:
    """Return what the badge of a report says: of what, the count in words, and its colour."""
    if report.indicative:
        return report.plan.experiment.name, f"indicative, profile {report.run_as}", _NEUTRAL
    if report.claims:
        held = sum(claim.outcome == HOLDS for claim in report.claims)
        return "claims", f"{held} of {len(report.claims)} hold", _color(held / len(report.claims))
    verdicts = [v for v in report.summary["verdict"] if v and v != NOT_RUN]
    if verdicts:
        same = sum(verdict in (MATCH, WITHIN_SPREAD) for verdict in verdicts)
        return "numbers", f"{same} of {len(verdicts)} match", _color(same / len(verdicts))
    return report.plan.experiment.name, "measured", _NEUTRAL


def badge(report: Report) -> str:
    """Return the badge of a report as SVG, with its words as title."""
    left, right, color = badge_words(report)
    left, right = xml_text(left), xml_text(right)
    widths = [round(_CHARACTER * len(text) + 2 * _SIDE) for text in (left, right)]
    total = sum(widths)
    title = escape(f"{left}: {right}")
    texts = "".join(
        f'<text x="{x}" y="14" text-anchor="middle">{escape(text)}</text>'
        for x, text in ((widths[0] / 2, left), (widths[0] + widths[1] / 2, right))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{_HEIGHT}" role="img" '
        f'aria-labelledby="title"><title id="title">{title}</title>'
        f'<rect width="{widths[0]}" height="{_HEIGHT}" fill="#3c4043"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="{_HEIGHT}" fill="{color}"/>'
        f'<g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">'
        f"{texts}</g></svg>\n"
    )


def _color(share: float) -> str:
    return _GOOD if share >= 2 / 3 else _MIXED if share >= 1 / 3 else _POOR
