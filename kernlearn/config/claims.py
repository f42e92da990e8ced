"""Claims of a config: statements of a paper, and the checks that decide them.

How each question is decided is described in :mod:`kernlearn.reports.significance`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from kernlearn.config import checks
from kernlearn.config.checks import Fault, Fraction, Names, Section
from kernlearn.config.spec import LABELS

#: Questions that compare methods, or values of another label.
COMPARISONS = ("better", "as_good", "not_better", "not_worse", "indistinguishable")
#: Questions about a metric alone.
BOUNDS = ("below", "above", "between", "trend")
#: All questions that a claim can ask.
QUESTIONS = (*COMPARISONS, "among_best", *BOUNDS)

_Quantity = Literal["all", "all_but_one", "most", "some", "average"]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _over(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    share = isinstance(value, float) and 0 < value < 1
    if not (whole or share or (isinstance(value, str) and value in get_args(_Quantity))):
        raise ValueError(
            f"must be {', '.join(get_args(_Quantity))}, a number of cells or a share of them"
        )
    return value


def _label_value(value: Any) -> Any:
    if not (isinstance(value, str) or _is_number(value)):
        raise ValueError("must be text or a number")
    return value


#: A value of a label: the name of a method, or the value of a varied parameter.
LabelValue = Annotated[str | int | float, BeforeValidator(_label_value)]


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

    metric: str
    better: list[LabelValue] = []
    as_good: list[LabelValue] = []
    not_better: list[LabelValue] = []
    not_worse: list[LabelValue] = []
    indistinguishable: list[LabelValue] = []
    among_best: list[LabelValue] = []
    below: float | None = Field(default=None, description="upper bound of the metric")
    above: float | None = Field(default=None, description="lower bound of the metric")
    between: tuple[float, float] | None = Field(default=None, description="range of the metric")
    trend: Literal["rising", "falling", "flat"] | None = Field(
        default=None, description="how the metric changes with `along`"
    )
    than: list[LabelValue] = []
    of: list[LabelValue] = []
    compare: str = Field(default="method", description="label whose values are compared")
    where: dict[str, Any] = Field(
        default={}, description="labels, each with a value or several, to restrict the check to"
    )
    across: list[str] = Field(default=[], description="labels in which the sides may differ")
    mean_over: list[str] = Field(default=[], description="labels over which means are taken first")
    along: str | None = Field(
        default=None, description="check the change per doubling of this parameter"
    )
    over: Annotated[_Quantity | checks.Count | Fraction, BeforeValidator(_over)] = Field(
        default="average", description="in how many cells; a number: in at least so many of them"
    )
    by: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="smallest difference that counts"
    )
    times: Annotated[float, Field(ge=1)] | None = Field(
        default=None, description="smallest difference that counts, as a factor"
    )
    margin: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="largest difference that counts as none"
    )
    level: Fraction = 0.05

    @property
    def question(self) -> str:
        """The question that is asked."""
        return self._questions()[0]

    def _questions(self) -> list[str]:
        return [name for name in QUESTIONS if getattr(self, name) not in ([], None)]

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> "Check":
        names = checks.names_of(info)
        named = [] if names is None else self._name_faults(names)
        checks.refuse([*self._form_faults(), *named])
        return self

    def _form_faults(self) -> Iterator[Fault]:
        if len(self._questions()) != 1:
            yield (), f"give one of {', '.join(QUESTIONS[:-1])} and {QUESTIONS[-1]}"
        else:
            wrong = (text for text, is_so in self._rules() if is_so)
            yield from (((), text) for text in [*wrong][:1])

    def _name_faults(self, names: Names) -> Iterator[Fault]:
        if text := names.metric_fault(self.metric):
            yield ("metric",), text
        metric = names.scope.metrics.get(self.metric)
        if metric is not None and metric.better == 0 and not set(BOUNDS) & {*self._questions()}:
            text = f"of {self.metric!r} neither more nor less is better: ask for a bound"
            yield ("metric",), text
        labels = {
            "compare": [self.compare],
            "across": self.across,
            "mean_over": self.mean_over,
            "along": [] if self.along is None else [self.along],
        }
        for key, label in ((key, label) for key, values in labels.items() for label in values):
            positive = (_is_number(v) and v > 0 for v in names.axes.get(label, [0]))
            if text := checks.unknown("label", label, names.all_labels):
                yield (key,), text
            elif key == "along" and not all(positive):
                yield (key,), f"{label!r} is no parameter whose values are positive numbers"
        for key in (*COMPARISONS, "among_best", "than", "of") if self.compare in LABELS else ():
            allowed = names.labels[f"{self.compare}s"]
            for name in getattr(self, key):
                if isinstance(name, str) and (text := checks.unknown(self.compare, name, allowed)):
                    yield (key,), text
        for label, value in self.where.items():
            unknown = checks.unknown("label", label, names.all_labels)
            texts = [unknown] if unknown else _where(label, value, names)
            yield from ((("where", label), text) for text in texts)

    def _rules(self) -> Iterator[tuple[str, bool]]:
        """Yield what can be wrong with the options of a question, and whether it is."""
        asked, along, factor = self.question, self.along is not None, self.times is not None
        compares, alone = asked in COMPARISONS, asked == "among_best"
        changes = compares or asked == "trend"
        by_factor = ("better", "as_good", "not_worse", "trend")
        others = [*self.across, *self.mean_over, *([self.along] if self.along else [])]
        average, least = self.over == "average", bool(self.by) or (self.times or 0) > 1
        yield f"than goes with {', '.join(COMPARISONS)}", bool(self.than) and not compares
        yield f"of goes with {', '.join(BOUNDS)}", bool(self.of) and asked not in BOUNDS
        yield "across goes with a comparison", bool(self.across) and not compares
        yield "along goes with trend and with a comparison", along and not changes
        yield "by goes with trend and with a comparison", bool(self.by) and not changes
        yield f"times goes with {', '.join(by_factor)}", factor and asked not in by_factor
        yield "give by or times", factor and bool(self.by)
        presumes = ("not_better", "not_worse", "indistinguishable", "among_best")
        text = f"margin goes with {', '.join(presumes)}, without times"
        yield text, bool(self.margin) and (asked not in presumes or factor)
        text = "times asks for a ratio of values, not of slopes: give by with along"
        yield text, factor and compares and along
        text = "times is decided cell by cell: give another over than average"
        yield text, factor and compares and average
        text = "among_best needs over other than average, and no mean_over"
        yield text, alone and (average or bool(self.mean_over))
        yield "among_best compares methods only", alone and self.compare != "method"
        text = f"{self.compare} is what is compared: no mean is taken over it"
        yield text, self.compare in others
        text = "a label is in more than one of along, across and mean_over"
        yield text, len(set(others)) < len(others)
        yield f"{asked} needs than: the other side of the comparison", compares and not self.than
        yield "trend needs along", asked == "trend" and not along
        text = "as_good needs by or times: the largest difference that counts as equally good"
        yield text, asked == "as_good" and not least
        text = "trend: flat needs by or times: the largest change that counts as none"
        yield text, self.trend == "flat" and not least
        low, high = self.between or (0, 1)
        yield "between needs two numbers, the smaller first", not low < high


def _where(label: str, value: Any, names: Names) -> Iterator[str]:
    """Yield the faults of the values to which a check is restricted."""
    values = value if isinstance(value, list) else [value]
    if not values or any(v is None or isinstance(v, (dict, list)) for v in values):
        yield "must be a value or a list of values"
    elif label in ("dataset", "method"):
        for name in values:
            if text := checks.unknown(label, name, names.labels[f"{label}s"]):
                yield text


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

    says: Annotated[str, Field(min_length=1)]
    section: str = ""
    check: Check
