"""The JSON schema of configs, with the names of estimators, kernels, metrics and parameters.

What it refuses, ``validate`` refuses too. A config with plug-ins may name more than the schema
knows, and derived metrics are named by the config itself: there it checks the form alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from kernlearn.config.libraries import sklearn_estimators
from kernlearn.config.measured import TASKS
from kernlearn.config.methods import MethodEntry, StepEntry
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.registry import BUILT_IN, Scope
from kernlearn.datasets.drawn_rows import STREAMS
from kernlearn.kernels.registry import library_names
from kernlearn.plugins import Registered

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ANY: dict[str, Any] = {}
_SKLEARN = "sklearn"

Schema = dict[str, Any]


def config_schema(scope: Scope = BUILT_IN) -> Schema:
    """Return the JSON schema of config files.

    Parameters
    ----------
    scope : Scope
        The names that configs may use.

    Returns
    -------
    dict
    """
    schema = ExperimentConfig.model_json_schema()
    own, dotted = dict(scope.estimators), _dotted(scope)
    definitions = {
        **schema["$defs"],
        "Value": _value(),
        "Kernel": _one_of("kernel", scope.kernels, {}, library_names()),
        "Estimator": _estimator(own, dotted, scope),
        "EstimatorName": {
            "type": "string",
            "anyOf": [{"enum": [*own, *dotted]}, {"pattern": _others(scope)}],
        },
        "Step": {
            "anyOf": [
                _ref("EstimatorName"),
                {
                    "allOf": [_ref("Estimator")],
                    "required": ["estimator"],
                    "properties": dict.fromkeys(
                        sorted(_keys(MethodEntry) - _keys(StepEntry)), False
                    ),
                },
            ]
        },
        "Method": {
            "allOf": [_ref("Estimator")],
            "properties": {"name": False},
            "oneOf": [{"required": ["estimator"]}, {"required": ["steps"]}],
        },
        "Dataset": _dataset(schema["$defs"]["DatasetEntry"], scope),
    }
    sections = {"methods": "Method", "kernels": "Kernel"}
    strict: dict[str, Any] = {
        name: {"additionalProperties": _ref(one)} for name, one in sections.items()
    }
    strict["datasets"] = {"anyOf": [{"type": "array"}, {"additionalProperties": _ref("Dataset")}]}
    properties = schema["properties"]
    for name in (*sections, "datasets"):
        # entries are checked below, lists of names and entries without keys are allowed
        of_names = {"type": "array", "items": {"type": "string"}}
        properties[name] = {"anyOf": [{"type": "object"}, of_names]}
    conditions = [
        {"if": {"not": {"required": ["plugins"]}}, "then": {"properties": strict}},
        *_metrics(scope),
    ]
    return {
        "$schema": _DIALECT,
        "$comment": f"made by `kernlearn schema` with scikit-learn {version('scikit-learn')}",
        **schema,
        "$defs": _used(definitions, {"properties": properties, "all": conditions}),
        "properties": properties,
        "allOf": conditions,
    }


def schema_text(scope: Scope = BUILT_IN) -> str:
    """Return the schema as text, one definition per line."""
    schema = config_schema(scope)
    lines = []
    for key, value in schema.items():
        if key in ("$defs", "properties"):
            inner = ",\n".join(f"  {json.dumps(k)}: {_dumped(v)}" for k, v in value.items())
            lines.append(f" {json.dumps(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {json.dumps(key)}: {_dumped(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _keys(model: Any) -> set[str]:
    return set(model.model_fields)


def _dotted(scope: Scope) -> dict[str, Registered]:
    """Return scikit-learn's estimators by dotted name."""
    found = {name: scope.estimator(name) for name in sorted(sklearn_estimators().values())}
    return {name: one for name, one in found.items() if one is not None}


def _others(scope: Scope) -> str:
    """Return the pattern of dotted names whose parameters are not listed."""
    packages = sorted(set(scope.allowed_packages) - {_SKLEARN})
    return rf"^({'|'.join(packages)})(\.[A-Za-z]\w*)+$"


def _value() -> Schema:
    """Return the form of a parameter's value: its selections, data sets and kernels."""
    each = {"minProperties": 1, "additionalProperties": _ref("Value")}
    return {
        "if": {"type": "object"},
        "then": {
            "allOf": [
                {"if": {"required": ["kernel"]}, "then": _ref("Kernel")},
                {
                    "if": {"required": ["select"], "maxProperties": 1},
                    "then": {
                        "properties": {
                            "select": {"type": "array", "minItems": 1, "items": _ref("Value")}
                        }
                    },
                },
                {
                    "if": {"required": ["by_dataset"], "maxProperties": 1},
                    "then": {"properties": {"by_dataset": {"type": "object", **each}}},
                },
            ]
        },
        "else": {"if": {"type": "array"}, "then": {"items": _ref("Value")}},
    }


