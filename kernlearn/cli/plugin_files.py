"""Python files that configs name: commands say that they execute them, or refuse to."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer
from typer import Option

from kernlearn.consent import asking
from kernlearn.exceptions import PluginError

_NoPlugins = Annotated[
    bool,
    Option(
        "--no-plugins", help="Refuse configs that name Python files (`plugins`) to be executed."
    ),
]


class Asked:
    """Say once for each config which files are executed, or refuse to execute any."""

    def __init__(self, refused: bool) -> None:
        self._refused = refused
        self._said: set[tuple[str, ...]] = set()

    def __call__(self, config: str, files: Sequence[str]) -> None:
        """Say that files of a config are executed, or raise a PluginError."""
        names = ", ".join(files)
        if self._refused:
            raise PluginError(f"{names}: Python code, which --no-plugins does not execute")
        if (mark := (config, *files)) not in self._said:
            self._said.add(mark)
            typer.echo(
                f"kernlearn: {config}: executes {names}, Python code with all your rights; "
                "--no-plugins refuses",
                err=True,
            )


def reads_configs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that reads configs the option ``--no-plugins``, and ask within it."""

    @wraps(command)
    def asked(*args: Any, no_plugins: bool = False, **kwargs: Any) -> None:
        with asking(Asked(no_plugins)):
            command(*args, **kwargs)

    # typer makes the options from these
    signature = inspect.signature(command)
    more = inspect.Parameter(
        "no_plugins", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_NoPlugins
    )
    asked.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), more]
    )
    asked.__annotations__ = {**command.__annotations__, "no_plugins": _NoPlugins}
    return asked
