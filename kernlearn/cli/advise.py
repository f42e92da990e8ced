"""The command ``advise``: which method to use for a data set, measured in a given time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import datasets
from kernlearn.cli import new_config, options
from kernlearn.cli.samples import refuse_objects
from kernlearn.exceptions import ConfigError, DataError

if TYPE_CHECKING:
    from kernlearn.advice import Advice, Verdict
    from kernlearn.advice.measuring import Round

_TASKS = ("classification", "regression")
_MISSING = ("drop", "mean", "most_frequent", "error")
# Processes of which each has a copy of the data.
_MOST_JOBS = 8
# Share of the largest class above which accuracy says little.
_UNBALANCED = 0.8


def advise(
    data: Annotated[
        str,
        Argument(
            metavar="DATA", help="A data file, a card, or the name of a data set of the catalogue."
        ),
    ],
    target: new_config.Target = None,
    task: Annotated[
        str | None,
        Option(help="classification or regression.", show_default="as the target says"),
    ] = None,
    missing: Annotated[
        str | None,
        Option(
            help="Rows with missing entries: drop, mean, most_frequent or error.",
            show_default="drop, or as the data's card says",
        ),
    ] = None,
    sheet: new_config.Sheet = None,
    time: Annotated[float, Option(min=1, help="Seconds to measure.")] = 60,
    fit_seconds: Annotated[
        float, Option(min=0, help="The longest fit to accept, in CPU seconds.")
    ] = 600,
    jobs: Annotated[
        int | None,
        Option(min=1, help="Processes that measure.", show_default="as cores, at most 8"),
    ] = None,
    seed: Annotated[int, Option(min=0, help="Random seed.")] = 0,
    output: Annotated[Path, Option(help="Config to write.")] = Path("advised.yaml"),
    force: new_config.Force = False,
    data_dir: options.DataDir = None,
    max_memory: options.MaxMemory = None,
) -> None:
    """Say which method to use for a data set, and write the config that runs it.

    A shortlist of methods is measured on samples of growing size, for as long as --time says.

    \b
    Examples:
      kernlearn advise mine.csv
      kernlearn advise mine.csv --target price --time 300 --output price.yaml
    """  # noqa: D301
    options.check_choice("task", task, _TASKS)
    options.check_choice("missing", missing, _MISSING)
    if output.exists() and not force:
        raise ConfigError(new_config.exists_message(output, "--output"))
    keys = {"target": new_config.column_of(target), "sheet": sheet, "missing": missing}
    bunch = _load(data, task, keys, data_dir)
    classification = len(bunch.target_names) > 0

    from kernlearn import advice
    from kernlearn.experiments.engine.environment import usable_cores

    n_jobs = jobs or min(usable_cores(), _MOST_JOBS)
    _say_size(data, bunch)
    try:
        found = advice.advise(
            bunch.data,
            bunch.target,
            classification=classification,
            seconds=time,
            fit_seconds=fit_seconds,
            n_jobs=n_jobs,
            seed=seed,
            on_round=_say_round,
        )
    except DataError as error:
        raise DataError(f"{data}: {error}") from None
    _say_how(found, n_jobs)
    _show_table(found)
    for sentence in [*_reasons(found, fit_seconds), *_remarks(found)]:
        typer.echo(sentence)
    typer.echo("")
    text = _text(data, output, found, {k: v for k, v in keys.items() if v is not None}, seed)
    new_config.write_config(output, text, data_dir, say_prepared=False)


def _load(data: str, task: str | None, keys: dict[str, Any], data_dir: Path | None) -> Any:
    """Load a data set and say what was done; refuse what advice is not about."""
    nominal: Any = "ordinal" if datasets.is_shipped(data) else "onehot"
    file = new_config.is_file(data) and Path(data).suffix not in (".yaml", ".yml")
    name = new_config.name_of(data)
    known = datasets.task_of(name, target=keys["target"], sheet=keys["sheet"], data_dir=data_dir)
    if known in ("ranking", "similarity"):
        what = {"ranking": "queries with documents", "similarity": "a matrix of similarities"}
        raise DataError(f"{data} is {what[known]}; advice is about points with features")
    suits = "regression" if known == "regression" else "classification"
    if not file and task not in (None, suits):
        raise DataError(f"--task {task}: {data} suits {suits}")
    wanted: Any = (task or suits) if file else None
    bunch = datasets.load(
        name,
        target=keys["target"],
        task=wanted,
        sheet=keys["sheet"],
        missing=keys["missing"],
        nominal=nominal,
        data_dir=data_dir,
    )
    for sentence in bunch.preparation.sentences:
        typer.echo(f"{data}: {sentence}", err=True)
    refuse_objects(data, bunch)
    if known == "ordinal" and len(bunch.target_names):
        typer.echo(f"{data}: its grades are taken as classes", err=True)
    if bunch.preparation.rows_dropped:
        typer.echo(f"{data}: --missing most_frequent fills such entries in instead", err=True)
    return bunch


def _say_size(data: str, bunch: Any) -> None:
    n, d = bunch.data.shape
    names = bunch.target_names
    what = f"{len(names)} classes" if len(names) else "a number to predict"
    typer.echo(f"{data}: {n} rows, {d} features, {what}")


def _say_round(done: "Round") -> None:
    what = "further splits" if done.final else "measured"
    typer.echo(
        f"{what}, trained on {done.size} rows: {done.n_candidates} methods, {done.n_fits} fits, "
        f"{done.seconds:.0f} s",
        err=True,
    )


def _say_how(found: "Advice", n_jobs: int) -> None:
    """Say what was measured, on which rows."""
    problem = found.problem
    sample = len(problem.y)
    part = f" of a random sample of {sample} rows" if sample < problem.n_rows else ""
    typer.echo(
        f"Measured in {found.seconds:.0f} s, {n_jobs} at a time: trained on "
        f"{problem.sizes[0]} to {problem.sizes[-1]} rows{part}, parameters chosen on "
        f"{problem.n_held_out} others, scores from another {problem.n_held_out}."
    )


def _score(found: "Advice", value: float) -> str:
    """Write a score: accuracy in percent, or R²."""
    return f"{100 * value:.1f} %" if found.problem.classification else f"{value:.3f}"


def _measure(found: "Advice") -> str:
    return "accuracy" if found.problem.classification else "R²"


def _interval(found: "Advice", low: float, high: float) -> str:
    return f"{_score(found, low).removesuffix(' %')} to {_score(found, high)}"


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


def _settings(verdict: "Verdict") -> str:
    """Write the parameters that were chosen, without the labels of steps."""
    pairs = (f"{k.rpartition('__')[2]} {_plain(v)}" for k, v in sorted(verdict.settings.items()))
    return ", ".join(pairs)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _show_table(found: "Advice") -> None:
    """Print a row for each candidate that was measured."""
    measure, full = _measure(found), found.problem.n_full
    heads = ("rows", measure, "± 95 %", f"expected at {full}", "fit s there", "predict µs/row")
    table = options.make_table("method", *heads)
    table.add_column("parameters")
    table.add_column("not on more rows because")
    for verdict in found.verdicts:
        score, expected, fit = verdict.score, verdict.full, verdict.fit_seconds
        half = score.interval[1] - score.value
        table.add_row(
            verdict.name,
            str(verdict.rows),
            _score(found, score.value),
            _score(found, half).removesuffix(" %"),
            f"{_score(found, expected.value)} ({_interval(found, expected.low, expected.high)})",
            f"{_number(fit.value)} ({_number(fit.low)} to {_number(fit.high)})",
            _number(1e6 * verdict.predict_seconds),
            _settings(verdict),
            verdict.dropped,
        )
    options.make_console().print(table)


def _reasons(found: "Advice", allowed: float) -> list[str]:
    """Say what to use, and why."""
    chosen, best, measure = found.chosen, found.best, _measure(found)
    expected, fit, full = chosen.full, chosen.fit_seconds, found.problem.n_full
    settings = f" with {_settings(chosen)}" if chosen.settings else ""
    told = [
        f"Use {chosen.name}{settings}: expected {measure} {_score(found, expected.value)} "
        f"({_interval(found, expected.low, expected.high)}) when trained on {full} rows, "
        f"{_share(full, found.problem.n_rows)} of the data; a fit takes {_number(fit.value)} s "
        f"({_number(fit.low)} to {_number(fit.high)}), a prediction "
        f"{_number(1e6 * chosen.predict_seconds)} µs per row."
    ]
    if chosen is best:
        told.append(
            f"It has the best expected {measure} of the methods whose fit takes at most "
            f"{_number(allowed)} s."
        )
    else:
        told.append(
            f"{best.name} has the best expected {measure}, {_score(found, best.full.value)}, and "
            f"cannot be told from it; {chosen.name} predicts faster, in "
            f"{_number(1e6 * chosen.predict_seconds)} instead of "
            f"{_number(1e6 * best.predict_seconds)} µs per row."
        )
    told += [
        f"Not to be told from {best.name}: {tie.verdict.name}, "
        f"{_points(found, abs(tie.difference.value))} "
        f"{'behind' if tie.difference.value >= 0 else 'ahead'} on the same test rows "
        f"(± {_points(found, tie.difference.interval[1] - tie.difference.value)}), trained "
        f"on {tie.rows} rows."
        for tie in found.ties
    ]
    if found.too_slow:
        listed = ", ".join(f"{v.name} ({_number(v.fit_seconds.value)} s)" for v in found.too_slow)
        text = f"A fit is expected to take longer than {_number(allowed)} s with {listed}."
        if chosen in found.too_slow:
            text += f" All do; {chosen.name} is the fastest."
        told.append(text)
    return told


def _points(found: "Advice", value: float) -> str:
    return f"{100 * value:.1f} points" if found.problem.classification else f"{value:.3f}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def _remarks(found: "Advice") -> list[str]:
    """Say how a constant scores, what was not measured, and how the numbers are meant."""
    problem, reference = found.problem, found.problem.reference
    told = []
    if problem.classification:
        told.append(f"For comparison: the largest class alone gives {_score(found, reference)}.")
    else:
        told.append(
            "R² is the share of the target's variance that is explained: the mean alone gives 0, "
            "and the mean squared error relative to the variance is 1 - R²."
        )
    if found.chosen.full.low <= reference:
        told.append("No method is shown to be better than that.")
    if problem.classification and reference > _UNBALANCED:
        told.append(
            "With classes so unequal accuracy says little: see `balanced_accuracy` or `roc_auc` "
            "among the metrics of `kernlearn list`."
        )
    if found.left_out:
        listed = ", ".join(f"{name} ({why})" for name, why in found.left_out.items())
        told.append(f"{len(found.left_out)} left out of the shortlist: {listed}.")
    if found.failed:
        listed = ", ".join(f"{name} ({why})" for name, why in found.failed.items())
        told.append(f"{len(found.failed)} not measured: {listed}.")
    for text, times in found.errors.items():
        told.append(f"{times} fits failed: {text}.")
    told += [
        f"{v.name}: {v.not_converged} of {v.n_fits} fits did not converge."
        for v in found.verdicts
        if v.not_converged
    ]
    told.append(
        "Expected scores continue what the last increase of the rows gained, half as much each "
        "time; their intervals reach up to gains that stay the same. Seconds are CPU seconds on "
        "one thread, by a power of the rows."
    )
    return told


def _text(data: str, output: Path, found: "Advice", keys: dict[str, Any], seed: int) -> str:
    """Return the config."""
    problem, label = found.problem, new_config.label_of(data)
    task = "classification" if problem.classification else "regression"
    metric = "accuracy" if problem.classification else "mse"
    what = {found.chosen.name: "the method to use"}
    if found.runner_up is not None:
        what[found.runner_up.name] = "the runner-up"
    methods = []
    for name, entry in found.methods.items():
        role = what.get(name, "the baseline" if entry.get("baseline") else "a linear method")
        selects = any("select" in str(value) for value in entry.values())
        how = "; what is under select is chosen again, the rest is fixed" if selects else ""
        line = f"  {new_config.quoted(name)}: {new_config.quoted(entry)}"
        methods += [f"  # {role}{how}", line]
    target = [] if problem.classification else ["  scale_target: zscore  # mse is 1 - R²"]
    lines = [
        f"title: {new_config.quoted(f'Methods advised for {label}')}",
        f"task: {task}",
        "",
        "datasets:",
        f"  {label}: {{{new_config.dataset_entry(data, output, keys)}}}",
        "",
        "methods:",
        *methods,
        "",
        "protocol:",
        "  splits: 5                # random, the same for all methods",
        f"  train: {_train_share()}",
        f"  scale: [{problem.scaling}]",
        *target,
        f"  seed: {seed}",
        "",
        f"metrics: [{metric}, fit_seconds, predict_seconds]",
        f"best: {{metrics: [{metric}]}}",
        "",
        "profiles:",
        "  quick: {splits: 2, max_train: 500, max_test: 500}",
        "",
    ]
    return "\n".join(lines)


def _train_share() -> float:
    from kernlearn.advice.samples import TRAIN

    return TRAIN
