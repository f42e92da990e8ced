# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.datasets.artificial import Generator as Generator
from kernlearn.datasets.artificial import generators as generators
from kernlearn.datasets.artificial import indefinite_similarity as indefinite_similarity
from kernlearn.datasets.artificial import rings as rings
from kernlearn.datasets.artificial import two_gaussians as two_gaussians
from kernlearn.datasets.artificial import two_moons as two_moons
from kernlearn.datasets.artificial import unit_ball as unit_ball
from kernlearn.datasets.artificial import waveform as waveform
from kernlearn.datasets.card import Card as Card
from kernlearn.datasets.card import Form as Form
from kernlearn.datasets.card import Source as Source
from kernlearn.datasets.card import read_card as read_card
from kernlearn.datasets.fetching import fetch as fetch
from kernlearn.datasets.files import Found as Found
from kernlearn.datasets.files import catalogue as catalogue
from kernlearn.datasets.files import find_card as find_card
from kernlearn.datasets.files import is_shipped as is_shipped
from kernlearn.datasets.files import locate as locate
from kernlearn.datasets.files import missing_message as missing_message
from kernlearn.datasets.files import own_cards as own_cards
from kernlearn.datasets.files import search_path as search_path
from kernlearn.datasets.loading import add as add
from kernlearn.datasets.loading import load as load
from kernlearn.datasets.stream import RowSource as RowSource
from kernlearn.datasets.stream import row_source as row_source
from kernlearn.datasets.tables import Preparation as Preparation
from kernlearn.datasets.tables import fingerprint as fingerprint

__all__ = [
    "Card",
    "Form",
    "Found",
    "Generator",
    "Preparation",
    "RowSource",
    "Source",
    "add",
    "catalogue",
    "fetch",
    "find_card",
    "fingerprint",
    "generators",
    "indefinite_similarity",
    "is_shipped",
    "load",
    "locate",
    "missing_message",
    "own_cards",
    "read_card",
    "rings",
    "row_source",
    "search_path",
    "two_gaussians",
    "two_moons",
    "unit_ball",
    "waveform",
]
