"""Open records of experiments: written by ``export``, read by ``merge``."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from kernlearn import experiments
from kernlearn.exceptions import ReportError, StoreError

#: The name of the form among those of ``kernlearn export``.
FORM = "ro-crate"


def export_crate(
    store: "experiments.Store",
    output: Path | None,
    names: Sequence[str],
    configs: Sequence[Path],
    **attributed: str,
) -> None:
    """Write the record of the one experiment of a store that is named, and say what it has.

    `attributed` are the license, author and affiliation.
    """
    from kernlearn.reports.crate import Attribution, write_crate
    from kernlearn.reports.stored import stored_plans

    if output is None:
        raise StoreError(f"--format {FORM}: name a folder, or a .zip file, with --output")
    wanted = {*names, *(path.stem for path in configs)}
    plans, skipped = stored_plans(store, configs=configs)
    there = [plan.experiment.name for plan in plans]
    chosen = [plan for plan in plans if not wanted or plan.experiment.name in wanted]
    if len(chosen) != 1:
        reasons = "".join(
            f"\n  {one.name}: {one.reason}" for one in skipped if not wanted or one.name in wanted
        )
        what = "a record is of one experiment; name it with --experiment"
        raise ReportError(
            f"{store.path}: {what}; there are: {', '.join(there) or 'none'}{reasons}"
        )
    written = write_crate(chosen[0], store, output, Attribution(**attributed))
    typer.echo(
        f"{output}: {chosen[0].experiment.name}, {written.files} files, {written.entities} "
        f"entities, {written.size} bytes"
    )


@contextmanager
def source_store(path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield the store of a source, which may be a record, and the rows of a record left out."""
    from kernlearn.experiments.store import crate_rows

    if crate_rows.is_crate(path):
        with crate_rows.store_of(path) as found:
            yield found
    else:
        yield path, {}


def show_rows_left_out(crate: Path, rows: dict[str, str]) -> None:
    """Say how many rows of a record do not fit, if any, and why the first does not."""
    if rows:
        name, reason = next(iter(rows.items()))
        many = (
            f"{len(rows)} rows do not fit and are"
            if len(rows) > 1
            else "1 row does not fit and is"
        )
        typer.echo(f"kernlearn: {crate}: {many} left out: {name}: {reason}", err=True)
