"""Times as a person says them."""


def duration(seconds: float) -> str:
    """Write seconds as hours, minutes and seconds.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str
        Such as ``"2 h 05 min"`` or ``"40 s"``.
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
