"""At which address is the gateway of a service?"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from repertory.errors import InvalidRequest

PATH = "/mcp"
DISCOVER = "discover=1"


def gate_address(url: str, *, discover: bool = False) -> str:
    """The address for agents: of a service that is named without a path, its gateway."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequest(f"{url!r} is no http(s) address. Give one such as http://127.0.0.1:8321/mcp.")
    asked = "&".join(filter(None, (parts.query, DISCOVER if discover and DISCOVER not in parts.query.split("&") else "")))
    return urlunsplit(parts._replace(path=PATH if parts.path in ("", "/") else parts.path, query=asked, fragment=""))
