"""Data sets: a catalogue of cards, readers of the published file formats, generators.

Nothing here knows of methods or experiments. A card (``datasets/<name>.yaml``) says where a
data set is published, how its files read and what they must hold; :func:`load` finds the
files, checks them against the card and hands the arrays on.
"""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Added": "_add",
        "Card": "_card",
        "Description": "_describe",
        "FeatureRange": "_describe",
        "Fetched": "_fetch",
        "Form": "_card",
        "Found": "_locate",
        "Generator": "_generators",
        "Source": "_card",
        "Verified": "_verify",
        "add": "_add",
        "catalogue": "_catalogue",
        "describe": "_describe",
        "fetch": "_fetch",
        "find_card": "_catalogue",
        "fingerprint": "_fingerprint",
        "gaussian_stream": "_streams",
        "generators": "_generators",
        "indefinite_similarity": "_similarities",
        "iter_chunks": "_chunks",
        "load": "_load",
        "load_all": "_load",
        "locate": "_locate",
        "missing_message": "_locate",
        "own_cards": "_catalogue",
        "picture": "_picture",
        "read_card": "_card",
        "rings": "_points",
        "search_path": "_locate",
        "two_gaussians": "_streams",
        "two_moons": "_points",
        "unit_ball": "_points",
        "verify": "_verify",
        "waveform": "_points",
    },
)
