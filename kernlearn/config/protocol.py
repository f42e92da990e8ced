"""The section `protocol` of a config."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kernlearn.config.checks import Count, Fraction, Section
from kernlearn.config.entries import Scaling


class Protocol(Section):
    """How the data is split and scaled and how parameters are chosen."""

    splits: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=5, description="number of random divisions into a training and a test part"
    )
    train: Fraction = Field(default=0.6, description="share of the rows that is trained on")
    folds: Literal["published"] | Annotated[int, Field(ge=3)] | None = Field(
        default=None,
        description="cross-validation instead of random splits: the number of folds, or those "
        "published with the data set; fold k is the test part, the one before it is held out. "
        "With a multiple of as many splits the folds are drawn anew after each round",
    )
    max_train: Count | None = Field(
        default=None, description="most rows of the training part; a random sample of more"
    )
    max_test: Count | None = Field(default=None, description="the same of the test part")
    scale: list[Scaling] = Field(
        default=[], description="scalings in their order, learnt on the training part"
    )
    scale_target: Literal["max_abs", "zscore"] | None = Field(
        default=None, description="scaling of real targets, learnt on the training part"
    )
    validation: Fraction = Field(
        default=0.2, description="share of the training part that `select` validates on"
    )
    holdout: Fraction | None = Field(
        default=None,
        description="share of all rows that is held out to choose parameters: methods are then "
        "fitted on the whole training part",
    )
    select_by_mean: Literal[True] | None = Field(
        default=None,
        description="choose the parameters under `select` once, by their mean score over all "
        "splits, instead of separately on each split",
    )
    compare_once: Literal[True] | None = Field(
        default=None,
        description="compare all pairs of points of a data set once by each similarity that is "
        "slow to compute, and keep the values: see docs/configs.md",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        default=0, description="what all random numbers of the experiment come from"
    )
    threads: Count = Field(default=1, description="number of threads of a trial")

    @model_validator(mode="after")
    def _leaves_a_test_part(self) -> "Protocol":
        if isinstance(self.folds, int) and self.splits > self.folds and self.splits % self.folds:
            raise ValueError(f"{self.folds} folds make {self.folds} splits, or a multiple of it")
        if self.folds == "published" and (self.max_train or self.max_test):
            raise ValueError("published folds are taken whole: leave out max_train and max_test")
        if self.folds is not None and self.holdout is not None:
            raise ValueError("with folds one of them is held out: leave out holdout")
        if self.holdout is not None and self.train + self.holdout >= 1:
            raise ValueError("train and holdout together must leave a test part: less than 1")
        return self
