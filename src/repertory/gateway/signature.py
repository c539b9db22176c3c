"""How is an entry said in one line?

`server/tool(required: type, optional?: type) - first sentence`: enough for a model to choose, at a tenth of what the schema costs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from repertory.model import Entity, Kind

MAX_SENTENCE = 140  # characters: what a first sentence usually has; the rest is for `describe`
MAX_OPTIONAL = 6  # optional parameters that are named; tools with dozens exist

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s")


def signature(entity: Entity) -> str:
    """One line: what to call it, with what, and what for."""
    head = f"{entity.path}({parameters(entity.details.get('input_schema') or {})})" if entity.kind is Kind.TOOL else entity.id
    about = first_sentence(entity.description or str(entity.details.get("title") or ""))
    return f"{head} - {about}" if about else head


def parameters(schema: Mapping[str, Any]) -> str:
    """The parameters of a tool: required ones first, optional ones with a question mark."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    listed = schema.get("required")
    required = [name for name in listed if name in properties] if isinstance(listed, list) else []
    optional = [name for name in properties if name not in required]
    said = [f"{name}: {_type(properties[name])}" for name in required]
    said += [f"{name}?: {_type(properties[name])}" for name in optional[:MAX_OPTIONAL]]
    return ", ".join(said + (["…"] if len(optional) > MAX_OPTIONAL else []))


def first_sentence(text: str) -> str:
    """The first sentence, or as much of it as fits."""
    sentence = _SENTENCE_END.split(" ".join(text.split()), maxsplit=1)[0]
    if len(sentence) <= MAX_SENTENCE:
        return sentence
    return sentence[:MAX_SENTENCE].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _type(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if isinstance(schema.get("enum"), list) and len(schema["enum"]) <= 6:
        return "|".join(str(value) for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return f"{_type(schema.get('items'))}[]"
    if isinstance(kind, str):
        return kind
    if isinstance(kind, list):
        return "|".join(str(one) for one in kind if one != "null") or "any"
    for union in ("anyOf", "oneOf"):
        if isinstance(schema.get(union), list):
            kinds = dict.fromkeys(_type(one) for one in schema[union] if not (isinstance(one, Mapping) and one.get("type") == "null"))
            return "|".join(kinds) or "any"
    return "object" if "properties" in schema else "any"
