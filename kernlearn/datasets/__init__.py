"""Data sets: a catalogue of cards, readers of the published file formats, generators.

Nothing here knows of methods or experiments. A card (``datasets/<name>.yaml``) says where a
data set is published, how its files read and what they must hold; :func:`load` finds the
files, checks them against the card and hands the arrays on.
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
        "Found": "lookup",
        "Generator": "artificial",
        "Source": "card",
        "Verified": "verification",
        "add": "new_cards",
        "catalogue": "lookup",
        "describe": "description",
        "fetch": "fetching",
        "find_card": "lookup",
        "fingerprint": "hashing",
        "gaussian_stream": "streams",
        "generators": "artificial",
        "indefinite_similarity": "artificial",
        "iter_chunks": "chunks",
        "load": "loading",
        "load_all": "loading",
        "locate": "lookup",
        "missing_message": "lookup",
        "own_cards": "lookup",
        "picture": "description",
        "read_card": "card",
        "rings": "artificial",
        "search_path": "lookup",
        "two_gaussians": "streams",
        "two_moons": "artificial",
        "unit_ball": "artificial",
        "verify": "verification",
        "waveform": "artificial",
    },
)
