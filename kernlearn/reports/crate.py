"""An experiment as an open record: a Workflow Run RO-Crate, a folder or an archive of one.

https://www.researchobject.org/workflow-run-crate/ describes the profile. The same store gives the
same bytes, with the same kernlearn and packages: its date is that of the last trial.
"""

import zipfile
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from kernlearn.config.read import shipped_name
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import ReportError
from kernlearn.lazy import needed_by
from kernlearn.reports.crate_content import Content, Execution, gather
from kernlearn.reports.replacing import replacing
from kernlearn.store import Store
from kernlearn.version import __version__

_HOME = "https://github.com/kernlearn/kernlearn"
#: What stands for a licence that is not known.
NO_LICENSE = "No licence is stated."

_RUN_TERMS = "https://w3id.org/ro/terms/workflow-run/context"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
_FORMATS = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
}
# The first date that an archive can state.
_DATE = (1980, 1, 1, 0, 0, 0)
# What the runs have made; the rest of the files describes them.
_RESULTS = ("numbers.csv", "verdicts.csv", "claims.json")


@dataclass(frozen=True)
class Written:
    """A record that was written: its files, the entities that describe them, and its bytes."""

    files: int
    entities: int
    size: int


@dataclass(frozen=True)
class Attribution:
    """Whose a record is, and under which licence; empty where it is not known.

    Attributes
    ----------
    license : str
        Address or name of the licence of the record.
    author : str
        Name of who ran the experiment.
    affiliation : str
        Name of the author's organisation, which publishes the record.
    """

    license: str = ""
    author: str = ""
    affiliation: str = ""


def write_crate(
    plan: Plan, store: Store, output: Path, attribution: Attribution = Attribution()
) -> Written:
    """Write the record of an experiment.

    Parameters
    ----------
    plan : Plan
    store : Store
    output : Path
        A folder, which must be new or empty, or a file that ends in ``.zip``.
    attribution : Attribution

    Returns
    -------
    Written

    Raises
    ------
    ReportError
        If it cannot be written.
    MissingExtraError
        If rocrate is not installed.
    """
    with needed_by("an RO-Crate"):
        import rocrate  # noqa: F401  (before anything is computed)
    try:
        _check_folder(output)
        crate = _described(gather(plan, store), attribution)
        with TemporaryDirectory() as folder:
            crate.write(folder)
            paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
            contents = {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths}
        size = _write_zip(contents, output) if _is_zip(output) else _write(contents, output)
    except OSError as error:
        raise ReportError(f"{output}: cannot be written: {error.strerror or error}") from None
    return Written(len(contents), len([*crate.get_entities()]), size)


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip"


def _check_folder(output: Path) -> None:
    if not _is_zip(output) and output.exists():
        if not output.is_dir():
            raise ReportError(f"{output}: name a new folder, or a file that ends in .zip")
        if any(output.iterdir()):
            raise ReportError(f"{output}: has files already; name a new folder")


def _write(contents: dict[str, bytes], folder: Path) -> int:
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return sum(map(len, contents.values()))


def _write_zip(contents: dict[str, bytes], output: Path) -> int:
    with replacing(output) as part:
        with zipfile.ZipFile(part, "w") as archive:
            for name, content in contents.items():
                about = zipfile.ZipInfo(name, _DATE)
                about.external_attr = 0o644 << 16
                archive.writestr(about, content, zipfile.ZIP_DEFLATED, 9)
        return part.stat().st_size


