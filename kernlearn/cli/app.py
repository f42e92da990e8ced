"""The ``kernlearn`` command: run, plan, report, check, compare, forks, export and merge."""

import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from hashlib import sha256
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer
from typer import Argument, Option

import kernlearn
from kernlearn import config as configs
from kernlearn import engine, reports
from kernlearn import store as stores
from kernlearn.checks import duration
from kernlearn.cli import data, init, output
from kernlearn.cli.output import option
from kernlearn.exceptions import ConfigError, KernlearnError, ReportError, StoreError, SummaryError

app = typer.Typer(
    name="kernlearn",
    help="Run experiments on kernel methods, and report and compare their results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for help texts takes longer than all else
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)

Configs = Annotated[list[str], Argument(metavar="CONFIG", help="YAML files, or shipped names.")]
AllConfigs = Annotated[list[str] | None, Argument(metavar="CONFIG", help="By default all.")]
Profile = Annotated[str, option("A smaller version that the config defines.", "NAME")]
Settings = Annotated[
    list[str], option("Set a value of the config; repeatable.", "KEY=VALUE", "-o", "--option")
]
Only = Annotated[list[str], option("Trials with these labels; repeatable.", "LABEL=VALUE,...")]
Store = Annotated[Path, option("Results, by default results/runs/store.sqlite.", "FILE")]
Available = Annotated[bool, option("Leave out data that is missing.", None, "--available")]
Jobs = Annotated[int, option("Trials at a time, by default 1.", "N", "--jobs", "-j", min=1)]

STORE = Path("results/runs/store.sqlite")
SITE = Path("results/site")
BASELINE = Path("results/baseline")
#: Distinct errors, and conflicts of a merge, that are shown.
SHOWN = 5


@app.command()
def run(
    configs: Configs,
    profile: Profile = "full",
    settings: Settings = [],
    only: Only = [],
    jobs: Jobs = 1,
    scheduler: Annotated[str | None, option("Dask: tcp://HOST:PORT, or local.", "ADDRESS")] = None,
    timeout: Annotated[float | None, option("Time limit of a trial.", "SEC", min=0.001)] = None,
    memory: Annotated[float | None, option("Memory limit of a trial.", "GB", min=0.001)] = None,
    allow_contention: Annotated[
        bool, option("Measure times though trials share cores.", None, "--allow-contention")
    ] = False,
    retry_failed: Annotated[bool, option("Run failures again.", None, "--retry-failed")] = False,
    force: Annotated[bool, option("Run what is done again.", None, "--force")] = False,
    available: Available = False,
    no_report: Annotated[bool, option("Write and print no report.", None, "--no-report")] = False,
    store: Store = STORE,
) -> None:
    """Run experiments (only what is not stored yet), and report.

    Example: kernlearn run mine.yaml --jobs 4 --only dataset=letter,method=K
    """
    choice = replace(_choice(only), retry_failed=retry_failed, force=force)
    plans = engine.make_plans(_load(configs, profile, settings), available, choice)
    plans = [replace(plan, trials=choice.of(plan)) for plan in plans]
    _show_preparations(plans)
    failed, progress = 0, cast(Any, output.Progress())
    limits: Any = {"timeout": timeout, "memory": None if memory is None else int(memory * 2**30)}
    try:
        with (
            engine.Interrupts().caught(),
            stores.Store(store) as opened,
            closing(engine.make_executor(jobs=jobs, scheduler=scheduler, **limits)) as executor,
        ):
            for plan in plans:
                outcome = engine.run_plan(
                    plan,
                    opened,
                    executor=executor,
                    choice=replace(choice, only=()),  # the plan has what it allows
                    allow_contention=allow_contention,
                    listener=progress,
                )
                errors = outcome.errors
                failed += errors.total()
                if errors and errors.total() == outcome.total:
                    (error, n), name = errors.most_common(1)[0], plan.experiment.name
                    typer.echo(f"{name}: all {outcome.total} trials failed, {n} with: {error}")
                elif not no_report:
                    result = reports.assemble(plan, opened)
                    _show_report(result, _folder(store), False, choice.only)
    except KeyboardInterrupt:
        done = f"What is done is in {store}; the same command goes on from there."
        typer.echo(f"Stopped. {done}", err=True)
        raise typer.Exit(130) from None
    if failed:
        raise typer.Exit(1)


