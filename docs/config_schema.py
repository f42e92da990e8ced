"""Write configs/schema.json, in which editors find keys and names."""

import json
from pathlib import Path
from typing import Any

from kernlearn.config import ExperimentConfig
from kernlearn.config.names import ESTIMATORS, METRICS, SCORERS, TASKS
from kernlearn.kernels.registry import KERNELS


def schema() -> dict[str, Any]:
    """Return the JSON schema of configs, in which editors find the names."""
    made = ExperimentConfig.model_json_schema()
    for model, key, names in (
        ("MethodEntry", "estimator", ESTIMATORS),
        ("StepEntry", "estimator", ESTIMATORS),
        ("KernelEntry", "kernel", KERNELS),
    ):
        made["$defs"][model]["properties"][key]["examples"] = sorted(names)
    made["$defs"]["StepEntry"] = {"anyOf": [{"type": "string"}, made["$defs"]["StepEntry"]]}
    properties = made["properties"]
    properties["task"]["enum"] = [*TASKS]
    properties["metrics"]["items"]["examples"] = sorted({*METRICS, *SCORERS})
    for section in ("datasets", "kernels", "methods"):
        of_names = {"type": "array", "items": {"type": "string"}}
        entries = properties[section].pop("additionalProperties")
        entries = {"additionalProperties": {"anyOf": [entries, {"type": "null"}]}}
        properties[section] = {"anyOf": [{"type": "object", **entries}, of_names]}
    return made


if __name__ == "__main__":
    text = json.dumps(schema(), ensure_ascii=False, indent=1)
    Path(__file__).parents[1].joinpath("configs", "schema.json").write_text(f"{text}\n", "utf-8")
