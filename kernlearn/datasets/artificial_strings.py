"""Artificial data: generators of strings, whose classes are known to differ in one respect."""

from typing import TYPE_CHECKING

import numpy as np

from kernlearn.checks import check_count, check_nonnegative, check_proportion
from kernlearn.datasets.chunks import Seed, generator_of
from kernlearn.datasets.objects import as_objects
from kernlearn.datasets.registering import register, to_bunch

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CONSONANTS, _VOWELS = "bcdfghklmnprstvwz", "aeiou"
_BASES = "ACGT"


@register(points="strings")
def markov_strings(
    n_samples: int = 600,
    n_classes: int = 3,
    length: int = 30,
    n_letters: int = 10,
    contrast: float = 0.5,
    noise: float = 0.05,
    random_state: Seed = None,
) -> "Bunch":
    """Draw strings of languages: each class is a Markov chain of letters.

    A letter follows from the one before by the chain of the class, with the share `contrast`, or
    by a chain that all classes have in common. Rows of the chains are drawn from a Dirichlet
    distribution with parameter 1/4. All classes have strings of length/2 to 3 length/2 letters,
    with edits as in :func:`misspelt_words`. Classes differ in the frequencies of pairs of letters
    and in nothing else: no string of a class is a variant of another, so that counts of pairs are
    sufficient without noise, and alignments see them indirectly. With ``contrast=0`` the classes
    are the same.

    Parameters
    ----------
    n_samples : int, default=600
        The number of strings.
    n_classes : int, default=3
        The number of languages; a string is of each with the same probability.
    length : int, default=30
        The mean number of letters before edits, at least 2.
    n_letters : int, default=10
        The number of letters, at most 26.
    contrast : float, default=0.5
        The share of the class's own chain, in [0, 1).
    noise : float, default=0.05
        The expected number of edits per letter, at least 0.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of strings as ``data``; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import markov_strings
    >>> markov_strings(n_samples=2, length=12, random_state=0).data.tolist()
    ['...']
    """
    check_count(n_samples=n_samples, n_classes=n_classes, length=length, n_letters=n_letters)
    check_proportion(contrast=contrast)
    check_nonnegative(noise=noise)
    _check_most(n_letters=(n_letters, len(_LETTERS)))
    _check_least(length=(length, 2))
    rng = generator_of(random_state)

    def chain() -> np.ndarray:
        return rng.dirichlet(np.full(n_letters, 0.25), size=n_letters)

    common = chain()
    steps = [
        np.cumsum((1 - contrast) * common + contrast * chain(), axis=1) for _ in range(n_classes)
    ]
    y = rng.randint(n_classes, size=n_samples)
    letters = _LETTERS[:n_letters]
    points = []
    for code in y:
        n = rng.randint(length // 2, length + length // 2 + 1)
        state, states = rng.randint(n_letters), []
        for u in rng.uniform(size=n):
            state = min(int(np.searchsorted(steps[code][state], u)), n_letters - 1)
            states.append(letters[state])
        points.append(_edited("".join(states), noise * n, letters, rng))
    return to_bunch(as_objects(points), y, *map(str, range(n_classes)))


@register(points="strings")
def mutated_families(
    n_samples: int = 600,
    n_classes: int = 6,
    length: int = 60,
    divergence: float = 0.3,
    mutations: float = 0.3,
    gaps: float = 0.05,
    random_state: Seed = None,
) -> "Bunch":
    """Draw families of DNA: members are mutated copies of an ancestor of their own.

    The ancestors are copies of one random sequence of the letters ACGT in which each letter is
    replaced with probability `divergence`; a member is a copy of its ancestor with the same for
    `mutations`, in which then each letter is lost with probability `gaps` / 2, and followed by
    random ones, 1.5 on the average, with probability `gaps` / 3. Replacements are by one of the
    three other letters. The fewest edits to the ancestor decide almost as well as can be, as long
    as `mutations` are below 3/4, where a member says nothing of its ancestor.

    Parameters
    ----------
    n_samples : int, default=600
        The number of sequences.
    n_classes : int, default=6
        The number of families; a sequence is of each with the same probability.
    length : int, default=60
        The number of letters of the ancestors.
    divergence, mutations : float, default=0.3
        Probabilities of a replacement from the common sequence to an ancestor, and from an
        ancestor to a member, in [0, 1).
    gaps : float, default=0.05
        How often letters are lost or inserted, in [0, 1).
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of strings as ``data``; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import mutated_families
    >>> drawn = mutated_families(3, n_classes=2, length=20, random_state=0)
    >>> drawn.data.tolist()
    ['TTAGCCGATCGAAGAAGTC', 'ATTATCTATTGAGATAAAGGC', 'TTAAGGCCTAGACTCCGACGTA']
    >>> drawn.target.tolist()
    [0, 0, 1]
    """
    check_count(n_samples=n_samples, n_classes=n_classes, length=length)
    check_proportion(divergence=divergence, mutations=mutations, gaps=gaps)
    rng = generator_of(random_state)

    def replaced(sequence: np.ndarray, share: float) -> np.ndarray:
        other = (sequence + rng.randint(1, len(_BASES), size=len(sequence))) % len(_BASES)
        return np.where(rng.uniform(size=len(sequence)) < share, other, sequence)

    root = rng.randint(len(_BASES), size=length)
    ancestors = [replaced(root, divergence) for _ in range(n_classes)]
    y = rng.randint(n_classes, size=n_samples)
    points = []
    for code in y:
        member: list[str] = []
        for base, u, v in zip(
            replaced(ancestors[code], mutations), *rng.uniform(size=(2, length)), strict=True
        ):
            if u >= gaps / 2:
                member.append(_BASES[base])
            if v < gaps / 3:
                inserted = rng.randint(len(_BASES), size=rng.randint(1, 3))
                member += [_BASES[base] for base in inserted]
        points.append("".join(member) or _BASES[root[0]])
    return to_bunch(as_objects(points), y, *map(str, range(n_classes)))


@register(points="strings")
def misspelt_words(
    n_samples: int = 600,
    n_classes: int = 20,
    typos: float = 2.0,
    random_state: Seed = None,
) -> "Bunch":
    """Draw misspelt names, each class the spellings of one.

    The names have three or four syllables. They come in pairs that differ in one syllable, as
    names do that are mistaken for each other. A spelling has a Poisson number of typing errors,
    each with the same probability a letter replaced, left out, inserted, or swapped with the next.
    Without errors all is told by the string itself.

    Parameters
    ----------
    n_samples : int, default=600
        The number of spellings.
    n_classes : int, default=20
        The number of names; a spelling is of each with the same probability.
    typos : float, default=2.0
        The mean number of errors of a spelling, at least 0.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of strings as ``data`` and the names as
        ``target_names``; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import misspelt_words
    >>> drawn = misspelt_words(4, n_classes=2, random_state=0)
    >>> drawn.data.tolist()
    ['wfofe', 'affoe', 'gafocfe', 'wafofe']
    >>> drawn.target_names[drawn.target].tolist()
    ['wafofe', 'wafofe', 'gafofe', 'wafofe']
    """
    check_count(n_samples=n_samples, n_classes=n_classes)
    check_nonnegative(typos=typos)
    rng = generator_of(random_state)
    names: list[str] = []
    while len(names) < n_classes:
        syllables = [_syllable(rng) for _ in range(rng.randint(3, 5))]
        if "".join(syllables) in names:
            continue
        names.append("".join(syllables))
        syllables[rng.randint(len(syllables))] = _syllable(rng)
        if len(names) < n_classes and "".join(syllables) not in names:
            names.append("".join(syllables))
    y = rng.randint(n_classes, size=n_samples)
    points = [_edited(names[code], typos, _LETTERS, rng, swaps=True) for code in y]
    return to_bunch(as_objects(points), y, *names)


@register(points="strings")
def word_documents(
    n_samples: int = 600,
    n_classes: int = 4,
    length: int = 25,
    topic: float = 0.25,
    typos: float = 0.1,
    random_state: Seed = None,
) -> "Bunch":
    """Draw short documents, whose classes are topics with words of their own.

    A word is one of 40 of its topic with probability `topic`, else one of 400 that all topics use;
    both are drawn by Zipf's law, with probabilities in proportion to 1, 1/2, 1/3, … The order of
    words says nothing. The words are spelt with errors as in :func:`misspelt_words`. With
    ``topic=0`` the classes are the same.

    Parameters
    ----------
    n_samples : int, default=600
        The number of documents.
    n_classes : int, default=4
        The number of topics; a document is of each with the same probability.
    length : int, default=25
        The mean number of words; a document has length/2 to 3 length/2, at least 2.
    topic : float, default=0.25
        The share of words of the topic, in [0, 1).
    typos : float, default=0.1
        The mean number of errors of a word, at least 0.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of strings as ``data``; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import word_documents
    >>> drawn = word_documents(100, length=5, random_state=0)
    >>> drawn.data[0]
    'fofi tuti'
    >>> len(drawn.target_names)
    4
    """
    check_count(n_samples=n_samples, n_classes=n_classes, length=length)
    check_proportion(topic=topic)
    check_nonnegative(typos=typos)
    _check_least(length=(length, 2))
    rng = generator_of(random_state)
    known: dict[str, None] = {}
    while len(known) < 400 + 40 * n_classes:
        known["".join(_syllable(rng) for _ in range(rng.randint(2, 4)))] = None
    words = np.array(list(known), dtype=object)
    common, own = words[:400], words[400:].reshape(n_classes, 40)
    y = rng.randint(n_classes, size=n_samples)
    points = []
    for code in y:
        n = rng.randint(length // 2, length + length // 2 + 1)
        of_topic = rng.uniform(size=n) < topic
        drawn = np.where(of_topic, own[code][_zipf(40, n, rng)], common[_zipf(400, n, rng)])
        spelt = (_edited(word, typos, _LETTERS, rng, swaps=True) for word in drawn)
        points.append(" ".join(filter(None, spelt)))
    return to_bunch(as_objects(points), y, *map(str, range(n_classes)))


def _syllable(rng: np.random.RandomState) -> str:
    return _CONSONANTS[rng.randint(len(_CONSONANTS))] + _VOWELS[rng.randint(len(_VOWELS))]


def _zipf(n_words: int, n: int, rng: np.random.RandomState) -> np.ndarray:
    weights = 1 / np.arange(1, n_words + 1)
    return rng.choice(n_words, size=n, p=weights / weights.sum())


def _edited(
    text: str, mean: float, letters: str, rng: np.random.RandomState, swaps: bool = False
) -> str:
    """Make a Poisson number of edits; a string keeps one letter at least."""
    found = list(text)
    for _ in range(rng.poisson(mean)):
        kind, place = rng.randint(4 if swaps else 3), rng.randint(len(found))
        letter = letters[rng.randint(len(letters))]
        if kind == 0:
            found[place] = letter
        elif kind == 1 and len(found) > 1:
            del found[place]
        elif kind == 2:
            found.insert(place, letter)
        elif kind == 3 and place + 1 < len(found):
            found[place : place + 2] = found[place + 1], found[place]
    return "".join(found)


def _check_most(**values: tuple[int, int]) -> None:
    for name, (value, most) in values.items():
        if value > most:
            raise ValueError(f"'{name}' must be at most {most}, got {value}")


def _check_least(**values: tuple[int, int]) -> None:
    for name, (value, least) in values.items():
        if value < least:
            raise ValueError(f"'{name}' must be at least {least}, got {value}")