@app.command()
def plan(
    configs: Configs,
    profile: Profile = "full",
    settings: Settings = [],
    only: Only = [],
    check_all: Annotated[
        bool, option("Check all profiles and forks, too.", None, "--all")
    ] = False,
    no_try: Annotated[bool, option("Do not try methods.", None, "--no-try")] = False,
    store: Store = STORE,
) -> None:
    """Check configs, and show what is stored and what would run.

    Each method of a config of your own is tried on 50 rows of each data set.

    Example: kernlearn plan table4_2
    """
    from kernlearn.config.read import check_variants, shipped_name
    from kernlearn.engine.run import FEW, try_methods

    choice = _choice(only)
    experiments = _load(configs, profile, settings)
    for experiment in experiments if check_all else ():
        check_variants(experiment)
    existing = stores.Store(store, read_only=True) if store.exists() else nullcontext()
    with existing as opened:
        failures = dict[str, str]()
        for plan in engine.make_plans(experiments, True, choice):
            _show_plan(plan, opened, choice)
            if not (no_try or shipped_name(plan.experiment.path)):
                typer.echo(f"  trying each method on {FEW} rows; --no-try leaves it")
                found = try_methods(replace(plan, trials=choice.of(plan)))
                failures |= found
                for place, error in found.items():
                    output.show_wrapped(f"  fails: {place}: {error}", 4)
    if failures:
        raise typer.Exit(1)


@app.command()
def report(
    configs: AllConfigs = None,
    profile: Annotated[
        str | None, option("By default full, else the one with most results.", "NAME")
    ] = None,
    settings: Settings = [],
    summaries: Annotated[
        Path | None, option("Read summaries instead of a store.", "DIR", "--from")
    ] = None,
    rows: Annotated[Path | None, option("A table of any program's results.", "FILE")] = None,
    store: Store = STORE,
    folder: Annotated[Path | None, option("Folder to write to.", "DIR", "--output")] = None,
    summary: Annotated[Path | None, option("Also write summaries (CSV, JSON).", "DIR")] = None,
    whole: Annotated[bool, option("Print whole tables.", None, "--all")] = False,
) -> None:
    """Write pages of stored results, or of another program's.

    Without CONFIG this is a site of all experiments, in results/site. With CONFIG it is a page for
    each, next to the store, and tables on the terminal. --rows takes CSV, Parquet or Excel files.
    Their columns are dataset, method, metric, split and value, or benchopt's.

    Example: kernlearn report mine.yaml --rows results.csv
    """
    from kernlearn.datasets.formats import read_frame
    from kernlearn.reports.answers import totals
    from kernlearn.reports.page import write_map
    from kernlearn.reports.report import read_reports

    names = configs or []
    if summaries is not None and (rows is not None or profile or settings):
        raise ReportError("--from goes without --rows, --profile and -o, which summaries have")
    loaded = _load(names, profile or "full", settings)
    if summary is not None and len({one.name for one in loaded}) < len(loaded):
        raise ReportError("two configs have the same name, by which summaries are found")
    skipped: Any = []
    if rows is not None:
        if len(loaded) != 1:
            raise ReportError(f"--rows {rows}: name the one config that they are results of")
        found = [reports.report_rows(loaded[0], read_frame(rows))]
    elif summaries is not None:
        found, skipped = read_reports(summaries, names)
    else:
        with stores.Store(store, read_only=True) as opened:
            if names:
                plans = engine.make_plans(loaded, True)
                if profile is None and not settings:
                    plans = [_as_stored(plan, opened) for plan in plans]
            else:
                plans, skipped = stored_plans(opened, profile, settings)
            found = [reports.assemble(plan, opened) for plan in plans]
    if not found:
        reasons = "".join(f"\n  {one.name}: {one.reason}" for one in skipped)
        raise ReportError(f"{summaries or store}: nothing to show{reasons}")
    if summary is not None:
        for one in found:
            reports.write_summary(one, summary)
        # with the summaries that were there
        everything = {one.experiment.name: one for one in [*read_reports(summary)[0], *found]}
        write_map(everything.values(), summary / "map.svg")
    if names:
        default = _folder(store) if rows is None and summaries is None else SITE
        for one in found:
            _show_report(one, folder or default, whole)
        return
    index = reports.write_site(found, folder or SITE, skipped=skipped)
    for one in found:
        done, trials = one.details.done, one.details.trials
        typer.echo(f"{one.experiment.name}: profile {one.run_as}, {done} of {trials} trials")
    for one in skipped:
        typer.echo(f"{one.name}: not shown: {one.reason}")
    for sentence in totals(found).in_words():
        output.show_wrapped(sentence, 2)
    typer.echo(f"Site: {index}")


