"""Hostile configs: each can be planned, or is refused with its file and lines."""

import contextlib
import re

from hypothesis import given
from hypothesis import strategies as st

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.exceptions import DataError
from tests.engine.test_mutated_configs import SHIPPED
from tests.fuzz.mutated import mutated_yaml
from tests.fuzz.settings import fuzzing, limited, outcome


@fuzzing
@given(data=st.data())
def test_shipped_configs_mutated(tmp_path, data):
    source = data.draw(st.sampled_from(SHIPPED))
    path = tmp_path / "mutated.yaml"
    path.write_bytes(data.draw(mutated_yaml(source.read_text(encoding="utf-8"))))
    with limited():
        experiment, message = outcome(load_config, path)
        if experiment is None:
            for line in message.splitlines():
                # a file that is empty has no lines
                assert re.match(re.escape(str(path)) + r"(:\d+|: the file is empty)", line), line
                assert len(line) < 1500
            return
        # what loads can be planned, but for data that is not here
        with contextlib.suppress(DataError):
            make_plan(experiment, available=True)
