"""Claims of a paper with the questions that decide them, and the answer in words."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationInfo,
    model_validator,
)

from kernlearn.config.values import Fraction, Label, MetricName, Section

#: Questions that compare methods, or values of another label.
COMPARISONS = ("better", "as_good", "not_better", "not_worse", "indistinguishable", "overtakes")
#: Questions about a metric alone.
BOUNDS = ("below", "above", "between", "trend")
#: All questions that a claim can ask.
QUESTIONS = (*COMPARISONS, "among_best", *BOUNDS)

#: A value of a label: the name of a method, or the value of a varied parameter.
LabelValue = StrictStr | StrictInt | StrictFloat
_Quantity = Literal["all", "all_but_one", "most", "some", "average"]
_Amount = Annotated[float, Field(ge=0)]
_Values = Annotated[list[LabelValue | StrictBool], Field(min_length=1)]
# The questions that each option goes with.
_OPTIONS = {
    "than": COMPARISONS,
    "of": BOUNDS,
    "across": COMPARISONS,
    "along": (*COMPARISONS, "trend"),
    "by": (*COMPARISONS[:-1], "trend"),
    "times": ("better", "as_good", "not_worse", "trend"),
    "margin": ("not_better", "not_worse", "indistinguishable", "among_best"),
}


class Check(Section):
    """A comparison of methods, or a question about a metric, that decides a claim.

    Exactly one of :data:`QUESTIONS` is asked.
    """

    metric: MetricName
    """A measured metric, or a derived one, which is then computed split by split."""
    better: list[LabelValue] = []
    """Methods that must be shown to be better than ``than``."""
    as_good: list[LabelValue] = []
    """Methods that must be shown to be no worse than ``than`` by more than ``by`` or ``times``."""
    not_better: list[LabelValue] = []
    """Methods that must not be shown to be better than ``than``."""
    not_worse: list[LabelValue] = []
    """Methods that must not be shown to be worse than ``than``."""
    indistinguishable: list[LabelValue] = []
    """Methods that must not be shown to differ from ``than``."""
    overtakes: list[LabelValue] = []
    """Methods that are ahead of those under ``than`` from some value of ``along`` on, up to the
    largest; the report says from which."""
    among_best: list[LabelValue] = []
    """Methods that are the best, or not significantly worse, among all but the baselines."""
    below: float | None = None
    """Bounds of the metric."""
    above: float | None = None
    """Bounds of the metric."""
    between: tuple[float, float] | None = None
    """Range of the metric."""
    trend: Literal["rising", "falling", "flat"] | None = None
    """How the metric changes with ``along``. ``by`` is the smallest change per doubling that
    counts, for ``flat`` the largest; ``times`` is the same as a factor."""
    than: list[LabelValue] = []
    """The other side of the comparison. If a part of the cells is enough for ``better`` or
    ``as_good``, a cell counts if it is so against all of these."""
    of: list[LabelValue] = []
    """Methods whose metric is asked for, each decided separately; by default all, together."""
    compare: Label = "method"
    """The label whose values are named under the question, ``than`` and ``of``."""
    where: dict[Label, LabelValue | StrictBool | _Values] = {}
    """Labels, each with a value or several, to which the check is restricted. It has no effect on
    a side of a comparison that does not have the label, such as the number of landmarks for a
    method without landmarks."""
    across: list[Label] = []
    """Labels that may differ between the two sides of a comparison; a side with several values
    enters with their mean, split by split."""
    mean_over: list[Label] = []
    """Labels over whose values means are taken, split by split, before the cells are formed."""
    along: Label | None = None
    """A varied parameter: the check then applies to the change of the metric per doubling of the
    parameter, the slope of a least-squares line."""
    over: (
        _Quantity | Annotated[StrictInt, Field(ge=1)] | Annotated[StrictFloat, Field(gt=0, lt=1)]
    ) = "average"
    """In how many of the cells the check must hold: also a number or a share. Cells are formed by
    the labels other than ``compare``, ``across``, ``mean_over`` and ``along``."""
    by: _Amount = 0.0
    """The smallest difference that counts, in units of the metric."""
    times: Annotated[float, Field(ge=1)] | None = None
    """The same as a factor: ``better`` requires a ratio of at least ``times`` in the good
    direction; ``as_good`` and ``not_worse`` allow one of at most ``times`` in the other. An
    ``average`` is then the geometric mean, for data sets of unlike scale."""
    margin: _Amount = 0.0
    """For questions that presume the absence of a difference, and ``among_best``: the largest
    difference that counts as none. The claim is shown if the interval lies within it, and refuted
    beyond it."""
    level: Fraction = 0.05
    """Significance level of all tests of the check together."""

    @property
    def question(self) -> str:
        """The question that is asked."""
        return self._questions()[0]

    @property
    def takes_factors(self) -> bool:
        """Whether an average is that of logarithms of factors."""
        return self.question in COMPARISONS and self.over == "average" and self.times is not None

    def _questions(self) -> list[str]:
        return [name for name in QUESTIONS if getattr(self, name) not in ([], None)]

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> "Check":
        if len(self._questions()) != 1:
            raise ValueError(f"give one of {', '.join(QUESTIONS[:-1])} and {QUESTIONS[-1]}")
        for text, is_wrong in self._rules():
            if is_wrong:
                raise ValueError(text)
        if info.context is not None:
            self._check_names(info.context)
        return self

    def _check_names(self, names: Any) -> None:
        metric = names.scope.metrics.get(self.metric)
        if metric is not None and metric.better == 0 and self.question not in BOUNDS:
            raise ValueError(f"{self.metric!r} is neither better nor worse: ask for a bound")
        values = names.axes.get(self.along, [""]) if self.along is not None else []
        if not all(isinstance(value, (int, float)) and value > 0 for value in values):
            raise ValueError(f"{self.along!r} is no parameter whose values are positive numbers")
        sides = [*getattr(self, self.question)] if self.question not in BOUNDS else []
        named = [*self.where.items(), (self.compare, [*sides, *self.than, *self.of])]
        for label, value in named:
            for name in value if isinstance(value, list) else [value]:
                names.check_value(label, name)

    def _rules(self) -> Iterator[tuple[str, bool]]:
        """Yield what can be wrong with the options of a question, and whether it is."""
        asked, along, factor = self.question, self.along is not None, self.times is not None
        compares, average = asked in COMPARISONS, self.over == "average"
        least = bool(self.by) or (self.times or 0) > 1
        others = [*self.across, *self.mean_over, *([self.along] if self.along else [])]
        for option, questions in _OPTIONS.items():
            text = f"{option} goes with {', '.join(questions)}"
            yield text, bool(getattr(self, option)) and asked not in questions
        wrong = sum(map(bool, (self.by, factor, self.margin))) > 1
        yield "give one of by, times and margin", wrong
        text = "times asks for a ratio of values: without along"
        yield text, factor and compares and along
        text = "among_best compares methods, over other than average, without mean_over"
        wrong = average or bool(self.mean_over) or self.compare != "method"
        yield text, asked == "among_best" and wrong
        text = "a label is in more than one of compare, along, across and mean_over"
        yield text, len({*others, self.compare}) < len(others) + 1
        yield f"{asked} needs than: the other side of the comparison", compares and not self.than
        yield f"{asked} needs along", asked in ("trend", "overtakes") and not along
        yield "overtakes needs over: in how many cells", asked == "overtakes" and average
        text = f"{asked} needs by or times: the largest difference that counts as none"
        yield text, (asked == "as_good" or self.trend == "flat") and not least
        low, high = self.between or (0, 1)
        yield "between needs two numbers, the smaller first", not low < high


class Claim(Section):
    """A statement, and the check that decides it."""

    says: str = Field(min_length=1)
    """The statement, in short."""
    section: str = ""
    """The section of the paper."""
    of_paper: StrictBool = True
    """Whether the paper says so. A statement of the page itself is tested in the same way, and no
    total counts it."""
    check: Check
    """What decides it."""
    caveat: str = ""
    """What limits the outcome, whatever it is."""


class Evidence(Section):
    """Outcomes that a sentence rests on: counts by outcome, and single claims."""

    scores: dict[str, int] = {}
    """How many reported scores have a verdict."""
    times: dict[str, int] = {}
    """The same of reported times and speed-ups."""
    differences: dict[str, int] = {}
    """How many differences between methods are shown, smaller, not shown or reversed."""
    claims: dict[int, str] = {}
    """The outcome of claims, by their number in the config, from 1."""
    bold: dict[str, int] = {}
    """In how many cells of the table methods are among the best."""


class Answer(Section):
    """A sentence on what came out."""

    says: str = Field(min_length=1)
    """The sentence."""
    rests_on: Evidence
    """The outcomes that it states. If one of them changes reports say so."""