def _most_run(ended: Mapping[Any, Mapping[Any, int]]) -> Any:
    """Return the profile and settings with most finished trials, None if no trial is finished.

    Of equals it is the one with the fewest settings.
    """
    done = [way for way, errors in ended.items() if errors[None]]
    return min(done, key=lambda way: (-ended[way][None], len(way[1])), default=None)


def _as_stored(plan: "engine.Plan", store: stores.Store) -> "engine.Plan":
    """Return a plan, or that of the profile with most results if the store has none of its own."""
    way = _most_run(store.experiments().get(plan.experiment.name, {}))
    if way is None or store.states(trial.key for trial in plan.trials):
        return plan
    profile, settings = way
    typer.echo(f"{plan.experiment.name}: {', '.join([f'profile {profile}', *settings])}")
    loaded = configs.load_config(plan.experiment.path, profile=profile, settings=settings)
    return engine.make_plan(loaded, available=True)


def stored_plans(
    store: stores.Store, profile: str | None = None, settings: Sequence[str] = ()
) -> tuple[list[Any], list[Any]]:
    """Plan every experiment that a store has results of, with a config here or of kernlearn.

    By default profile and settings are those with the most trials in the store. Beside the plans
    come experiments that are not shown, and profiles and settings of which all trials failed.
    """
    from kernlearn.config.read import shipped_configs
    from kernlearn.reports.report import NO_CONFIG, Skipped

    known = {**{path.stem: path for path in Path().glob("*.yaml")}, **shipped_configs()}
    plans, skipped = [], []
    for name, ended in store.experiments().items():
        asked = {way: errors for way, errors in ended.items() if profile in (None, way[0])}
        failed = {way: errors for way, errors in asked.items() if not errors[None]}
        for way, errors in failed.items():
            called, ((error, _),) = ", ".join([name, way[0], *way[1]]), errors.most_common(1)
            text = f"all {errors.total()} trials failed, such as by {error}"
            skipped.append(Skipped(called, text))
        if asked and len(failed) == len(asked):
            continue
        of_profile, more = _most_run(asked) or (profile or "full", ())
        try:
            if name not in known:
                raise ConfigError(NO_CONFIG)
            changes = settings or more
            loaded = configs.load_config(known[name], profile=of_profile, settings=changes)
            plan = engine.make_plan(loaded, available=True)
            if not store.states(trial.key for trial in plan.trials):
                reason = "it was run with an older config, other settings or another profile"
                if plan.left_out:
                    reason = f"data not found here: {', '.join(plan.left_out)}"
                raise ConfigError(f"the store has none of its trials; {reason}")
            plans.append(plan)
        except ConfigError as error:
            skipped.append(Skipped(name, str(error)))
    return plans, skipped


