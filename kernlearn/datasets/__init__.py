"""Data sets: a catalogue of cards, readers of published file formats, generators.

A card (``datasets/<name>.yaml``) says where a data set is published, how its files read and what
they must contain; :func:`load` finds the files, checks them against the card and returns arrays.
"""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "artificial": "indefinite_similarity rings two_gaussians two_moons unit_ball waveform",
        "cache": "fingerprint",
        "card": "Card Form Source read_card",
        "chunks": "gaussian_stream iter_chunks",
        "description": "Description FeatureRange Verified describe verify",
        "drawn_rows": "product_rows",
        "fetching": "Fetched fetch",
        "files": "Found locate missing_message search_path",
        "generating": "generators",
        "known_cards": "catalogue find_card is_shipped own_cards",
        "loading": "load",
        "new_cards": "Added add",
        "picturing": "picture",
        "preparation": "Preparation",
        "registering": "Generator",
        "sources": "RowSource row_source",
    },
)
