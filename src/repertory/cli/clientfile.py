"""How does one server get into the config of another program, or out of it, while all else stays as it is?

The text is changed at one place and never written anew: comments, order and indentation are the person's. What comes out is parsed again
and compared with what went in; whatever cannot be changed like that is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from repertory.sources.clients import without_comments

Entry = Mapping[str, Any]

REPLACED = frozenset({"type", "transport", "command", "args", "url", "httpUrl"})  # how a server is reached; its other keys are kept
INDENT = "  "  # where a file does not show another

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Unchangeable(Exception):
    """A config that only a person should change. Says why."""


class Member(NamedTuple):
    """A member of a JSON object: where its key begins, and where its value begins and ends."""

    key: str
    start: int
    value: int
    end: int


def held(text: str, key: str, name: str, *, toml: bool) -> Any:
    """What a config says of a server; None when it does not name it."""
    servers = _parse(text, toml).get(key, {})
    if not isinstance(servers, dict):
        raise Unchangeable(f"its {key} are not what they should be")
    return servers.get(name)


def put(text: str, key: str, name: str, entry: Entry, *, toml: bool) -> str:
    """The same config with a server. One of that name is reached like this from now on, and keeps its other keys."""
    before = held(text, key, name, toml=toml)
    if before is not None and not isinstance(before, dict):
        raise Unchangeable(f"its {name} is not a server")
    kept = {one: value for one, value in (before or {}).items() if one not in REPLACED}
    wanted = {**entry, **kept}
    if wanted == before:
        return text
    expected = _parse(text, toml)
    expected[key] = {**expected.get(key, {}), name: wanted}
    return _checked((_put_toml if toml else _put_json)(text, key, name, wanted), expected, toml)


def take_out(text: str, key: str, name: str, *, toml: bool) -> str:
    """The same config without a server."""
    if held(text, key, name, toml=toml) is None:
        return text
    expected = _parse(text, toml)
    del expected[key][name]
    return _checked((_take_out_toml if toml else _take_out_json)(text, key, name), expected, toml)


def snippet(key: str, name: str, entry: Entry, *, toml: bool) -> str:
    """What a person pastes."""
    return _table(key, name, entry, "\n") if toml else json.dumps({key: {name: entry}}, indent=INDENT, ensure_ascii=False)


def _parse(text: str, toml: bool) -> dict[str, Any]:
    """The config; a comment is read over, so that what is there can be told."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        value = tomllib.loads(text) if toml else json.loads(without_comments(text.lstrip("\ufeff")))
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise Unchangeable(f"it is not valid {'TOML' if toml else 'JSON'} ({error})") from error
    if not isinstance(value, dict):
        raise Unchangeable("it is not an object")
    return value


def _checked(text: str, expected: Mapping[str, Any], toml: bool) -> str:
    """A change that changed anything else is none."""
    after = _parse(text, toml)
    emptied = {key: value for key, value in expected.items() if value != {}}
    if {key: value for key, value in after.items() if value != {}} != emptied:
        raise Unchangeable("it is written in a way that is not changed safely")
    return text


# JSON


def _put_json(text: str, key: str, name: str, entry: Entry) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    if not text.strip():
        return f"{mark}{json.dumps({key: {name: entry}}, indent=INDENT, ensure_ascii=False)}\n"
    _strict(text)
    root = _past_blanks(text, 0)
    servers = _member(text, root, key)
    if servers is None:
        return mark + _insert(text, root, key, {name: entry}, 1)
    one = _member(text, servers.value, name)
    if one is None:
        return mark + _insert(text, servers.value, name, entry, 2)
    return mark + text[: one.value] + _rendered(text, entry, _margin(text, one.start)) + text[one.end :]


def _take_out_json(text: str, key: str, name: str) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    _strict(text)
    servers = _member(text, _past_blanks(text, 0), key)
    members = list(_members(text, servers.value)) if servers else []
    (at,) = [number for number, one in enumerate(members) if one.key == name] or (-1,)
    if at < 0 or servers is None:
        raise Unchangeable("it is written in a way that is not changed safely")
    if at:
        return mark + text[: members[at - 1].end] + text[members[at].end :]
    if members[1:]:
        return mark + text[: members[0].start] + text[members[1].start :]
    return mark + text[: servers.value] + "{}" + text[servers.end :]