@app.command()
def check(
    configs: AllConfigs = None,
    against: Annotated[Path, option("By default results/baseline.", "DIR")] = BASELINE,
    profile: Annotated[str, option("Their profile, by default quick.", "NAME")] = "quick",
    settings: Settings = [],
    available: Available = False,
    strict: Annotated[bool, option("Let no digit move.", None, "--strict")] = False,
    summaries: Annotated[
        Path | None, option("Check summaries alone, without a store.", "DIR", "--from")
    ] = None,
    store: Store = STORE,
) -> None:
    """Compare the results in a store with earlier summaries.

    The exit code is 1 if a number moved further than between processors
    (configs/processors.csv) or a cell is missing; if versions of estimators or the paper's numbers
    are others; and for a full run if an outcome or an answer is. Times are not compared.

    Example: kernlearn check --from results/measured
    """
    from kernlearn.reports import check as rules

    if summaries is not None:
        _check_summaries(summaries, configs or [])
        return
    if not configs:
        raise ReportError("name the configs to compare, or check summaries alone by --from DIR")
    failed, errors = False, []
    with stores.Store(store, read_only=True) as opened:
        for plan in engine.make_plans(_load(configs, profile, settings), available):
            try:
                frame, texts = rules.check_plan(plan, opened, against, strict=strict)
            except KernlearnError as error:
                errors.append(str(error))
                continue
            counts = frame["outcome"].value_counts()
            outcomes = ", ".join(f"{counts[o]} {o}" for o in rules.OUTCOMES if o in counts)
            typer.echo(f"{plan.experiment.name}: {len(frame)} cells: {outcomes}")
            failures = frame[frame["outcome"].isin(rules.FAILURES)]
            texts = [*(rules.failure_text(row) for _, row in failures.iterrows()), *texts]
            failed |= bool(texts)
            for text in texts:
                typer.echo(f"  {text}")
    if errors:
        errors.append(f"`kernlearn report CONFIG --summary {against}` writes a summary")
        raise SummaryError("\n".join(errors))
    if failed:
        typer.echo("If this is intended, `kernlearn report --summary` writes a new baseline.")
        raise typer.Exit(1)


def _check_summaries(folder: Path, names: Sequence[str]) -> None:
    """Hold summaries against the code, the papers' numbers and the answers."""
    from kernlearn.reports import answers
    from kernlearn.reports.check import stale
    from kernlearn.reports.report import read_reports

    found, skipped = read_reports(folder, names)
    known = {one.experiment.name: one for one in found}
    sentences = [sentence for one in found for sentence in answers.answer(one)]
    for paper in answers.papers():
        sentences += answers.concluded(paper.conclusions, known)
    texts = [f"{name}: {text}" for name, one in known.items() for text in stale(one)]
    texts += [f"{one.says!r}: {text}" for one in sentences for text in one.changes]
    texts += [f"{one.name}: {one.reason}" for one in skipped]
    for text in texts:
        typer.echo(text)
    typer.echo(f"{len(found)} summaries, {len(sentences)} sentences: {len(texts) or 'no'} faults")
    if texts:
        raise typer.Exit(1)


