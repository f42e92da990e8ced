"""The command ``equivalence``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import engine
from kernlearn.cli import options, terminal
from kernlearn.cli.outputs import table_text, write_text
from kernlearn.cli.run import Only
from kernlearn.exceptions import ReportError


def equivalence(
    config: Annotated[str, Argument(help="A config, or the name of an experiment.")],
    control: Annotated[
        str, Option(metavar="METHOD", help="Method that the others are compared with.")
    ],
    margin: Annotated[
        float, Option(help="Difference that does not matter, in units of the metric.")
    ],
    best_of: Annotated[
        list[str],
        Option(
            metavar="METHOD",
            help="Compare the one of these methods that is best on held-out rows, in each split. "
            "Can be repeated.",
        ),
    ] = [],
    metric: Annotated[
        str | None,
        Option(
            metavar="NAME", help="Metric to compare.", show_default="the first that is no time"
        ),
    ] = None,
    only: Only = [],
    output: Annotated[
        Path | None, Option(help="File for the numbers of each data set, CSV.")
    ] = None,
    profile: Annotated[str, Option(help="'full', or a profile that the config defines.")] = "full",
    splits: options.Splits = None,
    option: options.Settings = [],
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
) -> None:
    """Test whether methods are no worse than a control by a margin, paired by split.

    The standard error of each data set is that of the corrected resampled t-test (Nadeau & Bengio
    2003); the mean over data sets is tested by two one-sided t-tests. --only leaves out no method
    that lacks the label.

    \b
    Examples:
      kernlearn equivalence series --control 1-NN --margin 0.01 --only n_landmarks=100
      kernlearn equivalence series --control 1-NN --margin 0.01 --best-of BBS --best-of Nystroem
    """  # noqa: D301
    if not margin > 0:
        raise ReportError(f"--margin {margin:g}: expected a number above 0")
    from kernlearn.engine.plan import chosen_by_mean
    from kernlearn.reports import equivalence as tests
    from kernlearn.reports.rankings import checked_metric
    from kernlearn.reports.summary import direction

    parsed = [engine.parse_only(text) for text in only]

    def wanted(labels: Mapping[str, Any]) -> bool:
        def agrees(match: Mapping[str, Any]) -> bool:
            return all(
                labels.get(key) is None or str(labels[key]) in ([v] if isinstance(v, str) else v)
                for key, v in match.items()
            )

        return not parsed or any(map(agrees, parsed))

    settings = options.with_splits(option, splits)
    loaded = options.load_experiments([config], profile, None, settings, data_dir)
    with options.opened_store(store) as opened:
        (plan,) = options.make_plans(loaded, data_dir, True)
        results = chosen_by_mean(opened.get(trial.key for trial in plan.trials))
    one = plan.experiment.config
    name = checked_metric(one, plan.experiment.name, metric)
    if unknown := [method for method in best_of if method not in one.methods]:
        raise ReportError(f"--best-of {unknown[0]}: no such method in {plan.experiment.name}")
    values = tests.split_values(plan, results, name, wanted)
    if best_of and len(values):
        values = tests.with_chosen(values, best_of)
    found = tests.against_control(values, control, name, direction(name, one), margin)
    for each in found:
        if each.method == tests.CHOSEN:
            _show_datasets(each)
    _show(found)
    if output is not None:
        _write(found, output)


def _show(found: Any) -> None:
    first = found[0]
    table = options.make_table(
        "method",
        "data sets",
        "difference",
        "90 % interval",
        "p (worse)",
        "p (better)",
        "comparisons",
        "of control",
        "shown",
    )
    for one in found:
        frame = one.datasets
        table.add_row(
            one.method,
            str(len(frame)),
            f"{one.difference:+.4f}",
            f"{one.low:+.4f} to {one.high:+.4f}",
            f"{one.p_worse:.2g}",
            f"{one.p_better:.2g}",
            _mean(frame["comparisons"]),
            _mean(frame["control_comparisons"]),
            one.verdict,
        )
    terminal.write_heading(
        f"{first.metric}, against {first.control}, margin {first.margin:g}, α = {first.level:g}"
    )
    options.make_console().print(table)


def _show_datasets(one: Any) -> None:
    table = options.make_table(
        "data set",
        "splits",
        "training rows",
        "difference",
        "standard error",
        "comparisons",
        "of control",
    )
    for dataset, row in one.datasets.iterrows():
        table.add_row(
            str(dataset),
            f"{row.n_splits:.0f}",
            f"{row.n_train:.0f}",
            f"{row.difference:+.4f}",
            f"{row.error:.4f}" if row.n_splits > 1 else "",
            f"{row.comparisons:.1f}",
            f"{row.control_comparisons:.1f}",
        )
    terminal.write_heading(f"{one.method} against {one.control}")
    options.make_console().print(table)
    each = ", ".join(f"{name} {n}" for name, n in one.chosen.items())
    typer.echo(f"chosen in how many splits: {each}")


def _mean(values: Any) -> str:
    return "–" if values.isna().all() else f"{values.mean():.1f}"


def _write(found: Any, output: Path) -> None:
    import pandas as pd

    frame = pd.concat(
        [
            one.datasets.reset_index().assign(method=one.method, control=one.control)
            for one in found
        ]
    )
    write_text(output, table_text(frame, "csv"), f"{len(frame)} rows")
