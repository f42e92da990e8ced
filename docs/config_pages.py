"""Write docs/configs.md's reference of keys and configs/schema.json from the model of configs.

``python docs/config_pages.py`` writes both anew. The text of the page above the mark is written by
hand; below it is every key with its meaning, its default and an example from page or configs.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from reference_pages import parts, sentence

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.names import ESTIMATORS, METRICS, SCORERS, TASKS
from kernlearn.kernels.registry import KERNELS

ROOT = Path(__file__).parents[1]
PAGE, SCHEMA = ROOT / "docs" / "configs.md", ROOT / "configs" / "schema.json"
MARK = "<!-- Below: written by docs/config_pages.py. -->"
_LONGEST = 60


def examples(value: Any, path: str, shortest: dict[str, str]) -> dict[str, str]:
    """Add the shortest value of each key within a part of a config, by the key's path."""
    items = value.items() if isinstance(value, dict) else ()
    named = path in ("datasets", "kernels", "methods", "derived", "verdict")
    for key, inner in items:
        place = f"{path}.NAME" if named else f"{path}.{key}".lstrip(".")
        text = yaml.safe_dump(inner, default_flow_style=True, width=10**6, allow_unicode=True)
        text = text.removesuffix("...\n").strip()
        if inner not in (None, {}) and len(text) < len(shortest.get(place, "x" * _LONGEST)):
            shortest[place] = text
        examples(inner, place, shortest)
    for inner in value if isinstance(value, list) else ():
        examples(inner, f"{path}[]", shortest)
    return shortest


def reference() -> Iterator[str]:
    """Yield the lines of the reference."""
    shown = {
        "plugins": "[my_methods.py]",
        "claims": "[{says: K is best, check: {metric: auc, among_best: [K], over: all}}]",
        "claims[].check.level": "0.01",
        "forks": "[{choice: z-scores, reason: the errors, alternatives: {none: [scale=[]]}}]",
        "methods.NAME.steps": "[sklearn.preprocessing.StandardScaler, LinearSVM]",
    }
    texts = re.findall("```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    texts += [path.read_text("utf-8") for path in sorted((ROOT / "configs").rglob("*.yaml"))]
    for text in texts:
        examples(yaml.safe_load(text), "", shown)
    for part in parts(ExperimentConfig):
        yield f"\n### {f'`{part.name}`' if part.name else 'The file'}\n"
        yield f"{sentence(part.about)}\n"
        yield "| key | meaning | default | example |"
        yield "|---|---|---|---|"
        for key in part.keys:
            name, example = key.name.rpartition(".")[2], shown.get(key.name, "")
            default = "required" if key.required else f"`{key.default}`" if key.default else ""
            cells = [f"`{name}`", sentence(key.description), default, example and f"`{example}`"]
            yield f"| {' | '.join(cells)} |".replace("|  |", "| |")


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
    text = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(f"{text}{MARK}\n" + "\n".join(reference()) + "\n", encoding="utf-8")
    SCHEMA.write_text(json.dumps(schema(), ensure_ascii=False, indent=1) + "\n", "utf-8")
