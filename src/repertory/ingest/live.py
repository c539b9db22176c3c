"""How do the entries of live servers get in, and stay true?

Each server of a config is a source of its own, and so is one that was given by its address alone. One that fails keeps its entries and is
marked broken with its reason; the next success clears it. What a server needs is read from its config each time: commands, variables and
headers are never stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from repertory.errors import SourceError
from repertory.indexes.sync import Sync
from repertory.ingest.report import IngestReport
from repertory.ingest.run import ingest, source_name
from repertory.ingest.screen import DEFAULT, Policy
from repertory.model import Level
from repertory.sources import clients
from repertory.sources.base import Problem
from repertory.sources.clients import Config
from repertory.sources.content import Unreadable
from repertory.sources.mcp import Offer, Outcome
from repertory.sources.serverspec import ServerSpec
from repertory.sources.web import is_address
from repertory.store import SourceRecord, Store

MAX_NAME = 60  # letters of what a server calls itself

_UNNAMELY = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """A source, and the server to ask for it."""

    location: str
    spec: ServerSpec


@dataclass(slots=True)
class Round:
    """Whom to ask, and what is known before anybody is asked."""

    asked: list[Asked] = field(default_factory=list)
    reports: list[IngestReport] = field(default_factory=list)


def config_at(path: Path) -> Path | None:
    """The config of servers at a path, if that is what is there."""
    try:
        file = path.expanduser().resolve()
        return file if clients.is_config(file) else None
    except (OSError, ValueError, RuntimeError):  # a NUL in the name, no home directory: whoever reads the path says so
        return None


def open_config(file: Path, store: Store, sync: Sync) -> Round:
    """Make every server of a config a source, and let those go that it no longer names."""
    config = read_config(file)
    known = {source.name: source for source in store.sources()}
    found = Round()
    for name, problem in config.problems.items():
        if name in known and known[name].location == config.location(name):  # it was well before: its entries stay
            found.reports.append(_broken(name, problem.file, problem.message, store, sync))
        else:
            found.reports.append(_problem_report(name, problem))
    for name, spec in config.specs.items():
        location = config.location(name)
        if name in known and known[name].location != location:
            message = f"{name!r} is the name of another source, {known[name].location}; this server is left out. Rename one of them."
            found.reports.append(_problem_report(name, Problem(location, message)))
        else:
            store.put_source(name, location, live=True)
            found.asked.append(Asked(location, spec))
    mentioned = {config.location(name) for name in (*config.specs, *config.problems)}
    for source in known.values():
        if source.live and source.location not in mentioned and _file_of(source) == file:
            found.reports.append(ingest(source.name, source.location, (), store, sync, live=True))
            store.drop_source(source.name)
    return found


def read_config(file: Path) -> Config:
    """The servers of a config. Raises `SourceError`."""
    try:
        return clients.read(file)
    except Unreadable as error:
        raise SourceError(f"{error.problem(file).where}: {error}") from error


def spec_at(address: str, name: str = "") -> ServerSpec:
    """How a server is reached of which only the address is known. Raises `SourceError`."""
    if "${" in address:  # filled in, it would send a variable of ours to whoever is there
        raise SourceError("An address is taken as it is: variables belong into a config of servers.")
    return ServerSpec(name or urlsplit(address).netloc, clients.transport_of(address), url=address)


def spec_of(source: SourceRecord) -> ServerSpec:
    """How the server of a live source is reached, as its config says now. Raises `SourceError`."""
    if is_address(source.location):
        return spec_at(source.location, source.name)
    file = _file_of(source)
    config = read_config(file)
    if source.name not in config.specs:
        problem = config.problems.get(source.name)
        raise SourceError(f"{source.name!r}: {problem.message if problem else f'{file} no longer names it'}")
    return config.specs[source.name]


def due(sources: Iterable[SourceRecord], store: Store, sync: Sync) -> Round:
    """The live sources as their configs are now. One whose config is gone, or no longer names it, is broken."""
    found = Round()
    configs: dict[Path, Config | str] = {}
    for source in sources:
        if is_address(source.location):
            found.asked.append(Asked(source.location, spec_at(source.location, source.name)))
            continue
        file = _file_of(source)
        if file not in configs:
            try:
                configs[file] = read_config(file)
            except SourceError as error:
                configs[file] = str(error)
        config = configs[file]
        name = source.name
        if isinstance(config, str):
            found.reports.append(_broken(source.name, source.location, config, store, sync))
        elif name in config.specs:
            found.asked.append(Asked(source.location, config.specs[name]))
        else:
            problem = config.problems.get(name)
            reason = problem.message if problem else f"{file} no longer names it; `repertory add {file}` removes its entries"
            found.reports.append(_broken(source.name, source.location, reason, store, sync))
    return found


def take_in(asked: Asked, outcome: Outcome, store: Store, sync: Sync, policy: Policy = DEFAULT) -> IngestReport:
    """Write what a server told, or that it did not."""
    name = asked.spec.name
    if isinstance(outcome, Offer):
        return ingest(name, asked.location, outcome.entities(asked.location), store, sync, policy=policy, live=True)
    return _broken(name, asked.location, str(outcome), store, sync)


def take_in_at(address: str, offer: Offer, store: Store, sync: Sync, policy: Policy = DEFAULT) -> IngestReport:
    """Make the server that answered at an address a source, under the name that it gives itself."""
    own_name = _UNNAMELY.sub("-", offer.own_name.lower()).strip("-")[:MAX_NAME]
    name = source_name(address, own_name or urlsplit(address).netloc, store)
    named = replace(offer, server={**offer.server, "name": name})
    return take_in(Asked(address, spec_at(address, name)), named, store, sync, policy)


def together(source: str, reports: Sequence[IngestReport]) -> IngestReport:
    """Several reports as one."""
    total = IngestReport(source, parts=list(reports))
    for report in reports:
        total.added += report.added
        total.changed += report.changed
        total.removed += report.removed
        total.unchanged += report.unchanged
        total.documents += report.documents
        total.held += report.held
        total.flagged += report.flagged
        total.worst = max(total.worst, report.worst, key=_severity)
        total.problems += report.problems
    return total


def _severity(worst: str) -> int:
    return Level(worst.partition(" ")[0]).severity if worst else -1


def _broken(name: str, location: str, reason: str, store: Store, sync: Sync) -> IngestReport:
    if store.mark_source(name, error=reason):
        sync.catch_up()  # whoever searches from now on sees it
    return IngestReport(name, unchanged=len(store.digests(name)), broken=True, problems=[Problem(location, reason)])


def _problem_report(name: str, problem: Problem) -> IngestReport:
    return IngestReport(name, problems=[problem])


def _file_of(source: SourceRecord) -> Path:
    """The config of a live source, whose own name may hold the separator, too."""
    return Path(source.location.removesuffix(f"{clients.SEPARATOR}{source.name}"))