def _strict(text: str) -> None:
    try:
        json.loads(text)
    except ValueError as error:
        raise Unchangeable("it has comments, among which nothing is changed") from error


def _insert(text: str, start: int, key: str, value: Any, depth: int) -> str:
    """A member more, at the end of the object that begins at `start`."""
    members = list(_members(text, start))
    margin = _margin(text, members[0].start) if members else (_unit(text) * depth if "\n" in text.strip() else None)
    member = f"{json.dumps(key, ensure_ascii=False)}: {_rendered(text, value, margin)}"
    if members:
        between = ", " if margin is None else f",{_line_end(text)}{margin}"
        return text[: members[-1].end] + between + member + text[members[-1].end :]
    closing = _past_blanks(text, start + 1)
    if margin is None:
        return text[: start + 1] + member + text[closing:]
    end = _line_end(text)
    return f"{text[: start + 1]}{end}{margin}{member}{end}{margin.removesuffix(_unit(text))}{text[closing:]}"


def _rendered(text: str, value: Any, margin: str | None) -> str:
    """A value in the style of the file: on one line where its neighbours are."""
    if margin is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return f"{_line_end(text)}{margin}".join(lines)


def _margin(text: str, position: int) -> str | None:
    """What stands before a key on its line; None where that is more than blanks."""
    before = text[text.rfind("\n", 0, position) + 1 : position]
    return before if "\n" in text[:position] and not before.strip() else None


def _unit(text: str) -> str:
    """One step of indentation."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else INDENT


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _member(text: str, start: int, key: str) -> Member | None:
    """The member of this name; the last, as parsers take it."""
    return next((one for one in reversed(list(_members(text, start))) if one.key == key), None)


def _members(text: str, start: int) -> Iterator[Member]:
    """The members of an object of valid JSON."""
    position = _past_blanks(text, start + 1)
    while text[position] != "}":
        position = _past_blanks(text, position + 1) if text[position] == "," else position
        key, after = _DECODER.raw_decode(text, position)
        value = _past_blanks(text, _past_blanks(text, after) + 1)
        _, end = _DECODER.raw_decode(text, value)
        yield Member(key, position, value, end)
        position = _past_blanks(text, end)


def _past_blanks(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


# TOML


def _put_toml(text: str, key: str, name: str, entry: Entry) -> str:
    end = _line_end(text)
    table = _table(key, name, {one: value for one, value in entry.items() if not isinstance(value, dict)}, end)
    span = _table_span(text, key, name)
    if span is not None:
        return text[: span[0]] + table + text[span[1] :]
    gap = "" if not text else (end if text.endswith("\n") else end * 2)
    return f"{text}{gap}{table}"


def _take_out_toml(text: str, key: str, name: str) -> str:
    while (span := _table_span(text, key, name, tables_below=True)) is not None:
        text = text[: span[0]].rstrip("\r\n") + (_line_end(text) if text[: span[0]].strip() else "") + text[span[1] :]
    return text


def _table_span(text: str, key: str, name: str, *, tables_below: bool = False) -> tuple[int, int] | None:
    """Where a table stands: from its header to its last value. Comments after that belong to what follows."""
    names = rf"""(?:{re.escape(name)}|"{re.escape(name)}"|'{re.escape(name)}')"""
    below = r"(?:\s*\.[^\]\n]+)?" if tables_below else ""
    found = re.search(rf"^[ \t]*\[[ \t]*{re.escape(key)}[ \t]*\.[ \t]*{names}[ \t]*{below}\][^\n]*(?:\n|\Z)", text, re.MULTILINE)
    if found is None:
        return None
    end = found.end()
    for line in re.compile(r"[^\n]*(?:\n|\Z)").finditer(text, end):
        if re.match(r"\s*\[\[?[^\[\],]+\]\]?\s*(?:#.*)?$", line[0]):
            break
        if line[0].strip() and not line[0].lstrip().startswith("#"):
            end = line.end()
    return found.start(), end


def _table(key: str, name: str, entry: Entry, end: str) -> str:
    quoted = name if _BARE.fullmatch(name) else json.dumps(name)
    lines = [f"[{key}.{quoted}]", *(f"{one} = {json.dumps(value, ensure_ascii=False)}" for one, value in entry.items())]
    return "".join(f"{line}{end}" for line in lines)
