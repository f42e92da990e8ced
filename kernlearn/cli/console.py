"""Tables and bars on a terminal, with names as they are: no markup, and no control characters."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from kernlearn.datasets.escaping import visible_output


class VisibleConsole(Console):
    """A console that writes the control characters of texts as Python does."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text to be shown."""
        return super().render_str(visible_output(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the parts of what is shown."""
        if isinstance(renderable, Text) and (shown := visible_output(renderable.plain)) != (
            renderable.plain
        ):
            renderable = Text(
                shown,
                renderable.style,
                justify=renderable.justify,
                overflow=renderable.overflow,
                no_wrap=renderable.no_wrap,
            )
        return super().render(renderable, options)