def _described(content: Content, attribution: Attribution) -> Any:
    """Return the crate, with an entity for all that is in it."""
    from rocrate.model import ComputerLanguage, ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(_RUN_TERMS)

    def entity(identifier: str, kind: str, /, **properties: Any) -> Any:
        known = {k: _single(v) for k, v in properties.items() if v not in (None, "", [])}
        return crate.add(ContextEntity(crate, identifier, {"@type": kind, **known}))

    config = content.report.plan.experiment.config
    profiles = [
        entity(address, "CreativeWork", name=name, version=version)
        for address, (name, version) in _PROFILES.items()
    ]
    publisher = agent = None
    if attribution.affiliation:
        publisher = entity("#affiliation", "Organization", name=attribution.affiliation)
    if attribution.author:
        agent = entity("#author", "Person", name=attribution.author, affiliation=publisher)
    root = crate.root_dataset
    root["name"] = config.title
    root["description"] = (
        f"The experiment {content.report.plan.experiment.name}, run as "
        f"{content.report.run_as}: configuration, fingerprints of the data, environment, numbers, "
        f"verdicts and claims.{f' Source: {config.source}.' if config.source else ''}"
    )
    root["datePublished"] = content.date
    root["conformsTo"] = profiles
    root["license"] = _license(attribution.license, entity)
    if agent is not None:
        root["author"] = agent
    if publisher is not None:
        root["publisher"] = publisher
    engine = entity(
        _HOME, "SoftwareApplication", name="kernlearn", url=_HOME, softwareVersion=__version__
    )
    language = crate.add(
        ComputerLanguage(
            crate,
            "#kernlearn-config",
            {"name": "kernlearn experiment", "alternateName": "YAML configuration of kernlearn"},
        )
    )
    files: dict[str, Any] = {}
    for name, text in content.texts.items():
        content_bytes = text.encode("utf-8", "surrogateescape")
        digest = sha256(content_bytes).hexdigest()
        about: dict[str, Any] = {
            "name": content.titles[name],
            "encodingFormat": _FORMATS[Path(name).suffix],
            "contentSize": str(len(content_bytes)),
            "sha256": digest,
        }
        if name == content.config_name:
            about |= {
                "version": digest[:12],
                "conformsTo": {"@id": _WORKFLOW_PROFILE},
                "name": config.title,
            }
            files[name] = crate.add_workflow(
                BytesIO(content_bytes), quote(name), properties=about, main=True, lang=language
            )
            files[name]["softwareRequirements"] = engine
            if (address := config_address(content.report.plan.experiment.path)) is not None:
                files[name]["url"] = address
        else:
            files[name] = crate.add_file(BytesIO(content_bytes), quote(name), properties=about)
    files["README.md"]["about"] = root
    entity(
        _WORKFLOW_PROFILE,
        "CreativeWork",
        name="Bioschemas ComputationalWorkflow",
        version="1.0-RELEASE",
    )
    objects = [_dataset(one, entity) for one in content.data]
    if config.reported_path is not None:
        objects.append(files[config.reported_path.name])
    results = [files[name] for name in (*_RESULTS, *_summaries(content))]
    actions = [_action(one, files, objects, results, agent, entity) for one in content.executions]
    root["mentions"] = _single([engine, *actions])
    if actions:
        files["environment.json"]["about"] = _single(actions)
    return crate


def _single(value: Any) -> Any:
    """Return the value of a list of one, as the profile asks for; anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _summaries(content: Content) -> list[str]:
    return [name for name in content.texts if name.startswith("summary/")]


def config_address(config: Path) -> str | None:
    """Return where a config that comes with kernlearn is published; None for any other."""
    name = shipped_name(config.resolve())
    return None if name is None else f"{_HOME}/blob/v{__version__}/configs/{name}.yaml"


def _license(license: str, entity: Any) -> Any:
    """Return the licence: an entity if it is an address, else its name."""
    if license.startswith(("https://", "http://")):
        return entity(license, "CreativeWork", name=license.rstrip("/").rpartition("/")[2])
    return license or NO_LICENSE


def _dataset(one: dict[str, Any], entity: Any) -> Any:
    """Describe a data set that is not in the record."""
    marks = [f"sha256:{mark}" for mark in one.get("sha256", [])]
    what = {k: v for k, v in one.get("read_as", {}).items() if k in ("generator", "name")}
    made = ", ".join(f"{kind} {name}" for kind, name in what.items())
    said = "Not part of the record."
    if marks:
        said += " Its identifier is the SHA-256 of its rows as kernlearn reads them."
    if "left_out" in one:
        said += f" Left out: {one['left_out']}."
    return entity(
        f"#data-{quote(one['label'])}",
        "CreativeWork",
        name=one.get("title") or one["label"],
        alternateName=made or one["label"],
        identifier=marks,
        description=said,
        url=one.get("page"),
        license=one.get("licence"),
        citation=one.get("citation"),
        publisher=one.get("publisher"),
    )


def _action(
    one: Execution,
    files: dict[str, Any],
    objects: list[Any],
    results: list[Any],
    agent: Any,
    entity: Any,
) -> Any:
    """Describe a run."""
    failed = f", {one.failed} failed" if one.failed else ""
    threads = [
        entity(f"#run-{one.number}-{name}", "PropertyValue", name=name, value=str(value))
        for name, value in one.environment.get("threads", {}).items()
    ]
    return entity(
        f"#run-{one.number}",
        "CreateAction",
        name=f"Run {one.number}",
        description=f"{one.command}: {one.done} trials done{failed}",
        startTime=one.started,
        endTime=one.ended,
        actionStatus="http://schema.org/CompletedActionStatus",
        instrument=next(file for file in files.values() if "ComputationalWorkflow" in file.type),
        object=objects,
        result=results,
        agent=agent,
        environment=threads,
    )
