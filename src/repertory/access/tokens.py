"""Whose bearer token of an identity provider is this?

OpenID Connect: a token counts when the provider signed it, for us, and it is of now. Only signatures by asymmetric keys count: with a
shared secret, a public key could be taken for one. What the provider cannot be asked is never guessed: then nobody is recognised.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repertory.access.signatures import Signer, signers
from repertory.errors import IdentityError, Unauthorized
from repertory.model import ADMIN, Principal
from repertory.model.filter import ANYONE, OWNER
from repertory.settings import Settings

if TYPE_CHECKING:
    import httpx2

DISCOVERY = "/.well-known/openid-configuration"
SKEW = 60  # seconds that two clocks may differ
FRESH = 3600.0  # seconds after which the keys are read again: one that was withdrawn must not count for ever
KEPT = 86400.0  # seconds for which known keys still count while the provider cannot be asked
PAUSE = 30.0  # seconds between two looks for a key that is not known: whoever sends nonsense must not make us ask for each
WAIT = 5.0  # seconds for one answer of the provider
MOST = 1 << 20  # bytes of one answer


@dataclass(frozen=True, slots=True)
class Claims:
    """Where a token says what."""

    name: str = "sub"
    groups: str = "groups"
    scopes: str = "scope"
    admin_group: str | None = None


USUAL = Claims()


class Issuer:
    """One identity provider. Lives on one event loop."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        jwks_url: str | None = None,
        claims: Claims = USUAL,
        *,
        pause: float = PAUSE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._jwks_url = jwks_url
        self._claims = claims
        self._pause = pause
        self._clock = clock
        self._signers: Sequence[Signer] = ()
        self._read = self._tried = -float("inf")  # when the keys were last read, and last asked for
        self._trouble = ""  # what went wrong when they were last asked for
        self._reading = asyncio.Lock()
        self._client: httpx2.AsyncClient | None = None

    @classmethod
    def of(cls, settings: Settings) -> Issuer | None:
        """The provider that the settings name."""
        if settings.oidc_issuer is None or settings.oidc_audience is None:
            return None
        claims = Claims(settings.oidc_name_claim, settings.oidc_groups_claim, settings.oidc_scopes_claim, settings.oidc_admin_group)
        return cls(settings.oidc_issuer, settings.oidc_audience, settings.oidc_jwks_url, claims)

    async def recognise(self, token: str) -> Principal:
        """Whom a token names; raises `Unauthorized` where it does not count, `IdentityError` where that cannot be told."""
        import jwt  # takes a tenth of a second, which only those who use it should spend

        try:
            key_id = jwt.get_unverified_header(token.encode("ascii")).get("kid")
        except (jwt.PyJWTError, UnicodeEncodeError):
            raise Unauthorized("The credential is neither an API key nor a token that can be read.") from None
        for signer in await self._candidates(key_id):
            try:
                claims = jwt.decode(
                    token,
                    signer.key,
                    algorithms=list(signer.algorithms),
                    audience=self._audience,
                    issuer=self._issuer,
                    leeway=SKEW,
                    options={"require": ["exp", "iss", "aud"]},
                )
            except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError):
                continue  # a token without a key id may be by another key
            except jwt.PyJWTError as error:
                raise Unauthorized(f"The token does not count: {_reason(error)}.") from None
            return self._principal(claims)
        raise Unauthorized("The token does not count: it is not signed by a key of the identity provider.")

    async def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        name = _claim(claims, self._claims.name)
        if not isinstance(name, str) or not name or name in (OWNER, ANYONE):
            raise Unauthorized(f"The token does not count: its {self._claims.name!r} names nobody.")
        groups = _words(_claim(claims, self._claims.groups), split=False)
        # What another system calls "admin" must not open everything here: that is said by a group which the settings name.
        scopes = _words(_claim(claims, self._claims.scopes), split=True) - {ADMIN}
        admin = {ADMIN} if self._claims.admin_group is not None and self._claims.admin_group in groups else frozenset()
        return Principal.known(name, groups, scopes | admin)

    async def _candidates(self, key_id: Any) -> list[Signer]:
        async with self._reading:  # one question at a time, for everybody who waits
            now = self._clock()
            old = now - self._read > FRESH
            if (old or not self._matching(key_id)) and now - self._tried >= self._pause:
                self._tried = now
                try:
                    self._signers, self._read, self._trouble = signers(await self._keys()), now, ""
                except IdentityError as error:
                    self._trouble = str(error)
            if self._trouble and (now - self._read > KEPT or not self._matching(key_id)):  # the key may be a new one
                raise IdentityError(self._trouble)
            return self._matching(key_id)

    def _matching(self, key_id: Any) -> list[Signer]:
        return [signer for signer in self._signers if key_id is None or signer.key_id == key_id]

    async def _keys(self) -> Any:
        if self._jwks_url is None:
            found = await self._get(self._issuer.rstrip("/") + DISCOVERY)
            if not isinstance(found, dict) or found.get("issuer") != self._issuer or not isinstance(found.get("jwks_uri"), str):
                raise self._fault("describes another issuer, or names no keys; oidc_issuer must be written as its tokens write it")
            return await self._get(found["jwks_uri"])
        return await self._get(self._jwks_url)

    async def _get(self, url: str) -> Any:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=WAIT)
        try:
            async with asyncio.timeout(WAIT), self._client.stream("GET", url) as response:
                body = b""
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > MOST:
                        raise self._fault("answers more than keys")
            if response.status_code != 200:
                raise self._fault(f"answered HTTP {response.status_code}")
            return httpx2.Response(200, content=body).json()
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError, RecursionError) as error:
            raise self._fault(f"could not be asked ({type(error).__name__})") from None

    def _fault(self, what: str) -> IdentityError:
        return IdentityError(
            f"The identity provider {self._issuer} {what}. Nobody can be recognised by a token until it answers; try again."
        )


def _claim(claims: Mapping[str, Any], path: str) -> Any:
    """A claim by its name, which may have dots in it, or by the way to it."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _words(value: Any, *, split: bool) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(value.split()) if split else frozenset({value} - {""})
    return frozenset(one for one in value if isinstance(one, str) and one) if isinstance(value, list) else frozenset()


def _reason(error: Exception) -> str:
    return _REASONS.get(type(error).__name__, "it is not valid")


_REASONS = {
    "ExpiredSignatureError": "it has expired",
    "ImmatureSignatureError": "it is not valid yet",
    "InvalidIssuedAtError": "it is not valid yet",
    "InvalidAudienceError": "it was made for another service",
    "InvalidIssuerError": "it is by another issuer",
    "MissingRequiredClaimError": "it does not say by whom, for whom or until when it is",
}
