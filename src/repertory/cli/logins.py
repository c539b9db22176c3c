"""How does somebody log in at a server from a terminal?"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from repertory.cli.terminal import CatalogOption, JsonOption, err, out, print_json, read_settings
from repertory.errors import CatalogBusy, InvalidRequest, NotFound, UpstreamError
from repertory.gateway.credentials import EVERYONE, Credential, Key, Vault
from repertory.model import Principal
from repertory.settings import Settings
from repertory.sources.serverspec import ServerSpec, Transport, Unresolved, origin, overlaid, resolve

if TYPE_CHECKING:
    from repertory.store import SourceRecord

app = typer.Typer()

AGENT = "agent:"
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept", "content-type"})  # what the protocol itself needs
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, 5.1

ServerArgument = Annotated[str, typer.Argument(metavar="SERVER", help="The name of a server, or the id of an agent (agent:NAME).")]
AsOption = Annotated[str | None, typer.Option("--as", metavar="PRINCIPAL", help="For this principal.", show_default="the owner")]
EveryoneOption = Annotated[bool, typer.Option("--everyone", help="For all who have no login of their own, whoever they are.")]


@app.command()
def login(
    server: ServerArgument,
    principal: AsOption = None,
    everyone: EveryoneOption = False,
    bearer: Annotated[bool, typer.Option("--bearer", help="With a token, which is asked for or read from stdin.")] = False,
    header: Annotated[
        list[str] | None, typer.Option("--header", metavar="NAME", help="With a header, whose value is asked for or read from stdin.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address to open.")] = False,
    catalog: CatalogOption = None,
) -> None:
    """Log in at a server: in the browser (OAuth), or with a token or headers."""
    settings = read_settings(catalog=catalog)
    key = Key(server, _whose(principal, everyone))
    vault = Vault(settings.catalog, settings.credentials)
    former = vault.get(key)
    if bearer or header:
        asked = {**({"Authorization": "token"} if bearer else {}), **{_header_name(name): name for name in header or ()}}
        where = asyncio.run(_origin(settings, server))
        given = {name: _asked(what) for name, what in asked.items()}
        if bearer:
            given["Authorization"] = f"Bearer {given['Authorization']}"
        keeps = former if former is not None and former.origin == where else Credential(where)
        oauth = None if "authorization" in map(str.lower, given) else keeps.oauth
        credential = Credential(where, overlaid(keeps.headers, given), oauth, keeps.expires if oauth else None)
    elif server.startswith(AGENT):
        raise InvalidRequest(f"{server!r} is an agent: log in with --bearer or --header.")
    else:
        spec = asyncio.run(_spec(settings, server))
        credential = asyncio.run(_in_browser(spec, browser=not no_browser))
        if former is not None and former.origin == credential.origin:
            kept = {name: value for name, value in former.headers.items() if name.lower() != "authorization"}
            credential = Credential(credential.origin, kept, credential.oauth, credential.expires)
    if _is_overheard(credential.origin):
        _say(f"note: {credential.origin} is not https; whoever is on the way there can read what is sent.")
    vault.put(key, credential)
    whose = "Everyone" if key.principal == EVERYONE else key.principal
    _say(f"{whose} is logged in at {server} ({credential.origin}).")


@app.command()
def logout(server: ServerArgument, principal: AsOption = None, everyone: EveryoneOption = False, catalog: CatalogOption = None) -> None:
    """Forget a login."""
    settings = read_settings(catalog=catalog)
    key = Key(server, _whose(principal, everyone))
    if not Vault(settings.catalog, settings.credentials).remove(key):
        raise NotFound(f"{key.principal!r} is not logged in at {server!r}. `repertory logins` shows who is where.")
    _say(f"{'Everyone' if key.principal == EVERYONE else key.principal} is logged out of {server}.")


@app.command()
def logins(catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    """Show who is logged in where; secrets are not shown."""
    settings = read_settings(catalog=catalog)
    held = Vault(settings.catalog, settings.credentials).all()
    rows = [_shown(key, credential) for key, credential in sorted(held.items())]
    if as_json:
        return print_json({"logins": rows})
    if not rows:
        return _say("Nobody is logged in anywhere. `repertory login SERVER` does it.")
    from rich.table import Table

    from repertory.cli.render import clean

    table = Table("server", "principal", "address", "by", "expires", box=None, header_style="bold")
    for row in clean({"rows": rows})["rows"]:
        table.add_row(*(str(row[name] or "") for name in ("server", "principal", "origin", "by", "expires")))
    out.print(table)


def _shown(key: Key, credential: Credential) -> dict[str, Any]:
    by = [*(["oauth"] if credential.oauth else []), *credential.headers]
    over = credential.expires is not None and credential.expires <= time.time()
    expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(credential.expires)) if credential.expires else None
    if credential.renewable:
        expires = f"{expires or 'when the server says'}, then renewed"
    elif over:
        expires = f"{expires}: expired, log in again"
    return {"server": key.server, "principal": key.principal, "origin": credential.origin, "by": ", ".join(by), "expires": expires}


def _whose(principal: str | None, everyone: bool) -> str:
    if principal is not None and (everyone or principal == EVERYONE or not principal.strip()):
        raise InvalidRequest("Name a principal with --as, or all of them with --everyone, not both.")
    return EVERYONE if everyone else principal or Principal().name


def _is_overheard(where: str) -> bool:
    parts = urlsplit(where)
    return parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1")


def _header_name(name: str) -> str:
    if not _NAME.fullmatch(name) or name.lower() in OURS or name.lower().startswith("mcp-"):
        raise InvalidRequest(f"{name!r} is no header that can be set.")
    return name


def _asked(what: str) -> str:
    """A secret, which is not echoed; where nobody types, a line of stdin."""
    value = typer.prompt(what, hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    value = str(value).strip()
    if not value or not value.isprintable() or not value.isascii():
        raise InvalidRequest(f"The {what} must be one line of text.")
    return value


async def _origin(settings: Settings, server: str) -> str:
    """Where a credential may be sent."""
    if not server.startswith(AGENT):
        return (await _spec(settings, server)).target
    from repertory.cli.session import session

    async with session(settings) as asked:
        details = (await asked.show(server)).get("details") or {}
    told = [one.get("url", "") for one in details.get("interfaces") or [details]]
    found = {origin(str(url)) for url in told}
    if len(found) != 1:
        raise InvalidRequest(f"{server!r} can be reached at {len(found)} places; one login cannot be for all of them.")
    return found.pop()


async def _spec(settings: Settings, server: str) -> ServerSpec:
    """How a server is reached, as its config says now."""
    from repertory.ingest.live import spec_of

    live = {source.name: source for source in await _sources(settings) if source.live}
    if server not in live:
        known = ", ".join(live) or "none yet: `repertory add` a config that names it"
        raise NotFound(f"There is no live server {server!r}. Live servers: {known}.")
    spec = spec_of(live[server])
    if spec.transport is Transport.STDIO:
        raise InvalidRequest(f"{server!r} is a command on this machine. What it should know goes into `env` in its config.")
    try:
        return resolve(spec, os.environ).spec
    except Unresolved as error:
        raise UpstreamError(f"The server {server!r} cannot be reached: {error}.") from None


async def _sources(settings: Settings) -> list[SourceRecord]:
    from repertory.cli.session import session
    from repertory.store import SourceRecord, open_store

    try:
        async with session(settings) as asked:
            return [SourceRecord(**source) for source in (await asked.sources())["sources"]]
    except CatalogBusy:  # by an agent's `repertory mcp`, which nobody wants to stop in order to log in; reading disturbs it not
        with contextlib.closing(open_store(settings)) as store:
            return store.sources()


async def _in_browser(spec: ServerSpec, *, browser: bool) -> Credential:
    from repertory.gateway.authorize import log_in

    def show(url: str) -> None:
        _say("Log in at this address:")
        typer.echo(url, err=True)
        if browser:
            import webbrowser

            webbrowser.open(url)

    return await log_in(spec, show)


def _say(text: str) -> None:
    err.print(text, markup=False, highlight=False, soft_wrap=True)
