"""When does a running server say that its tools have changed?

A server of the handshake era says so unasked, one of the stateless era to those who have subscribed. Listening is an extra: whoever cannot
be listened to is asked again in time.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from repertory.sources.serverspec import ServerSpec, Unresolved, resolve

if TYPE_CHECKING:
    from mcp import Client

    from repertory.sources.sieve import Sieve

_log = logging.getLogger(__name__)


async def listen(spec: ServerSpec, changed: Callable[[], None], environment: Mapping[str, str] | None = None) -> None:
    """Stay with a server, and call `changed` when it says that its tools have. Returns when there is nothing more to hear."""
    import anyio
    from mcp import Client
    from mcp_types import ToolListChangedNotification

    from repertory.sources.transports import Wire

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed()

    try:
        resolved = resolve(spec, os.environ if environment is None else environment)
        with Wire(resolved, stays=True) as wire, anyio.move_on_after(spec.timeout) as limit:
            async with Client(wire.open(limit.cancel), cache=None, message_handler=heard) as client:
                limit.deadline = math.inf  # the time was for the greeting
                await _stay(client, wire.listing, changed)
    except Unresolved:
        return
    except Exception as error:  # whatever a stranger's server makes the SDK raise concerns that server alone
        _log.debug("Listening to %s ended: %s", spec.name, type(error).__name__)


async def _stay(client: Client, listing: Sieve, changed: Callable[[], None]) -> None:
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    tools = client.server_capabilities.tools
    if tools is None or not tools.list_changed:
        return
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        async with client.listen(tools_list_changed=True) as news:
            async for _ in news:
                changed()
    else:
        await listing.hushed.wait()
