"""The examples of docs/similarities.md run, and are short."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "similarities.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
PRINTED = [
    "['past' 'now'] 6\n[[0.89 0.94]]\n",
    "['drinks']\n",
    "1.0\n",
]


@pytest.mark.parametrize(("example", "printed"), [*zip(EXAMPLES, PRINTED, strict=True)])
def test_examples(example, printed, capsys):
    assert len([line for line in example.splitlines() if line]) <= 12
    exec(compile(example, "similarities.md", "exec"), {})
    assert capsys.readouterr().out == printed
