"""Which values does a JSON or YAML text hold?

Both become the same plain values: dicts with text keys, lists, text, finite numbers, booleans, None. Whatever a file
holds, the answer is a value or an `Unreadable` with its line: never a crash, never values that no JSON can carry.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from repertory.sources.content import MAX_BYTES, Unreadable, glimpse, read_text, storable

if TYPE_CHECKING:
    from yaml import SafeLoader as _BaseLoader
else:
    _BaseLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

JSON_SUFFIX = ".json"
SUFFIXES = frozenset({JSON_SUFFIX, ".yaml", ".yml"})
MAX_INDEX_BYTES = 256 * 1024 * 1024  # an index file (C06) carries its embeddings: some 30 kB a tool
MAX_DEPTH = 100  # no honest schema is deeper; libyaml recurses in C and takes the process down at some 50,000
MAX_EXPANDED = 2 * MAX_BYTES  # characters with aliases written out: ten lines of them can stand for terabytes
MAX_LOCATED = 1024 * 1024  # line numbers are for people who edit a text, not for generated megabytes

_EMBEDDINGS = re.compile(r'"(?:embedding|embeddingDimensions)"\s*:')

Step = str | int


class Parsed:
    """A value and the text it came from, so that a reader can point at a line."""

    def __init__(self, value: Any, text: str, first_line: int = 1) -> None:
        self.value = value
        self._text = text
        self._first_line = first_line

    def line(self, *steps: Step) -> int | None:
        """The line of the value at the end of the steps, or of the nearest one above it."""
        node = self._root
        if node is None:
            return None
        mark = node.start_mark
        for step in steps:
            if isinstance(node, yaml.MappingNode):
                pairs = ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))
                found = next(((key.start_mark, value) for key, value in pairs if key.value == step), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                found = (node.value[step].start_mark, node.value[step])
            else:
                found = None
            if found is None:
                break
            mark, node = found
        return int(mark.line) + self._first_line

    @cached_property
    def _root(self) -> yaml.Node | None:
        """The text as YAML nodes, which know their lines; but for its tabs, JSON is YAML enough for this."""
        if len(self._text) > MAX_LOCATED:
            return None
        with contextlib.suppress(yaml.YAMLError):
            node: yaml.Node | None = yaml.compose(self._text.replace("\t", " "), Loader=_Loader)
            return node
        return None


class Loading:
    """Loads files for one reader: what `recognises` has parsed, the `read` that follows need not parse again."""

    def __init__(self) -> None:
        self._seen: tuple[Path, Parsed] | None = None

    def look(self, file: Path) -> Parsed:
        """The value of a file, kept for `take`."""
        parsed = load(file)
        self._seen = (file, parsed)
        return parsed

    def take(self, file: Path) -> Parsed:
        """The value of a file. Nothing is kept: the next call sees the file as it is then (A14)."""
        seen, self._seen = self._seen, None
        return seen[1] if seen is not None and seen[0] == file else load(file)


def load(file: Path) -> Parsed:
    """The value of a JSON or YAML file, told apart by its suffix."""
    if file.suffix.lower() == JSON_SUFFIX:
        return parse_json(read_text(file, MAX_INDEX_BYTES if _EMBEDDINGS.search(glimpse(file)) else MAX_BYTES))
    return parse_yaml(read_text(file))


def parse_json(text: str) -> Parsed:
    """The value of a JSON text."""
    try:
        return Parsed(plain(json.loads(text)), text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"is not valid JSON: {error.msg}, column {error.colno}", error.lineno) from error
    except ValueError as error:  # an integer beyond the interpreter's limit of digits
        raise Unreadable(f"is not usable JSON: {error}") from error
    except RecursionError as error:
        raise _too_deep() from error


def parse_yaml(text: str, first_line: int = 1) -> Parsed:
    """The value of a YAML text that starts on this line of its file."""
    try:
        _measure(text, first_line)
        return Parsed(plain(yaml.load(text, Loader=_Loader)), text, first_line)  # noqa: S506  a safe loader, made narrower
    except yaml.MarkedYAMLError as error:
        raise _bad_yaml(error, first_line) from error
    except yaml.YAMLError as error:
        raise Unreadable(f"is not valid YAML: {' '.join(str(error).split())}", first_line) from error
    except RecursionError as error:
        raise _too_deep() from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # what PyYAML lets through: "!!bool maybe"
        raise Unreadable(f"is not valid YAML: a value does not fit its !!tag ({error})", first_line) from error


class _Loader(_BaseLoader):
    """YAML with keys as written ("on" stays "on"), dates as ISO text, and odd scalars as text instead of errors."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError(None, None, "an object was expected", node.start_mark)
        self.flatten_mapping(node)
        mapping: dict[Any, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be text", key.start_mark)
            mapping[key.value] = self.construct_object(value, deep=deep)
        return mapping

    def construct_timestamp_text(self, node: Any) -> str:
        try:
            return str(self.construct_yaml_timestamp(node).isoformat())
        except (ValueError, OverflowError):  # "2024-99-99" looks like a date and is none
            return str(node.value)

    def construct_integer(self, node: Any) -> int | str:
        try:
            return self.construct_yaml_int(node)
        except ValueError:
            return str(node.value)

    def construct_text(self, node: Any) -> str:
        return str(self.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_timestamp_text)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_integer)
_Loader.add_constructor("tag:yaml.org,2002:binary", _Loader.construct_text)


def _measure(text: str, first_line: int) -> None:
    """Refuse what would be too deep or too large, from the event stream, which costs a tenth of composing."""
    sizes: dict[str, int] = {}  # by anchor, of what is complete
    open_nodes: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                message = f"the alias *{event.anchor} has no complete &{event.anchor} before it"
                raise Unreadable(message, _line(event, first_line))
            total += sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            total += 1 + len(event.value)
            if event.anchor:
                sizes[event.anchor] = 1 + len(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, total))
            total += 1
            if len(open_nodes) > MAX_DEPTH:
                raise _too_deep(_line(event, first_line))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = total - before
        if total > MAX_EXPANDED:
            message = "its aliases expand to more than is read from one file; write fewer of them"
            raise Unreadable(message, _line(event, first_line))


def _bad_yaml(error: yaml.MarkedYAMLError, first_line: int) -> Unreadable:
    """Where the parser gave up, and where the thing began that it was in: an open bracket is noticed far below it."""
    began, ended = error.context_mark, error.problem_mark or error.context_mark
    message = f"is not valid YAML: {error.problem or error.context}"
    if began is not None and ended is not None and began.line < ended.line:
        message += f", {error.context} that began on line {began.line + first_line}"
    return Unreadable(message, ended.line + first_line if ended is not None else None)


def _line(event: yaml.Event, first_line: int) -> int | None:
    return event.start_mark.line + first_line if event.start_mark is not None else None


def _too_deep(line: int | None = None) -> Unreadable:
    return Unreadable(f"is nested deeper than {MAX_DEPTH} levels, the most that is read; flatten it", line)


def plain(value: Any, depth: int = 0) -> Any:
    """A value as every store and every JSON can carry it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict | list | tuple | set) and depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, dict):
        return {storable(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, set):
        return sorted(str(item) for item in value)
    return value
