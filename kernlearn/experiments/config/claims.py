"""What a claim may ask of the results: its section of a config.

How each question is decided is written in :mod:`kernlearn.reports.significance`.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from kernlearn.experiments.config.sections import Count, Fraction, Section

#: Questions that set methods, or values of another label, beside each other.
COMPARISONS = ("better", "as_good", "close", "not_better", "not_worse", "indistinguishable")
#: Questions to a metric alone.
BOUNDS = ("below", "above", "between", "trend")
#: What a claim can ask.
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


#: What a label can be: the name of a method, or the value of a varied parameter.
LabelValue = Annotated[str | int | float, BeforeValidator(_label_value)]


class Check(Section):
    """A comparison of methods, or a question to a metric, that decides a claim.

    Exactly one of :data:`QUESTIONS` is asked.

    Attributes
    ----------
    metric : str
        A measured metric, or a derived one, which is then computed split by split.
    better, as_good, close : list of str
        Methods that are shown to be ahead of those under ``than``, to be no further behind
        than ``by`` or ``times`` allows, or to differ by no more than ``by``.
    not_better, not_worse, indistinguishable : list of str
        Methods of which the opposite is not shown: a presumption that stands until the results
        refute it.
    among_best : list of str
        Methods that are the best, or not significantly worse, among all but the baselines.
    below, above : float
        Where the metric stays.
    between : [low, high]
        Where the metric lies.
    trend : {"rising", "falling", "flat"}
        How the metric goes with ``along``. ``by`` is the least change with every doubling that
        counts, for ``flat`` the greatest; ``times`` the same as a factor.
    than : list of str
        What the comparison is with.
    of : list of str
        Methods whose metric is asked for, each decided by itself; by default all, together.
    compare : str
        The label whose values are named under the question, ``than`` and ``of``.
    where : dict
        Labels, each with a value or several: nothing else counts. A label that one side of a
        comparison does not have, such as the number of landmarks of a method without, leaves
        that side as it is.
    across : list of str
        Labels that may differ between the two sides of a comparison; of a side with several
        values the mean is taken, split by split.
    mean_over : list of str
        Labels over whose values means are taken, split by split, before cells are told apart.
    along : str
        A varied parameter: what counts is not the metric but how much it changes with every
        doubling of the parameter, the slope of a least-squares line.
    over : {"all", "all_but_one", "most", "some", "average"}, int or float
        In how many of the cells: also a number of them, or a share. Cells are what is left when
        ``compare``, ``across``, ``mean_over`` and ``along`` are taken out of the labels.
    by : float
        The difference that is the least to count, in units of the metric.
    times : float
        The same as a factor: ``better`` asks for so many times more, or less where less is
        better; ``as_good`` and ``not_worse`` allow so many times less, or more.
    level : float
        Of all tests of the check together.
    """

    metric: str
    better: list[LabelValue] = []
    as_good: list[LabelValue] = []
    close: list[LabelValue] = []
    not_better: list[LabelValue] = []
    not_worse: list[LabelValue] = []
    indistinguishable: list[LabelValue] = []
    among_best: list[LabelValue] = []
    below: float | None = Field(default=None, description="what the metric stays under")
    above: float | None = Field(default=None, description="what the metric stays over")
    between: tuple[float, float] | None = Field(default=None, description="where it lies")
    trend: Literal["rising", "falling", "flat"] | None = Field(
        default=None, description="how the metric goes with `along`"
    )
    than: list[LabelValue] = []
    of: list[LabelValue] = []
    compare: str = Field(default="method", description="label whose values are compared")
    where: dict[str, Any] = Field(default={}, description="labels, each a value or several")
    across: list[str] = Field(default=[], description="labels in which the sides may differ")
    mean_over: list[str] = Field(default=[], description="labels over which means are taken first")
    along: str | None = Field(
        default=None, description="ask for the change with every doubling of this parameter"
    )
    over: Annotated[_Quantity | Count | Fraction, BeforeValidator(_over)] = Field(
        default="average", description="which cells; a number: in so many of them at least"
    )
    by: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="difference that is the least to count"
    )
    times: Annotated[float, Field(ge=1)] | None = Field(
        default=None, description="the same as a factor"
    )
    level: Fraction = 0.05

    @property
    def question(self) -> str:
        """Which of the questions is asked."""
        return self._questions()[0]

    def _questions(self) -> list[str]:
        return [name for name in QUESTIONS if getattr(self, name) not in ([], None)]

    @model_validator(mode="after")
    def _one_question(self) -> "Check":
        if len(self._questions()) != 1:
            raise ValueError(f"give one of {', '.join(QUESTIONS[:-1])} and {QUESTIONS[-1]}")
        for wrong, text in (*self._misplaced(), *self._missing()):
            if wrong:
                raise ValueError(text)
        return self

    def _misplaced(self) -> tuple[tuple[bool, str], ...]:
        asked = self.question
        compares, alone = asked in COMPARISONS, asked == "among_best"
        by_factor = ("better", "as_good", "not_worse", "trend")
        elsewhere = {self.along, *self.across, *self.mean_over} - {None}
        return (
            (bool(self.than) and not compares, f"than goes with {', '.join(COMPARISONS)}"),
            (bool(self.of) and asked not in BOUNDS, f"of goes with {', '.join(BOUNDS)}"),
            (bool(self.across) and not compares, "across goes with a comparison"),
            (
                self.along is not None and not (compares or asked == "trend"),
                "along goes with trend and with a comparison",
            ),
            (
                bool(self.by) and not (compares or asked == "trend"),
                "by goes with trend and with a comparison",
            ),
            (
                self.times is not None and asked not in by_factor,
                f"times goes with {', '.join(by_factor)}",
            ),
            (self.times is not None and bool(self.by), "give by or times"),
            (
                self.times is not None and compares and self.along is not None,
                "times asks for a ratio of values, not of slopes: give by with along",
            ),
            (
                self.times is not None and compares and self.over == "average",
                "times is decided cell by cell: give another over than average",
            ),
            (
                alone and (self.over == "average" or bool(self.mean_over)),
                "among_best needs over: all, most or so, and no mean_over",
            ),
            (alone and self.compare != "method", "among_best compares methods only"),
            (self.compare in elsewhere, f"{self.compare} is what is compared: it has no mean"),
            (
                len(elsewhere) < (self.along is not None) + len(self.across + self.mean_over),
                "a label stands in more than one of along, across and mean_over",
            ),
        )

    def _missing(self) -> tuple[tuple[bool, str], ...]:
        least = bool(self.by) or (self.times or 0) > 1
        return (
            (
                self.question in COMPARISONS and not self.than,
                f"{self.question} needs than: what the comparison is with",
            ),
            (self.trend is not None and self.along is None, "trend needs along"),
            (
                self.question == "as_good" and not least,
                "as_good needs by or times: how far behind is as good",
            ),
            (self.question == "close" and not self.by, "close needs by: how far apart is close"),
            (
                self.trend == "flat" and not least,
                "trend: flat needs by or times: which change is none",
            ),
            (
                self.between is not None and not self.between[0] < self.between[1],
                "between needs two numbers, the smaller first",
            ),
        )


class Claim(Section):
    """A sentence of the paper, and the comparison that decides it.

    Attributes
    ----------
    says : str
        The sense of the sentence.
    section : str
        Where the paper says it.
    check : Check
    """

    says: Annotated[str, Field(min_length=1)]
    section: str = ""
    check: Check
