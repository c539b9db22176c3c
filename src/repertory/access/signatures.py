"""Which signatures can a published key prove?

Of a JSON Web Key Set (RFC 7517), the keys that verify signatures, each with the algorithms of its type: what a token's header asks for is
never trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ALGORITHMS: Mapping[tuple[str, str], tuple[str, ...]] = {  # by the type of a key and its curve; none with a shared secret
    ("RSA", ""): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
    ("OKP", "Ed448"): ("EdDSA",),
}
MOST = 100  # keys of one provider


@dataclass(frozen=True, slots=True)
class Signer:
    """A public key of the provider."""

    key_id: str | None
    algorithms: tuple[str, ...]
    key: Any = field(repr=False)


def signers(published: Any) -> list[Signer]:
    """The usable keys of a set; others are passed over."""
    listed = published.get("keys") if isinstance(published, Mapping) else None
    found = (_signer(one) for one in listed[:MOST]) if isinstance(listed, list) else ()
    return [signer for signer in found if signer is not None]


def _signer(entry: Any) -> Signer | None:
    import jwt

    if not isinstance(entry, Mapping) or entry.get("use", "sig") != "sig":
        return None
    usable = ALGORITHMS.get((str(entry.get("kty")), str(entry.get("crv", ""))), ())
    algorithms = tuple(name for name in usable if entry.get("alg", name) == name)
    try:
        key_id = entry.get("kid")
        return Signer(key_id, algorithms, jwt.PyJWK(dict(entry), algorithms[0]).key) if algorithms else None
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