@app.command()
def compare(
    config: Annotated[str, Argument(metavar="CONFIG", help="A YAML file, or a shipped name.")],
    methods: Annotated[list[str] | None, Argument(metavar="METHOD", help="Default: all.")] = None,
    metric: Annotated[str | None, option("By default the first that is no time.", "NAME")] = None,
    control: Annotated[str | None, option("Compare with it, not the best.", "METHOD")] = None,
    margin: Annotated[float | None, option("A negligible difference.", "X", min=0)] = None,
    only: Only = [],
    profile: Profile = "full",
    settings: Settings = [],
    store: Store = STORE,
) -> None:
    """Compare the methods of an experiment, and say which is best.

    With --margin, two one-sided tests show which methods are not worse.

    Example: kernlearn compare table4_2 BBS FTUNE-S --only n_landmarks=30
    """
    from kernlearn.config.names import limits
    from kernlearn.reports import ranks as rules
    from kernlearn.reports.report import plugin_changes
    from kernlearn.reports.rows import stored_rows
    from kernlearn.reports.verdicts import direction

    (plan,) = engine.make_plans(_load([config], profile, settings), True)
    of_plan, name = plan.experiment.config, plan.experiment.name
    metric = rules.ranking_metric(of_plan, name, metric)
    if margin is not None and margin >= 1 == limits(metric)[1]:
        problem = f"--margin {margin:g}: {metric} is between 0 and 1"
        raise ReportError(f"{problem}; write {margin / 100:g} for {margin:g} points")
    choice = _choice(only)
    asked = dict.fromkeys(trial.labels["method"] for trial in choice.of(plan))
    with stores.Store(store, read_only=True) as opened:
        results = stored_rows(plan, opened)
    if (done := sum(row.done for row in results.values())) < len(plan.trials):
        typer.echo(f"{done} of {len(plan.trials)} trials are measured; others do not count")
    for change in plugin_changes(plan, results.values()):
        typer.echo(change)
    values = rules.method_values(plan, results, metric, choice.only)
    if lacking := asked.keys() - {*values["name"]}:
        names = ", ".join(sorted(lacking))
        output.show_wrapped(f"methods without numbers of {metric}: {names}", 2)
    if methods:
        named = [*methods, *filter(None, [control])]
        if unknown := {*named} - {*values["name"], *values["method"]}:
            raise ReportError(f"{name}: no numbers of a method {min(unknown)!r}")
        values = values[values["method"].isin(named) | values["name"].isin(named)]
    better = direction(metric, of_plan)
    result = rules.compare_methods(values, better, control=control, margin=margin)
    baselines = [k for k, m in of_plan.methods.items() if m.baseline and k in result.table.index]
    level = [  # each is a control that was named before
        one
        for one in baselines
        if control is None
        and "better" not in {*rules.compare_methods(values, better, control=one).table["outcome"]}
    ]
    output.show_comparison(result, f"{name}: {metric}", control, margin, level)
    if control is None and not level and (labels := _labels_of(plan, choice, result.control)):
        others = [f"{k}={v!r}" for k, v in labels.items() if k != "method"]
        call = ", ".join([repr(config), repr(result.control), *others])
        place = f"kernlearn.engine.fit_method({call})"
        output.show_wrapped(f"For new rows: {place} fits it to all rows of the data", 2)


def _labels_of(plan: Any, choice: Any, method: str) -> dict[str, Any]:
    """Return what tells the only chosen cell of a method from its others; nothing of several."""
    own = [t.labels for t in plan.trials if t.labels["method"] == method]
    chosen = {(*t.labels.items(),) for t in choice.of(plan) if t.labels["method"] == method}
    if len(chosen) != 1:
        return {}
    several = [k for k in own[0] if len({labels[k] for labels in own}) > 1]
    return {k: v for k, v in dict(*chosen).items() if k in several or k == "method"}


