# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.advice.candidates import Candidate as Candidate
from kernlearn.advice.candidates import Facts as Facts
from kernlearn.advice.candidates import shortlist as shortlist
from kernlearn.advice.choosing import Advice as Advice
from kernlearn.advice.choosing import Verdict as Verdict
from kernlearn.advice.choosing import advise as advise
from kernlearn.advice.similarities import choose_similarity as choose_similarity

__all__ = [
    "Advice",
    "Candidate",
    "Facts",
    "Verdict",
    "advise",
    "choose_similarity",
    "shortlist",
]
