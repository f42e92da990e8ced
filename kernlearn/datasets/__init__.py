"""Data sets: a catalogue of cards, readers of published file formats, generators.

A card (``datasets/<name>.yaml``) says where a data set is published, how its files read and what
they must contain; :func:`load` finds the files, checks them against the card and returns arrays.
"""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Added": "new_cards",
        "Card": "card",
        "Description": "description",
        "FeatureRange": "description",
        "Fetched": "fetching",
        "Form": "card",
        "Found": "files",
        "Generator": "artificial",
        "Source": "card",
        "Verified": "description",
        "add": "new_cards",
        "catalogue": "card",
        "describe": "description",
        "fetch": "fetching",
        "find_card": "card",
        "fingerprint": "cache",
        "gaussian_stream": "chunks",
        "generators": "artificial",
        "indefinite_similarity": "artificial",
        "iter_chunks": "chunks",
        "load": "loading",
        "load_all": "loading",
        "locate": "files",
        "missing_message": "files",
        "own_cards": "card",
        "picture": "description",
        "read_card": "card",
        "rings": "artificial",
        "search_path": "files",
        "two_gaussians": "artificial",
        "two_moons": "artificial",
        "unit_ball": "artificial",
        "verify": "description",
        "waveform": "artificial",
    },
)