@app.command()
def forks(
    configs: AllConfigs = None,
    jobs: Jobs = 1,
    no_run: Annotated[bool, option("Run nothing; use what is stored.", None, "--no-run")] = False,
    available: Available = False,
    store: Store = STORE,
    summary: Annotated[Path | None, option("Also write forks.csv to this folder.", "DIR")] = None,
) -> None:
    """Show what the alternatives to choices in the configs would give.

    A config lists under `forks` the choices that agree with a paper's numbers. Each
    alternative is run, and its verdicts are counted over the reported numbers that all
    alternatives have measured. An alternative whose data are missing is left out.

    Example: kernlearn forks table3_1 --no-run
    """
    import pandas as pd

    from kernlearn.config.plan import fork_plans
    from kernlearn.config.read import shipped_configs
    from kernlearn.reports.rows import splits_of, stored_rows
    from kernlearn.reports.tables import csv_text
    from kernlearn.reports.verdicts import VERDICTS, compare_branches

    names = configs or list(shipped_configs())
    found, progress = list[pd.DataFrame](), cast(Any, output.Progress())
    opened = stores.Store(store, read_only=no_run)
    with opened, closing(engine.make_executor(jobs=jobs)) as executor:
        for experiment in _load(names, "full", []):
            for fork in experiment.config.forks:
                summaries = {}
                for branch, plan, lacking in fork_plans(experiment, fork, available):
                    if lacking:
                        typer.echo(
                            f"{experiment.name}: {fork.choice}: the alternative {branch} is left "
                            f"out, data not found: {', '.join(lacking)}"
                        )
                        continue
                    if not no_run:
                        engine.run_plan(plan, opened, executor=executor, listener=progress)
                    splits = splits_of(plan, stored_rows(plan, opened))
                    cells = reports.summarise(splits, plan.experiment)
                    n_splits = plan.experiment.config.protocol.splits
                    summaries[branch] = cells[~(cells["n_splits"] < n_splits)]
                found.append(compare_branches(experiment.name, fork, experiment.config, summaries))
    if not found:
        typer.echo("These configs state no forks.")
        return
    table = pd.concat(found)
    measured = [verdict for verdict in VERDICTS if verdict in table]
    heads = ["experiment", "choice", "branch", "numbers", *measured, "deviation"]
    texts = table.assign(deviation=table["deviation"].map("{:.2f}".format))[heads].astype(str)
    output.show_table(heads, texts.replace(["0", "nan"], "·").to_numpy().tolist(), left=3)
    typer.echo("deviation: median distance from the reported numbers, in tolerances")
    if summary is not None:
        text = csv_text(table, float_format="%.4g")
        output.write_text(summary / "forks.csv", text, f"{len(table)} branches")


@app.command()
def export(
    file: Annotated[Path | None, option("The suffix sets the format.", "FILE", "--output")] = None,
    experiment: Annotated[list[str], option("Only this one; repeatable.", "NAME")] = [],
    store: Store = STORE,
) -> None:
    """Export a store as a table, by default CSV to stdout.

    It has a row for each trial and metric. Files are .csv or .parquet; a .zip has one experiment
    with its config, plug-ins, cards and rows, to go on with elsewhere.

    Example: kernlearn export --output numbers.csv
    """
    from kernlearn.reports.rows import stored_splits, write_archive
    from kernlearn.reports.tables import csv_text

    form = ".csv" if file is None else file.suffix.lower()
    if form not in (".csv", ".parquet", ".zip"):
        raise StoreError(f"{file}: expected a name in .csv, .parquet or .zip")
    if form == ".zip" and len(experiment) != 1:
        raise StoreError(f"{file}: name one config with --experiment")
    with stores.Store(store, read_only=True) as opened:
        if file is not None and form == ".zip":
            (plan,) = engine.make_plans(_load(experiment, "full", []), True)
            count = write_archive(_as_stored(plan, opened), opened, file)
            typer.echo(f"{file}: {count} trials")
            return
        rows = stored_splits(opened, experiment)
        if experiment:
            text = "without trials that another config ran first, and with the labels of that time"
            typer.echo(f"{text}; `kernlearn report CONFIG` writes all to splits.csv", err=True)
    if file is None:
        typer.echo(csv_text(rows), nl=False)
    elif form == ".csv":
        output.write_text(file, csv_text(rows), f"{len(rows)} rows")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        rows.to_parquet(file, index=False)
        typer.echo(f"{file}: {len(rows)} rows")


