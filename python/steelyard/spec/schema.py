"""The JSON Schema of a study file, for editors that complete and check while one writes."""

from __future__ import annotations

import json
from typing import Any

from steelyard.spec.design import StudyFile
from steelyard.spec.factors import short_names

MADE_WHOLE_BY_OTHERS = ("Workload", "Mix", "RangeLength")
"""Tables whose required settings may come from a base workload, an overlay or a factor."""


def study_schema() -> dict[str, Any]:
    """The schema, draft 2020-12.

    Settings that a factor or a base workload may supply are not required: whether a study is whole is checked
    when it is read.
    """
    schema = StudyFile.model_json_schema()
    defs, properties = schema["$defs"], schema["properties"]
    for name, model in defs.items():
        if name in MADE_WHOLE_BY_OTHERS or name.endswith("System"):
            model["required"] = [key for key in model.get("required", ()) if key == "kind"]
    word = {"type": "string", "description": "a workload's letter, a property file or a TOML file"}
    defs["Workload"]["properties"]["base"] = word
    properties["workload"] = {"anyOf": [word, properties["workload"]]}
    properties["factors"]["description"] = 'a setting\'s path, e.g. "load.clients", or one of ' + ", ".join(
        short_names()
    )
    properties["factors"]["additionalProperties"] = {
        "anyOf": [{"type": "array", "minItems": 1}, _ref("Factor")]
    }
    overlay = {"type": "object", "properties": {k: v for k, v in properties.items() if k != "small"}}
    defs["Small"] = json.loads(json.dumps(overlay)) | {"additionalProperties": False}
    properties["small"] = _ref("Small")
    schema["required"] = []
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Steelyard study"}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}
