"""A small identity provider on loopback, with keys of its own: what OpenID Connect asks of one, and no more."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

AUDIENCE = "repertory"


class Provider:
    """What it publishes can be changed while it runs; it counts how often its keys are read."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.keys: dict[str, tuple[Any, str]] = {"first": (rsa.generate_private_key(65537, 2048), "RS256")}
        self.published: list[str] = ["first"]
        self.reads = 0
        self.down = False
        self.issuer = url

    def add(self, key_id: str, algorithm: str = "RS256") -> None:
        """A further key, published from now on."""
        makers = {"ES256": lambda: ec.generate_private_key(ec.SECP256R1()), "EdDSA": ed25519.Ed25519PrivateKey.generate}
        self.keys[key_id] = (makers.get(algorithm, lambda: rsa.generate_private_key(65537, 2048))(), algorithm)
        self.published.append(key_id)

    def public(self, key_id: str) -> dict[str, Any]:
        """A key as it is published."""
        key, algorithm = self.keys[key_id]
        shape = jwt.get_algorithm_by_name(algorithm)
        entry: dict[str, Any] = shape.to_jwk(key.public_key(), as_dict=True)
        return {**entry, "kid": key_id, "use": "sig"}

    def token(self, key_id: str = "first", *, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token as it should be, except for what is said here; a claim that is None is left out."""
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 300}
        told = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        key, algorithm = self.keys[key_id]
        return jwt.encode(told, key, algorithm, headers={"kid": key_id, **(headers or {})})

    def answer(self, path: str) -> dict[str, Any] | None:
        """What is at a path."""
        if self.down:
            return None
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.issuer, "jwks_uri": f"{self.url}/keys"}
        if path == "/keys":
            self.reads += 1
            return {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}, *map(self.public, self.published)]}
        return None


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that answers until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = served.answer(self.path)
            body = json.dumps(found or {}).encode()
            self.send_response(200 if found is not None else 500)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
