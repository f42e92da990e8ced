"""Data sets: a catalogue of cards, readers of published file formats, generators.

A card (``datasets/<name>.yaml``) says where a data set is published, how its files read and what
they must contain; :func:`load` finds the files, checks them against the card and returns arrays.
"""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "card": "Card Form Source read_card",
        "files": (
            "Found catalogue find_card is_shipped locate missing_message own_cards search_path"
        ),
        "fetching": "fetch",
        "artificial": (
            "Generator generators indefinite_similarity rings two_gaussians two_moons "
            "unit_ball waveform"
        ),
        "loading": "add load",
        "stream": "RowSource row_source",
        "tables": "Preparation fingerprint",
    },
)
