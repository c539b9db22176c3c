"""Which attributes do entries of all formats share, and what is valid?

A value that is there but wrong is an `Invalid`: no entry is let in under an audience or a status that its author
did not mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from reprlib import Repr
from typing import Any, NamedTuple

from repertory.model import PUBLIC, Status

MAX_NAME = 200  # characters; names are shown in lists and are part of ids

_TEXT_LIKE = (str, int, float)  # exact types: True is an int, and never meant as text
_short = Repr()
_short.maxstring = _short.maxother = 60


class Invalid(Exception):
    """A bad value in one entry, at one of its keys."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class Visibility(NamedTuple):
    """What decides who finds an entry."""

    status: Status = Status.ACTIVE  # A13: a missing status is active
    enabled: bool = True
    audience: frozenset[str] = frozenset({PUBLIC})
    scopes: frozenset[str] = frozenset()


def name(entry: Mapping[str, Any], key: str = "name") -> str:
    """The name that an entry must have."""
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Invalid(key, f"it has no name ({key}: {shown(value)}); give it one, as text")
    value = value.strip()
    if len(value) > MAX_NAME:
        raise Invalid(key, f"its name has {len(value)} characters ({shown(value)}); the most is {MAX_NAME}")
    if not value.isprintable():
        raise Invalid(key, f"its name has control characters ({shown(value)}); remove them")
    return value


def text(entry: Mapping[str, Any], key: str) -> str:
    """A text, empty when it is not there. Numbers count: YAML reads `version: 1.2` as one."""
    value = entry.get(key)
    if value is None:
        return ""
    if type(value) not in _TEXT_LIKE:
        raise Invalid(key, f"{key} must be text, not {shown(value)}")
    return str(value).strip()


def table(entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object, empty when it is not there."""
    value = entry.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid(key, f"{key} must be an object, not {shown(value)}")
    return value


def texts(entry: Mapping[str, Any], key: str) -> list[str]:
    """A list of texts, or one text with commas."""
    value = entry.get(key)
    if value is None:
        return []
    if isinstance(value, str):
        value = value.split(",")
    if type(value) in _TEXT_LIKE:
        value = [value]
    if not isinstance(value, list) or any(type(item) not in _TEXT_LIKE for item in value):
        raise Invalid(key, f"{key} must be a list of texts, not {shown(value)}; quote words like yes and no")
    return [stripped for item in value if (stripped := str(item).strip())]


def tags(entry: Mapping[str, Any], key: str = "tags") -> tuple[str, ...]:
    """An entry's tags, without a leading #, each once."""
    return unique(item.lstrip("#").strip() for item in texts(entry, key))


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """The words in their order, each in the spelling it had first."""
    kept: dict[str, str] = {}
    for word in words:
        if word:
            kept.setdefault(word.casefold(), word)
    return tuple(kept.values())


def visibility(entry: Mapping[str, Any], above: Visibility) -> Visibility:
    """Who finds an entry. What it does not say comes from above it; what is disabled above stays disabled, and what is needed above is
    needed here too."""
    return Visibility(
        _status(entry, above.status),
        _enabled(entry) and above.enabled,
        _audience(entry, above.audience),
        above.scopes.union(texts(entry, "scopes")),
    )


def _status(entry: Mapping[str, Any], default: Status) -> Status:
    value = entry.get("status")
    if value is None:
        return default
    try:
        return Status(value.lower() if isinstance(value, str) else value)
    except ValueError as error:
        raise Invalid("status", f"status must be one of {', '.join(Status)}, not {shown(value)}") from error


def _enabled(entry: Mapping[str, Any]) -> bool:
    value = entry.get("enabled")
    if value is None:
        return True
    if not isinstance(value, bool):
        raise Invalid("enabled", f"enabled must be true or false, not {shown(value)}")
    return value


def _audience(entry: Mapping[str, Any], default: frozenset[str]) -> frozenset[str]:
    keys = [key for key in ("audience", "groups") if key in entry]
    if not keys:
        return default
    if len(keys) > 1:
        raise Invalid("groups", "audience and groups mean the same; give one of them")
    (key,) = keys
    groups = [entry[key]] if isinstance(entry[key], str) else entry[key]
    if not isinstance(groups, list) or not all(isinstance(group, str) and group.strip() for group in groups):
        raise Invalid(key, f"{key} must be a list of group names, not {shown(entry[key])}")
    if not groups:  # an emptied list must not become "everybody"
        raise Invalid(key, f"{key} names no group; name one, or remove it to make the entry public")
    return frozenset(group.strip() for group in groups)


def shown(value: object) -> str:
    """A value for a message, shortened."""
    return _short.repr(value)
