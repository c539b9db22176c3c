"""May a tool be called with these arguments?

JSON Schema, with an end to it: schemas come from strangers and arguments from models, so what is looked at, how deep and for how long is
bounded, and regular expressions run in linear time. What cannot be checked within the bounds is left to the server, which checks itself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import re2

from repertory.errors import InvalidArguments

MAX_DEPTH = 64  # of arguments; deeper than anything a model writes
MAX_NODES = 50_000  # values in arguments, and in a schema
TIME_LIMIT = 0.25  # seconds; a usual check takes less than one millisecond
REMEMBERED = 512  # schemas
REPORTED = 5  # problems that are told at once

if TYPE_CHECKING:
    from jsonschema import ValidationError  # takes a twentieth of a second, which only who calls should spend

_deadline: ContextVar[float] = ContextVar("deadline")


class _TooMuch(Exception):
    """Checking would take longer than it is worth."""


def check(name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raise `InvalidArguments`, with what is wrong and the right schema, or answer nothing."""
    if _exceeds(arguments):
        raise InvalidArguments(f"The arguments for {name} are nested deeper than {MAX_DEPTH} or have more than {MAX_NODES} values.", schema)
    if not schema or (validator := _validator_of(schema)) is None:
        return
    _deadline.set(time.monotonic() + TIME_LIMIT)
    try:
        problems = list(validator.iter_errors(dict(arguments)))
    except Exception:  # a schema of a stranger that is none, refers elsewhere or never ends may make the library raise anything
        return
    if problems:
        told = "; ".join(dict.fromkeys(_told(problem) for problem in problems[:REPORTED]))
        raise InvalidArguments(f"{name} cannot be called like that: {told}.", schema)


def _told(problem: ValidationError) -> str:
    from jsonschema.exceptions import best_match

    deepest = best_match([problem]) or problem
    where = ".".join(str(part) for part in deepest.absolute_path)
    said = deepest.message if len(deepest.message) <= 200 else deepest.message[:200] + "…"
    return f"{where}: {said}" if where else said


def _exceeds(value: Any) -> bool:
    """Whether a value is too deep or too large, found without recursion."""
    nodes = 0
    waiting = [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        nodes += 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            return True
        if isinstance(one, Mapping):
            waiting += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list):
            waiting += [(inner, depth + 1) for inner in one]
    return False


def _timed(keyword: Callable[..., Iterator[ValidationError] | None]) -> Callable[..., Iterator[ValidationError]]:
    def timed(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if time.monotonic() > _deadline.get():
            raise _TooMuch
        yield from keyword(validator, value, instance, schema) or ()

    return timed


def _pattern(validator: Any, pattern: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not re2.search(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique(validator: Any, wanted: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len({json.dumps(item, sort_keys=True) for item in instance}) < len(instance):
        yield ValidationError("it has the same value twice")


# Those by pattern would run Python's own regular expressions, whose time has no bound; without them, what is "additional" cannot be told.
_LEFT_OUT = {"patternProperties", "unevaluatedProperties", "unevaluatedItems"}


@cache
def _kind() -> Any:
    """The class of our validators."""
    from jsonschema import Draft202012Validator, validators

    return validators.extend(
        Draft202012Validator,
        {
            **{name: _timed(keyword) for name, keyword in Draft202012Validator.VALIDATORS.items()},
            "pattern": _timed(_pattern),
            "uniqueItems": _timed(_unique),
            **{name: lambda *_: None for name in _LEFT_OUT},
        },
    )


def _validator_of(schema: Mapping[str, Any]) -> Any:
    """The validator of a schema, or None where it cannot be checked. A schema that is asked for again is mostly the very same object."""
    known = _met.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    if len(_met) >= REMEMBERED:
        _met.clear()
    validator = None
    with suppress(TypeError, ValueError, RecursionError):
        validator = None if _exceeds(schema) else _validator(json.dumps(schema, sort_keys=True))
    _met[id(schema)] = schema, validator
    return validator


_met: dict[int, tuple[Mapping[str, Any], Any]] = {}  # by identity; the schema is kept, so that no other takes its place


@lru_cache(maxsize=REMEMBERED)
def _validator(schema: str) -> Any:
    from referencing import Registry

    return _kind()(_without_patterns(json.loads(schema)), registry=Registry())  # an empty registry: nothing is ever fetched


def _without_patterns(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_patterns(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = {"additionalProperties"} if "patternProperties" in schema else set()
    return {name: _without_patterns(value) for name, value in schema.items() if name not in dropped}