@app.command()
def merge(
    paths: Annotated[list[Path], Argument(metavar="SRC... DEST", help="Files of stores.")],
) -> None:
    """Merge stores into another one.

    It is created if it does not exist. Where both have a trial with other numbers, those of the
    destination stay, and the exit code is 1.

    Example: kernlearn merge laptop.sqlite server.sqlite all.sqlite
    """
    *sources, destination = paths
    if not sources:
        raise StoreError("merge: expected at least one source and the store to merge into")
    conflicts = 0
    for source in sources:
        with stores.Store(source, read_only=True) as theirs, stores.Store(destination) as ours:
            summary = ours.merge(theirs)
        conflicts += len(summary.conflicts)
        typer.echo(
            f"{source} into {destination}: {summary.added} trials added, {summary.same} the same, "
            f"{len(summary.conflicts)} in conflict"
        )
        for one in summary.conflicts[:SHOWN]:
            typer.echo(f"  conflict: {one.experiment} {one.key[:10]} {one.labels}")
    if conflicts:
        raise typer.Exit(1)


app.command()(init.init)
app.command("list")(data.show_names)
app.add_typer(data.app, name="datasets")


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(kernlearn.__version__)
        raise typer.Exit


@app.callback()
def _root(
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del debug, version  # --version acts in its callback, --debug in main()


def main() -> None:
    """Run the command; a user's error is one message on standard error and exit code 2."""
    for number in range(3):  # a file that is opened later must not take the place of a closed one
        with suppress(OSError):
            os.fstat(number)
            continue
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):  # which write ? for what their encoding lacks
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
        sys.stdout.flush()
    except KernlearnError as error:
        _fail(error, str(error))
    except MemoryError as error:
        _fail(error, str(error) or "more memory is needed than there is")
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        _fail(error, f"{error.filename or 'output'}: {error.strerror or error}")


def _fail(error: Exception, message: str) -> NoReturn:
    if "--debug" in sys.argv:
        raise error
    typer.echo(f"kernlearn: {message}", err=True)
    raise SystemExit(2) from None


def _choice(only: Sequence[str]) -> "engine.Choice":
    return engine.Choice(tuple(map(engine.parse_only, only)))


def _load(names: Sequence[str], profile: str, settings: Sequence[str]) -> list[Any]:
    """Load all configs before anything runs; one error has those of all configs."""
    loaded, errors = [], []
    for name in names:
        try:
            loaded.append(configs.load_config(name, profile=profile, settings=settings))
        except ConfigError as error:
            errors.append(str(error))
    if errors:
        raise ConfigError("\n".join(errors))
    return loaded


def _folder(store: Path) -> Path:
    """Return the folder of the reports of a store: those of another one stay as they are."""
    return store.parent / ("" if store.stem == STORE.stem else f"{store.stem}_reports")


def _show_report(
    result: "reports.Report",
    folder: Path,
    whole: bool,
    only: Sequence[Mapping[str, Sequence[str]]] = (),
) -> None:
    """Write and print the report of an experiment, in a folder of its own."""
    chosen = [", ".join(f"{k}={'+'.join(v)}" for k, v in one.items()) for one in only]
    result.details.remarks[:0] = [f"only {one}" for one in chosen]
    output.show_report(result, None if whole else output.MOST_LINES)
    place = folder / _report_folder(result.experiment, only)
    typer.echo(f"Report: {reports.write_report(result, place)}")


def _report_folder(experiment: Any, only: Sequence[Mapping[str, Sequence[str]]]) -> str:
    """Return the folder of a report among those of a store.

    It is named by the place of the config in the working folder, since others may have its name,
    and by its profile, settings and chosen trials.
    """
    from kernlearn.config.read import shipped_name

    path = experiment.path.resolve()
    is_shipped = shipped_name(path) is not None
    parts = [experiment.name if is_shipped else os.path.relpath(path.with_suffix(""))]
    parts += [experiment.profile] if experiment.profile != "full" else []
    parts += experiment.settings
    parts += [f"{key}={'+'.join(values)}" for match in only for key, values in match.items()]
    exact = "@".join(parts)
    name = re.sub(r"[^\w.=+@-]+", "_", exact)[:80]
    return name if name == exact else f"{name}-{sha256(exact.encode()).hexdigest()[:6]}"


