"""How does an OAuth login stay valid?

Through the SDK's client, which asks for a new token in the way that the authorization server wants. What it forgets with its process (when
a token expires, and where a new one is asked for) is restored from the credential. Nobody can log in here: who must is told so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from pydantic import AnyUrl, BaseModel, ValidationError

from repertory.errors import UpstreamError
from repertory.gateway.credentials import Credential
from repertory.sources.transports import bounded

PATIENCE = 30.0  # seconds for an authorization server
PROTOCOL = "2025-06-18"  # from which on a token is asked for one server alone (RFC 8707)
NAME = "Repertory"  # what a person reads who is asked to let us in
NOWHERE = "http://127.0.0.1/callback"  # a redirect address for who never redirects
DEAD = frozenset({400, 401, 403})  # the statuses with which a token endpoint says that it will not take a refresh token again


class Shown(httpx2.Auth):
    """Shows a token with every request, and once more a newer one where it was refused."""

    def __init__(self, token: Callable[[str | None], Awaitable[str | None]], shown: set[str]) -> None:
        self._token = token
        self._shown = shown

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """What httpx2 asks for each request."""
        token = await self._token(None)
        self._show(request, token)
        response = yield request
        if response.status_code == 401 and token is not None:
            newer = await self._token(token)
            if newer != token:
                self._show(request, newer)
                yield request

    def _show(self, request: httpx2.Request, token: str | None) -> None:
        if token is not None:
            self._shown.add(token)
            request.headers["Authorization"] = f"Bearer {token}"


class Provider(OAuthClientProvider):
    """The SDK's client, whose whole state is a credential."""

    def __init__(self, url: str, redirect: str = NOWHERE, **handlers: Any) -> None:
        metadata = OAuthClientMetadata(
            client_name=NAME,
            redirect_uris=[AnyUrl(redirect)],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",  # noqa: S106 - the name of a method: a program on somebody's machine keeps no secret
        )
        super().__init__(url, metadata, _Forgetful(), **handlers)
        self._initialized = True  # there is no storage to read from
        self.context.protocol_version = PROTOCOL

    def restore(self, oauth: Any, expires: float | None) -> None:
        """Be as it was when `taken` was asked."""
        context = self.context
        context.current_tokens = OAuthToken.model_validate(oauth["tokens"])
        context.client_info = OAuthClientInformationFull.model_validate(oauth["client"])
        context.token_expiry_time = expires
        context.oauth_metadata = OAuthMetadata.model_validate(oauth["metadata"]) if oauth["metadata"] else None
        context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(oauth["resource"]) if oauth["resource"] else None

    def taken(self) -> dict[str, Any]:
        """Everything that must be kept."""
        context = self.context
        parts = {
            "tokens": context.current_tokens,
            "client": context.client_info,
            "metadata": context.oauth_metadata,
            "resource": context.protected_resource_metadata,
        }
        return {name: _plain(part) for name, part in parts.items()}


async def renewed(credential: Credential, url: str) -> Credential:
    """The credential with a new token, or, when there will be none, without the means to get one. Raises `UpstreamError`."""
    if credential.oauth is None:
        return credential
    provider = Provider(url)
    provider.restore(credential.oauth, credential.expires)
    request = await provider._refresh_token()
    try:
        async with httpx2.AsyncClient(timeout=PATIENCE, transport=bounded()) as http:
            response = await http.send(request)
        if response.status_code in DEAD:
            given_up = {**credential.oauth, "tokens": {**credential.oauth["tokens"], "refresh_token": None}}
            return replace(credential, oauth=given_up)
        response.raise_for_status()
        tokens = OAuthToken.model_validate_json(response.content)
    except (httpx2.HTTPError, ValidationError) as error:  # whose words may quote tokens
        status = error.response.status_code if isinstance(error, httpx2.HTTPStatusError) else type(error).__name__
        raise UpstreamError(f"its authorization server does not answer ({status})") from None
    former = credential.oauth["tokens"]
    tokens.scope = tokens.scope or former.get("scope")  # RFC 6749, 6: what is left out stays as it was
    tokens.refresh_token = tokens.refresh_token or former["refresh_token"]
    provider.context.current_tokens = tokens
    provider.context.update_token_expiry(tokens)
    return replace(credential, oauth=provider.taken(), expires=provider.context.token_expiry_time)


def _plain(part: BaseModel | None) -> dict[str, Any] | None:
    return part.model_dump(mode="json", exclude_none=True) if part is not None else None


class _Forgetful:
    """A storage that keeps nothing: the provider itself is asked what it holds."""

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None: ...

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None: ...
