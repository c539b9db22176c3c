"""Which servers does an MCP registry know?

A `server.json` (schema 2025-12-11), alone, in an array, or as a registry's API lists it: `{server, _meta}`. Of each server the latest
version is an entity; what a registry has deleted is `Gone`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from repertory.model import Entity, Kind, Status
from repertory.sources import attributes
from repertory.sources.attributes import Invalid
from repertory.sources.base import Gone, Problem
from repertory.sources.content import Unreadable, glimpse, storable
from repertory.sources.values import JSON_SUFFIX, Loading

OFFICIAL = "io.modelcontextprotocol.registry/official"  # where a registry says what it knows of a version
_SCHEMA = "server.schema.json"
KEPT = {  # of a server.json, and what we call it
    "repository": "repository",
    "websiteUrl": "website_url",
    "packages": "packages",
    "remotes": "remotes",
    "icons": "icons",
}
_STATUSES = {"active": Status.ACTIVE, "deprecated": Status.DEPRECATED}
_DELETED = "deleted"
_NUMBER = re.compile(r"\d{1,18}")  # the interpreter turns no more than some thousand digits into a number


class Record(NamedTuple):
    """One version of a server."""

    server: Mapping[str, Any]
    told: Mapping[str, Any]  # by the registry
    position: int  # in its list

    @property
    def age(self) -> tuple[object, ...]:
        """What sorts versions: the registry's word, else the version, else who comes last."""
        return self.told.get("isLatest") is True, _version(str(self.server.get("version") or "")), self.position


class RegistryReader:
    """Reads server.json files."""

    def __init__(self) -> None:
        self._loading = Loading()

    def recognises(self, file: Path) -> bool:
        """By the schema that it names, or by how its servers are to be had."""
        if file.suffix.lower() != JSON_SUFFIX:
            return False
        head = glimpse(file)
        if not any(key in head for key in (_SCHEMA, '"packages"', '"remotes"', OFFICIAL)):
            return False
        try:
            return records(self._loading.look(file).value) is not None
        except Unreadable:
            return _SCHEMA in head

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """A server for each name."""
        try:
            found = records(self._loading.take(file).value)
        except Unreadable as error:
            yield error.problem(file)
            return
        where = str(file.absolute())
        for item in servers(found or [], storable(where), lambda _: where):
            if not isinstance(item, Gone):
                yield item


def records(value: Any) -> list[Any] | None:
    """The versions in a value, each still as it stands there; None if it is something else."""
    if isinstance(value, dict) and isinstance(value.get("servers"), list):
        value = value["servers"]
        return value if not value or any(map(_is_record, value)) else None
    if isinstance(value, list):
        return value if any(map(_is_record, value)) else None
    return [value] if _is_record(value) else None


def servers(found: list[Any], where: str, provenance: Callable[[str], str]) -> Iterator[Entity | Problem | Gone]:
    """Of each server in a list the latest version. `provenance` tells by its name where a server is from."""
    latest: dict[str, Record] = {}
    for position, entry in enumerate(found):
        try:
            record = _record(entry, position)
            name = attributes.name(record.server)
        except Invalid as error:
            yield Problem(where, f"servers[{position}]: {error}")
            continue
        if name not in latest or record.age > latest[name].age:
            latest[name] = record
    for name, record in latest.items():
        place = provenance(name)
        try:
            yield _entity(name, record, place)
        except Invalid as error:
            yield Problem(storable(place), f"{name}: {error}")


def address_of(endpoint: str, name: str) -> str:
    """Where a registry tells of one server."""
    return f"{endpoint}/{quote(name, safe='')}/versions/latest"


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("server"), dict):
        return OFFICIAL in (value.get("_meta") or {}) or _is_record(value["server"])
    if _SCHEMA in str(value.get("$schema")):
        return True
    return "name" in value and "version" in value and (isinstance(value.get("packages"), list) or isinstance(value.get("remotes"), list))


def _record(entry: Any, position: int) -> Record:
    if not isinstance(entry, dict):
        raise Invalid("", f"it must be an object with a name, not {attributes.shown(entry)}")
    wrapped = entry.get("server")
    server = wrapped if isinstance(wrapped, dict) else entry
    told = (entry.get("_meta") or {}) if isinstance(entry.get("_meta"), dict | None) else {}
    official = told.get(OFFICIAL)
    return Record(server, official if isinstance(official, dict) else {}, position)


def _entity(name: str, record: Record, provenance: str) -> Entity | Gone:
    server, told = record.server, record.told
    said = told.get("status") or server.get("status") or "active"  # older schemas had it in the file
    if said == _DELETED:
        return Gone(f"{Kind.MCP_SERVER.prefix}:{name}")
    if said not in _STATUSES:
        raise Invalid("status", f"status must be one of {', '.join((*_STATUSES, _DELETED))}, not {attributes.shown(said)}")
    details = {
        "title": attributes.text(server, "title"),
        "version": attributes.text(server, "version"),
        **kept(server),
        "status_message": attributes.text(told, "statusMessage"),
    }
    return Entity(
        kind=Kind.MCP_SERVER,
        path=name,
        name=name,
        description=attributes.text(server, "description"),
        details={key: value for key, value in details.items() if value},
        status=_STATUSES[said],
        modified=_moment(told.get("updatedAt") or told.get("publishedAt")),
        provenance=provenance,
    )


def kept(server: Mapping[str, Any]) -> dict[str, Any]:
    """What of a server tells how it is to be had, without secrets."""
    return {ours: _told(server.get(theirs)) for theirs, ours in KEPT.items() if server.get(theirs)}


def _told(value: Any) -> Any:
    """A value without the secrets that somebody may have filled in."""
    if isinstance(value, list):
        return [_told(item) for item in value]
    if isinstance(value, dict):
        hidden = ("value", "default") if value.get("isSecret") is True else ()
        return {key: _told(item) for key, item in value.items() if key not in hidden}
    return value


def _version(text: str) -> tuple[object, ...]:
    """What sorts versions: numbers as numbers, and a pre-release before its release."""
    plain, _, more = text.partition("+")[0].partition("-")
    return tuple(map(int, _NUMBER.findall(plain)[:4])), not more, tuple(map(int, _NUMBER.findall(more)[:4]))


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
