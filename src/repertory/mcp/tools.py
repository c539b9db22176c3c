"""Which tools does an agent see?

Three, in a fixed order (E10). Their schemas are written by hand: they are what every agent pays for in every conversation.
"""

from __future__ import annotations

from typing import Any

from mcp_types import Tool, ToolAnnotations

from repertory.gateway.facade import DEFAULT_LIMIT, MAX_DESCRIBED, MAX_LIMIT
from repertory.model import Kind
from repertory.model.request import MAX_QUERY_LENGTH

SEARCH, DESCRIBE, CALL = "search", "describe", "call"


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_SEARCH_INPUT = _object(
    {
        "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_LENGTH, "description": "What you want to do or know."},
        "kinds": {"type": "array", "items": {"enum": [kind.value for kind in Kind]}, "description": "Only these kinds."},
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Only entries with all of these tags."},
        "read_only": {"type": "boolean", "description": "Only what changes nothing."},
        "non_destructive": {"type": "boolean", "description": "Only what destroys nothing."},
        "context": {"type": "string", "maxLength": MAX_QUERY_LENGTH, "description": "What this is about; counts less than the query."},
    },
    "query",
)
_SEARCH_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "score": {"type": "number"},
                    "confidence": {"type": "number"},
                    "stale": {"type": "boolean"},
                },
                "required": ["id", "score"],
            },
        },
        "abstained": {"type": "boolean"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "see_also": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["results"],
}
_DESCRIBE_INPUT = _object(
    {
        "ids": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": MAX_DESCRIBED,
            "description": "As search gave them.",
        }
    },
    "ids",
)
_DESCRIBE_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"entries": {"type": "array", "items": {"type": "object"}}, "problems": {"type": "array", "items": {"type": "string"}}},
    "required": ["entries"],
}
_CALL_INPUT = _object(
    {
        "id": {"type": "string", "description": "A tool or agent, from search."},
        "arguments": {"type": "object", "description": "As its inputSchema says."},
    },
    "id",
)
INPUTS: dict[str, dict[str, Any]] = {SEARCH: _SEARCH_INPUT, DESCRIBE: _DESCRIBE_INPUT, CALL: _CALL_INPUT}


def facade(about: str) -> list[Tool]:
    """The three tools; `about` describes what is behind `search`."""
    return [
        Tool(
            name=SEARCH,
            title="Find what you can use",
            description=about,
            input_schema=INPUTS[SEARCH],
            output_schema=_SEARCH_OUTPUT,
            annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        ),
        Tool(
            name=DESCRIBE,
            title="Read what was found",
            description=f"Up to {MAX_DESCRIBED} ids of search in full: a tool's schema, the text of a document or skill, an agent's card.",
            input_schema=INPUTS[DESCRIBE],
            output_schema=_DESCRIBE_OUTPUT,
            annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        ),
        Tool(
            name=CALL,
            title="Use a tool that was found",
            description="Run a tool with its arguments, or send a message to an agent. The answer is the tool's own.",
            input_schema=INPUTS[CALL],
            # Whatever is behind it may do anything: honest hints say so.
            annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True),
        ),
    ]