def _one_of(
    key: str,
    components: Mapping[str, Registered],
    reserved: Schema,
    others: Sequence[str] = (),
) -> Schema:
    """Return the form of an entry that names a component and has parameters of it alone.

    `others` are names whose parameters depend on what is installed, and are not listed.
    """
    return {
        "type": "object",
        "required": [key],
        "properties": {key: {"enum": [*components, *others]}},
        "allOf": _by_name(key, components, reserved),
    }


def _by_name(key: str, components: Mapping[str, Registered], reserved: Schema) -> list[Schema]:
    """Return what goes with each name under a key; names of one class share it."""
    names: dict[str, list[str]] = {}
    for name, one in components.items():
        if one.installed:
            allowed = _parameters(key, one, reserved)
            names.setdefault(json.dumps(allowed), []).append(name)
    return [
        {"if": {"properties": {key: {"enum": same}}, "required": [key]}, "then": json.loads(text)}
        for text, same in names.items()
    ]


def _parameters(key: str, component: Registered, reserved: Schema) -> Schema:
    allowed = [name for name in component.settable if name != key]
    found: Schema = {
        "properties": {key: _ANY, **reserved, **{name: _ref("Value") for name in allowed}},
        "additionalProperties": False,
    }
    owners = [name for name in allowed if name in ("kernel", "similarity", "kernels")]
    if owners:
        found["patternProperties"] = {f"^({'|'.join(owners)})__": _ref("Value")}
    return found


def _estimator(
    own: Mapping[str, Registered], dotted: Mapping[str, Registered], scope: Scope
) -> Schema:
    """Return the form of an estimator with its parameters, or of the steps of a pipeline."""
    switches: Schema = {key: {"type": "boolean"} for key in ("baseline", "optional", "dense")}
    switches["in_memory"] = {"const": True}
    switches["shown_as"] = {"type": "object", "additionalProperties": {"type": "string"}}
    reserved = {**switches, "name": {"type": "string"}}
    steps = {"type": "array", "minItems": 1, "items": _ref("Step")}
    of_sklearn = {"properties": {"estimator": {"pattern": rf"^{_SKLEARN}\."}}}
    return {
        "type": "object",
        "properties": {"estimator": _ref("EstimatorName")},
        "allOf": [
            *_by_name("estimator", own, reserved),
            {
                "if": {**of_sklearn, "required": ["estimator"]},
                "then": {"allOf": _by_name("estimator", dotted, reserved)},
            },
            {
                "if": {"required": ["steps"]},
                "then": {
                    "properties": {"steps": steps, **switches},
                    "additionalProperties": False,
                },
            },
        ],
    }


def _dataset(entry: Schema, scope: Scope) -> Schema:
    """Return the form of a data set with its options, or the parameters of a generator."""
    options = entry["properties"]
    generators = {
        name: {key: _ANY for key in made.parameters if key != "random_state"}
        for name, made in {**scope.generators, **STREAMS}.items()
    }
    return {
        "type": ["object", "null"],
        "properties": {**options, "generator": {"enum": list(generators)}},
        "allOf": [
            {
                "if": {"required": ["generator"], "properties": {"generator": {"const": name}}},
                "then": {
                    "properties": {**dict.fromkeys(options, _ANY), **parameters},
                    "additionalProperties": False,
                },
            }
            for name, parameters in generators.items()
        ]
        + [
            {
                "if": {"not": {"required": ["generator"]}},
                "then": {
                    "properties": dict.fromkeys(options, _ANY),
                    "additionalProperties": False,
                },
            },
        ],
    }


def _metrics(scope: Scope) -> Iterable[Schema]:
    """Yield the metrics of each task, for configs that name none of their own."""
    for task in TASKS:
        is_it: Schema = {"properties": {"task": {"const": task}}}
        if task != ExperimentConfig.model_fields["task"].default:
            is_it["required"] = ["task"]
        names = {"items": {"enum": list(scope.task_metrics(task))}}
        own = {"not": {"anyOf": [{"required": [key]} for key in ("plugins", "derived")]}}
        yield {"if": {"allOf": [is_it, own]}, "then": {"properties": {"metrics": names}}}


def _used(definitions: Schema, *roots: Any) -> Schema:
    """Return the definitions that something refers to."""
    found: dict[str, Any] = {}
    texts = [json.dumps(root) for root in roots]
    while texts:
        text = texts.pop()
        for name, one in definitions.items():
            if name not in found and f'"#/$defs/{name}"' in text:
                found[name] = one
                texts.append(json.dumps(one))
    return {name: definitions[name] for name in definitions if name in found}
