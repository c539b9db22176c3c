"""Who may see what?

The one place that turns a request and whoever makes it into the filter that search, lists and reads apply (A13, A18).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from repertory.model import Filter, Principal, SearchRequest, Status

ALWAYS = frozenset({Status.ACTIVE, Status.BETA})


def filter_for(request: SearchRequest, principal: Principal) -> Filter:
    """What this request of this principal may find."""
    statuses = set(ALWAYS)
    if request.include_deprecated:
        statuses.add(Status.DEPRECATED)
    if request.include_draft:
        statuses.add(Status.DRAFT)
    return Filter(
        kinds=request.kinds,
        statuses=frozenset(statuses),
        include_disabled=request.include_disabled,
        audience=principal.groups,
        tags=request.tags,
    )


def narrow(filter: Filter, principal: Principal) -> Filter:
    """The same filter, limited to what this principal may see."""
    return replace(filter, audience=principal.groups)


def everything_for(principal: Principal) -> Filter:
    """What this principal may read when it names an entry: of any kind, in any state."""
    return Filter(statuses=frozenset(Status), include_disabled=True, audience=principal.groups)


def callable_by(principal: Principal) -> Filter:
    """What this principal may call: what it may see and is switched on, whatever its status."""
    return Filter(statuses=frozenset(Status), audience=principal.groups)


def may_use(tool: Mapping[str, Any], principal: Principal) -> bool:
    """Whether this principal has the scopes that a tool of a virtual server asks for."""
    return principal.is_owner or not tool.get("scopes")
