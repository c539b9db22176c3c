"""An MCP server that lets in only who has logged in (OAuth): `python -m tests.lodge PORT LIFETIME`.

Whoever opens the authorization address is let in at once, as the next guest. Refresh tokens can be used once.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections import Counter
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, AuthorizationCode, AuthorizationParams, RefreshToken, TokenError, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class Doorkeeper:
    """The SDK's provider: everything in memory."""

    def __init__(self, lifetime: int) -> None:
        self.lifetime = lifetime
        self.counts: Counter[str] = Counter()
        self.broken = False
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id or ""] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.counts["logins"] += 1
        code = AuthorizationCode(
            code=secrets.token_hex(20),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
            subject=f"guest {self.counts['logins']}",
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client: OAuthClientInformationFull, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(authorization_code)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.counts["refreshes"] += 1
        if self.broken:
            raise RuntimeError
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        return self._issue(refresh_token)

    def _issue(self, grant: AuthorizationCode | RefreshToken) -> OAuthToken:
        shared: dict[str, Any] = {
            "client_id": grant.client_id,
            "scopes": grant.scopes,
            "resource": grant.resource,
            "subject": grant.subject,
        }
        access = AccessToken(token=f"access-{secrets.token_hex(16)}", expires_at=int(time.time()) + self.lifetime, **shared)
        refresh = RefreshToken(token=f"refresh-{secrets.token_hex(16)}", **shared)
        self.access[access.token], self.refresh[refresh.token] = access, refresh
        return OAuthToken(access_token=access.token, refresh_token=refresh.token, expires_in=self.lifetime)

    async def load_access_token(self, token: str) -> AccessToken | None:
        held = self.access.get(token)
        return held if held and (held.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.clear()
        self.refresh.clear()

    async def exchange_identity_assertion(self, client: OAuthClientInformationFull, params: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")


def main(port: int, lifetime: int) -> None:
    keeper = Doorkeeper(lifetime)
    here = f"http://127.0.0.1:{port}"
    lodge = MCPServer(
        "Lodge",
        auth_server_provider=keeper,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(here),
            resource_server_url=AnyHttpUrl(f"{here}/mcp"),
            validate_token_resource=True,
            client_registration_options=ClientRegistrationOptions(enabled=True),
        ),
    )

    @lodge.tool()
    def guest() -> dict[str, Any]:
        """Tells who has come in."""
        token = get_access_token()
        return {"guest": token.subject if token else None}

    @lodge.custom_route("/counts", methods=["GET"])  # type: ignore[untyped-decorator]
    async def counts(_: Request) -> Response:
        return JSONResponse(dict(keeper.counts))

    @lodge.custom_route("/break", methods=["POST"])  # type: ignore[untyped-decorator]
    async def break_down(request: Request) -> Response:
        keeper.broken = "mended" not in request.query_params
        return JSONResponse({})

    @lodge.custom_route("/revoke", methods=["POST"])  # type: ignore[untyped-decorator]
    async def revoke(request: Request) -> Response:
        keeper.access.clear()
        if "all" in request.query_params:
            keeper.refresh.clear()
        return JSONResponse({})

    lodge.run("streamable-http", port=port)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
