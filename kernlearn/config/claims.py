"""Claims of a config: statements of a paper, and the checks that decide them.

How each question is decided is described in :mod:`kernlearn.reports.claims`.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationInfo,
    model_validator,
)

from kernlearn.config.names import Fraction, Label, MetricName, Names, Section
from kernlearn.config.spec import LABELS

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

    Attributes
    ----------
    metric : str
        A measured metric, or a derived one, which is then computed split by split.
    better, as_good : list of str
        Methods that must be shown to be better than those under ``than``, or to be worse by no
        more than ``by`` or ``times``.
    not_better, not_worse, indistinguishable : list of str
        Methods for which the opposite must not be shown: a presumption that holds unless the
        results refute it.
    overtakes : list of str
        Methods that are ahead of those under ``than`` from some value of ``along`` on, up to the
        largest; the report says from which.
    among_best : list of str
        Methods that are the best, or not significantly worse, among all but the baselines.
    below, above : float
        Bounds of the metric.
    between : [low, high]
        Range of the metric.
    trend : {"rising", "falling", "flat"}
        How the metric changes with ``along``. ``by`` is the smallest change per doubling that
        counts, for ``flat`` the largest; ``times`` is the same as a factor.
    than : list of str
        The other side of the comparison.
    of : list of str
        Methods whose metric is asked for, each decided separately; by default all, together.
    compare : str
        The label whose values are named under the question, ``than`` and ``of``.
    where : dict
        Labels, each with a value or several, to which the check is restricted. It has no effect
        on a side of a comparison that does not have the label, such as the number of landmarks
        for a method without landmarks.
    across : list of str
        Labels that may differ between the two sides of a comparison; a side with several values
        enters with their mean, split by split.
    mean_over : list of str
        Labels over whose values means are taken, split by split, before the cells are formed.
    along : str
        A varied parameter: the check then applies to the change of the metric per doubling of the
        parameter, the slope of a least-squares line.
    over : {"all", "all_but_one", "most", "some", "average"}, int or float
        In how many of the cells the check must hold: also a number or a share. Cells are formed
        by the labels other than ``compare``, ``across``, ``mean_over`` and ``along``.
    by : float
        The smallest difference that counts, in units of the metric.
    times : float
        The same as a factor: ``better`` requires a ratio of at least ``times`` in the good
        direction; ``as_good`` and ``not_worse`` allow one of at most ``times`` in the other.
    margin : float
        For questions that presume the absence of a difference, and ``among_best``: the largest
        difference that counts as none. The claim is shown if the interval lies within it.
    level : float
        Significance level of all tests of the check together.
    """

    metric: MetricName
    better: list[LabelValue] = []
    as_good: list[LabelValue] = []
    not_better: list[LabelValue] = []
    not_worse: list[LabelValue] = []
    indistinguishable: list[LabelValue] = []
    overtakes: list[LabelValue] = []
    among_best: list[LabelValue] = []
    below: float | None = None
    above: float | None = None
    between: tuple[float, float] | None = None
    trend: Literal["rising", "falling", "flat"] | None = None
    than: list[LabelValue] = []
    of: list[LabelValue] = []
    compare: Label = "method"
    where: dict[Label, LabelValue | StrictBool | _Values] = {}
    across: list[Label] = []
    mean_over: list[Label] = []
    along: Label | None = None
    over: (
        _Quantity | Annotated[StrictInt, Field(ge=1)] | Annotated[StrictFloat, Field(gt=0, lt=1)]
    ) = "average"
    by: _Amount = 0.0
    times: Annotated[float, Field(ge=1)] | None = None
    margin: _Amount = 0.0
    level: Fraction = 0.05

    @property
    def question(self) -> str:
        """The question that is asked."""
        return self._questions()[0]

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

    def _check_names(self, names: Names) -> None:
        metric = names.scope.metrics.get(self.metric)
        if metric is not None and metric.better == 0 and self.question not in BOUNDS:
            text = f"of {self.metric!r} neither more nor less is better: ask for a bound"
            raise ValueError(text)
        values = names.axes.get(self.along, [""]) if self.along is not None else []
        if not all(isinstance(value, (int, float)) and value > 0 for value in values):
            raise ValueError(f"{self.along!r} is no parameter whose values are positive numbers")
        sides = [*getattr(self, self.question)] if self.question not in BOUNDS else []
        named = {**self.where, self.compare: [*sides, *self.than, *self.of]}
        for label in LABELS:
            value = named.get(label, [])
            for name in value if isinstance(value, list) else [value]:
                names.check(label, name)

    def _rules(self) -> Iterator[tuple[str, bool]]:
        """Yield what can be wrong with the options of a question, and whether it is."""
        asked, along, factor = self.question, self.along is not None, self.times is not None
        compares, average = asked in COMPARISONS, self.over == "average"
        least = bool(self.by) or (self.times or 0) > 1
        others = [*self.across, *self.mean_over, *([self.along] if self.along else [])]
        for option, questions in _OPTIONS.items():
            text = f"{option} goes with {', '.join(questions)}"
            yield text, bool(getattr(self, option)) and asked not in questions
        yield (
            "give one of by, times and margin",
            sum(map(bool, (self.by, factor, self.margin))) > 1,
        )
        text = "times asks for a ratio of values, cell by cell: without along, and over no average"
        yield text, factor and compares and (along or average)
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
    """A statement of the paper, and the check that decides it.

    Attributes
    ----------
    says : str
        The statement, in short.
    section : str
        The section of the paper.
    check : Check
        What decides it.
    """

    says: str = Field(min_length=1)
    section: str = ""
    check: Check
