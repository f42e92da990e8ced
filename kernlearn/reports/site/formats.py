"""Numbers and cells as text for pages."""

import numpy as np

from kernlearn.reports import tables

SPREAD = " ± "
_ROUNDING = 1e-12


def number_text(cell: tables.Cell) -> str:
    """Return the number of a cell without its deviation or interval."""
    return cell.measured.partition(SPREAD)[0].partition(" [")[0]


def spread_text(cell: tables.Cell) -> str:
    """Format the interval of a median, or a standard deviation at the precision of its mean.

    Empty if there is none.

    Examples
    --------
    >>> from kernlearn.reports.tables import Cell
    >>> spread_text(Cell("0.0395", metric="mse", mean=0.03951, std=0.000885))
    ' ± 0.0009'
    """
    if not np.isnan(cell.median):
        return tables.interval_text(cell.low, cell.high, cell.metric)
    if np.isnan(cell.std):
        return ""
    # rounding errors of a number that does not vary
    std = 0.0 if cell.std < _ROUNDING * abs(cell.mean) else cell.std
    shown = SPREAD in cell.measured
    text = number_text(cell) if shown else tables.format_number(cell.mean, cell.metric)
    mantissa, e, exponent = text.partition("e")
    n_decimals = len(mantissa.partition(".")[2])
    return f"{SPREAD}{std / 10 ** int(exponent or 0):.{n_decimals}f}{e}{exponent}"


def in_full(cell: tables.Cell) -> str:
    """Describe a cell in full, numbers with six digits."""
    parts = []
    if not np.isnan(cell.mean):
        spread = "" if np.isnan(cell.std) else f" ± {cell.std:.6g}"
        splits = f" over {cell.n_splits} splits" if cell.n_splits > 1 else ""
        if not np.isnan(cell.median):
            ends = "" if np.isnan(cell.low) else f", from {cell.low:.6g} to {cell.high:.6g}"
            parts.append(f"median {cell.median:.6g}{ends}{splits}; mean {cell.mean:.6g}{spread}")
        else:
            parts.append(f"measured {cell.mean:.6g}{spread}{splits}")
        if cell.not_converged:
            parts.append(f"the solver stopped early in {cell.not_converged} of them")
    if not np.isnan(cell.reported_mean):
        parts.append(f"reported {cell.reported_mean:.6g}")
    return "; ".join([*parts, cell.verdict] if cell.verdict else parts)