def _show_preparations(plans: "Sequence[engine.Plan]") -> None:
    """Print what was dropped, coded or filled in of each data set, once."""
    from kernlearn.reports.cells import reported_numbers

    done = [(label, *one) for plan in plans for label, one in plan.preparations.items()]
    for label, *sentences in dict.fromkeys(done):
        for sentence in sentences:
            output.show_wrapped(f"{label}: {sentence}", 2)
    for plan in plans:
        name = plan.experiment.name
        if omitted := reported_numbers(plan.experiment.config)[1]:
            output.show_wrapped(f"{name}: {omitted}", 2)
        if plan.left_out:
            advice = f"`kernlearn datasets fetch --for {name}` gets what is published"
            output.show_wrapped(f"{name}: data missing: {', '.join(plan.left_out)}; {advice}", 2)
        if plan.not_installed:
            typer.echo(f"{name}: methods not installed: {', '.join(plan.not_installed)}")


def _kind_of_splits(protocol: Any) -> str:
    """Return how many splits there are and how they are made."""
    kept = "" if protocol.refit else ", one held out"
    kinds = [f"{protocol.folds} folds, one tested{kept}" if protocol.folds else "random"]
    if protocol.time is not None:
        gap = f", {protocol.gap} times after" if protocol.gap else ""
        kinds = [f"tested on later rows by {protocol.time}{gap}"]
    if protocol.groups is not None:
        kinds.append(f"groups by {protocol.groups}")
    if protocol.stratify:
        kinds.append("stratified")
    return ", ".join([str(protocol.splits), *kinds])


def _show_plan(plan: "engine.Plan", store: "stores.Store | None", choice: "engine.Choice") -> None:
    """Print what an experiment compares, and the state of its trials."""
    from kernlearn.datasets.files import shipped
    from kernlearn.reports.rows import read_details

    config, name = plan.experiment.config, plan.experiment.name
    trials = choice.of(plan)
    known = {} if store is None else store.states(trial.key for trial in trials)
    done = known.values()
    output.show_wrapped(f"{name}: {config.title} (profile {plan.experiment.profile})", 2)
    facts = {
        "task": config.task.replace("_", " "),
        "data": ", ".join(label for label in config.datasets if label not in plan.left_out),
        "kernels": ", ".join(config.kernels),
        "methods": ", ".join(config.methods),
        "splits": _kind_of_splits(config.protocol),
        "metrics": ", ".join(config.metrics),
    }
    output.show_facts({fact: text for fact, text in facts.items() if text}, "  ")
    _show_preparations([plan])
    left, time = len(trials) - len(done), "time unknown until the first have run"
    measured = shipped("reported").parent / "measured"  # in a checkout
    if (measured / f"{name}.json").is_file() and not plan.experiment.indicative:
        details = read_details(name, measured)
        seconds = left * details.trial_seconds / max(details.trials, 1)
        time = f"about {duration(seconds)} one at a time, as when it was last measured"
    if done:
        seconds = left * sum(state.seconds for state in done) / len(done)
        time = f"about {duration(seconds)} one at a time, if as long as those"
    errors = Counter(state.error for state in done if not state.done)
    counts = f"{len(done) - errors.total()} in the store, {errors.total()} failed, {left} to run"
    text = f"  {len(trials)} trials: {counts}{f' ({time})' if left else ''}"
    output.show_wrapped(text, 4)
    if not done and store is not None and (others := store.count(name)):
        text = f"{others} trials of {name} with other data, settings or versions"
        output.show_wrapped(f"  the store has {text}", 4)
    for error, count in errors.most_common(SHOWN):
        typer.echo(f"  failed, {count} times: {error}")
