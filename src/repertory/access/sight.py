"""Who may see what?

The one place that turns a request and whoever makes it into the filter that search, lists and reads apply (A13, A18), and that strips an
entry for whoever it is shown to.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from repertory.model import PUBLIC, Entity, Filter, Principal, SearchRequest, Status, bucket_of, offers_of
from repertory.model.offer import PRIVATE

ALWAYS = frozenset({Status.ACTIVE, Status.BETA})
ADMINS_ONLY = (
    "audience",
    "scopes",
    "provenance",
    "links",
    "findings",
)  # who else may see an entry, where its file is, what it links to unseen

# Of the details: a tool's entry as it stands in an index file (C06), with its audience; what a file states of others, which edges tell.
ADMINS_DETAILS = ("index", "statements")


def filter_for(request: SearchRequest, principal: Principal) -> Filter:
    """What this request of this principal may find."""
    statuses = set(ALWAYS)
    if request.include_deprecated:
        statuses.add(Status.DEPRECATED)
    if request.include_draft:
        statuses.add(Status.DRAFT)
    wanted = Filter(request.kinds, frozenset(statuses), request.include_disabled, tags=request.tags)
    return narrow(wanted, principal)


def narrow(filter: Filter, principal: Principal) -> Filter:
    """The same filter, limited to what this principal may see."""
    groups, scopes = (None, None) if principal.is_admin else (principal.groups, principal.scopes)
    return replace(filter, audience=groups, scopes=scopes)


@lru_cache(maxsize=1024)  # asked for every entry that is shown
def everything_for(principal: Principal) -> Filter:
    """What this principal may read when it names an entry: of any kind, in any state."""
    return narrow(Filter(statuses=frozenset(Status), include_disabled=True), principal)


def callable_by(principal: Principal) -> Filter:
    """What this principal may call: what it may see and is switched on, whatever its status."""
    return narrow(Filter(statuses=frozenset(Status)), principal)


def held_for(principal: Principal) -> Filter:
    """What this principal may review: everything that is held back, if it looks after the catalog (F06)."""
    return replace(everything_for(principal), held=True)


def offered(entity: Entity, filter: Filter) -> Entity:
    """The entry with those of its tools that whoever has this filter may see; of what each asks for, only administrators hear."""
    offers = offers_of(entity)
    if not offers:  # nearly every entry
        return entity
    private = () if filter.audience is None and filter.scopes is None else PRIVATE
    buckets = [bucket_of(entity, offer) for offer in offers]
    seen = [
        {key: value for key, value in offer.items() if key not in private}
        for offer, bucket in zip(offers, buckets, strict=True)
        if filter.is_open_to(bucket) and filter.held in (None, bucket.held)
    ]
    return entity if seen == offers else replace(entity, details={**entity.details, "tools": seen})


def reveal(entity: Entity, principal: Principal) -> Entity:
    """The entry as this principal may see it. Every surface shows what comes out of here, and nothing else."""
    shown = offered(entity, everything_for(principal))
    if principal.is_admin:
        return shown
    details = {key: value for key, value in shown.details.items() if key not in ADMINS_DETAILS}
    return replace(shown, details=details, audience=frozenset({PUBLIC}), scopes=frozenset(), provenance="", links=(), findings=())


def shown(entity: Entity, principal: Principal) -> dict[str, Any]:
    """The same as plain JSON, without the keys that say nothing to this principal."""
    private = () if principal.is_admin else ADMINS_ONLY
    return {name: value for name, value in reveal(entity, principal).as_json().items() if name not in private}
