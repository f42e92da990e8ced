"""Where configs are: files of the user, and those that come with kernlearn by name."""

from pathlib import Path

from kernlearn.config.suggestions import suggestion
from kernlearn.datasets.resources import shipped
from kernlearn.datasets.yaml import shortened
from kernlearn.exceptions import ConfigError

#: The folder of examples among the shipped configs, which go by ``examples/NAME``.
EXAMPLES = "examples"
_SUFFIXES = ("", ".yaml", ".yml")


def find_config(name: str | Path) -> Path:
    """Find a config by path or, among those that come with kernlearn, by name.

    Parameters
    ----------
    name : str or Path
        ``configs/table3_1.yaml`` or ``table3_1``.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ConfigError
        If there is no such file and no shipped config of that name.

    Examples
    --------
    >>> from kernlearn.config import find_config
    >>> find_config("table3_1").name
    'table3_1.yaml'
    """
    path = Path(name)
    try:
        if path.is_file():
            return path
        if path.is_dir() and path.parts != (path.stem,):
            raise ConfigError(f"{readable(str(name))}: is a folder; name a file in it")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{readable(str(name))}: cannot be read: {reason}") from None
    if path.parts[:-1] == (EXAMPLES,):
        example = shipped("configs") / EXAMPLES / f"{path.stem}.yaml"
        if path.suffix in _SUFFIXES and example.is_file():
            return example
    configs = shipped_configs()
    # "configs/table3_1.yaml" outside a checkout is the shipped config, as "table3_1" is
    if path.suffix in _SUFFIXES and path.stem in configs and len(path.parts) <= 2:
        return configs[path.stem]
    raise ConfigError(
        f"{readable(str(name))}: no such file, and no config of that name comes with "
        f"kernlearn{suggestion(path.stem, list(configs))}"
    )


def shipped_name(path: Path) -> str | None:
    """Return the name by which a config that comes with kernlearn is found; None for others."""
    folders = {shipped("configs"): "", shipped("configs") / EXAMPLES: f"{EXAMPLES}/"}
    return f"{folders[path.parent]}{path.stem}" if path.parent in folders else None


def shipped_configs() -> dict[str, Path]:
    """Return the configs that come with kernlearn, by name."""
    return {path.stem: path for path in sorted(shipped("configs").glob("*.yaml"))}


def readable(key: str) -> str:
    """Write a key or a path for a message: as a value where it is long or not printable."""
    return key if key and key.isprintable() and len(key) <= 80 else shortened(key)
