"""Which tokens of an identity provider count? (A18)"""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.contracts.issuer import AUDIENCE, Provider, provider

from repertory.access.tokens import FRESH, KEPT, PAUSE, SKEW, Claims, Issuer
from repertory.errors import IdentityError, Unauthorized
from repertory.model import Principal


class Clock:
    """A clock that tests turn."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def oidc() -> Iterator[Provider]:
    with provider() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def issuer(oidc: Provider, clock: Clock) -> AsyncIterator[Issuer]:
    made = Issuer(oidc.url, AUDIENCE, clock=clock)
    yield made
    await made.close()


async def test_a_token_names_who_calls(oidc: Provider, issuer: Issuer) -> None:
    token = oidc.token(groups=["hr", "user:bob", 7], scope="calendar.read calendar.write admin")
    assert await issuer.recognise(token) == Principal(
        "alice", frozenset({"hr", "public", "user:alice"}), frozenset({"calendar.read", "calendar.write"})
    )


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_keys_of_every_asymmetric_type(oidc: Provider, issuer: Issuer, algorithm: str) -> None:
    oidc.add("other", algorithm)
    assert (await issuer.recognise(oidc.token("other"))).name == "alice"


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"aud": "another-service"}, "another service"),
        ({"aud": None}, "for whom"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": None}, "by whom"),
        ({"exp": int(time.time()) - SKEW - 5}, "expired"),
        ({"exp": None}, "until when"),
        ({"nbf": int(time.time()) + 86_400}, "not valid yet"),
        ({"sub": None}, "names nobody"),
        ({"sub": ""}, "names nobody"),
        ({"sub": "owner"}, "names nobody"),
    ],
)
async def test_what_does_not_count(oidc: Provider, issuer: Issuer, claims: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unauthorized, match=reason):
        await issuer.recognise(oidc.token(**claims))


async def test_clocks_may_differ_a_little(oidc: Provider, issuer: Issuer) -> None:
    now = int(time.time())
    assert (await issuer.recognise(oidc.token(exp=now - SKEW + 30, nbf=now + SKEW - 30))).name == "alice"


def _forged(header: dict[str, Any], oidc: Provider, secret: bytes = b"") -> str:
    claims = {"iss": oidc.url, "aud": AUDIENCE, "sub": "alice", "exp": int(time.time()) + 300}
    told = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
    return f"{told}.{_base64(hmac.digest(secret, told.encode(), 'sha256')) if secret else ''}"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


async def test_nobody_signs_for_the_provider(oidc: Provider, issuer: Issuer) -> None:
    await issuer.recognise(oidc.token())
    for header in ({"alg": "none"}, {"alg": "none", "kid": "first"}, {"alg": "None", "kid": "first"}):
        with pytest.raises(Unauthorized):
            await issuer.recognise(_forged(header, oidc))
    # The public key, which everybody has, taken for a shared secret.
    public = oidc.keys["first"][0].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for secret, key_id in ((public, "first"), (b"secret", "shared")):
        with pytest.raises(Unauthorized, match="not signed"):
            await issuer.recognise(_forged({"alg": "HS256", "kid": key_id}, oidc, secret))
    with provider() as other, pytest.raises(Unauthorized, match="not signed"):  # its key has the same id
        await issuer.recognise(other.token(iss=oidc.url))
    with pytest.raises(Unauthorized):
        await issuer.recognise("not.a.token")
    with pytest.raises(Unauthorized):
        await issuer.recognise("\udcff" * 40)


async def test_keys_rotate(oidc: Provider, issuer: Issuer, clock: Clock) -> None:
    await issuer.recognise(oidc.token())
    oidc.add("second", "ES256")
    clock.now += PAUSE
    assert (await issuer.recognise(oidc.token("second"))).name == "alice"
    assert oidc.reads == 2
    oidc.published.remove("first")
    assert (await issuer.recognise(oidc.token())).name == "alice", "until the keys are read again"
    clock.now += FRESH + 1
    with pytest.raises(Unauthorized):
        await issuer.recognise(oidc.token())


async def test_a_flood_of_unknown_keys_is_no_flood_of_questions(oidc: Provider, issuer: Issuer, clock: Clock) -> None:
    await issuer.recognise(oidc.token())
    clock.now += PAUSE
    for number in range(20):
        with pytest.raises(Unauthorized, match="not signed"):
            await issuer.recognise(oidc.token(headers={"kid": f"made-up-{number}"}))
    assert oidc.reads == 2


async def test_a_provider_that_cannot_be_asked(oidc: Provider, issuer: Issuer, clock: Clock) -> None:
    oidc.down = True
    for _ in range(2):
        with pytest.raises(IdentityError, match=r"127\.0\.0\.1.*try again"):
            await issuer.recognise(oidc.token())
    oidc.down = False
    clock.now += PAUSE
    assert (await issuer.recognise(oidc.token())).name == "alice"
    oidc.down = True
    clock.now += FRESH + 1
    assert (await issuer.recognise(oidc.token())).name == "alice", "known keys count on while it is away"
    oidc.keys["new"] = oidc.keys["first"]
    with pytest.raises(IdentityError):
        await issuer.recognise(oidc.token("new"))
    clock.now += KEPT
    with pytest.raises(IdentityError):
        await issuer.recognise(oidc.token())


async def test_a_discovery_document_of_somebody_else(oidc: Provider, issuer: Issuer) -> None:
    oidc.issuer = "https://evil.example"
    with pytest.raises(IdentityError, match="another issuer"):
        await issuer.recognise(oidc.token(iss=oidc.url))


async def test_claims_may_be_elsewhere(oidc: Provider) -> None:
    claims = Claims("email", "realm_access.roles", "https://example.org/scopes", "catalog-admins")
    issuer = Issuer(oidc.url, AUDIENCE, f"{oidc.url}/keys", claims)
    more: dict[str, Any] = {"email": "al@example.org", "https://example.org/scopes": ["a"]}
    some = await issuer.recognise(oidc.token(realm_access={"roles": ["hr"]}, **more))
    assert (some.name, some.scopes, some.is_admin) == ("al@example.org", frozenset({"a"}), False)
    assert some.groups == frozenset({"hr", "public", "user:al@example.org"})
    assert (await issuer.recognise(oidc.token(realm_access={"roles": ["catalog-admins"]}, **more))).is_admin
    await issuer.close()
