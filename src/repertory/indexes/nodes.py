"""Which node of a Qdrant answers?

The first one named, until it does not: then the next, and that one from there on. Every node of a cluster answers for all of it. Everything
that is asked here can be asked twice.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import grpc
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException

from repertory.errors import CatalogError, IndexUnavailable

_log = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE = 15  # seconds for a write: it waits for some ten until the others give up a node that hangs
CHANNEL = {
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1000,  # a node that is back shall be found soon
    # While it is asked, a node must say now and then that it is there: one that hangs or is cut off shall not cost a write its patience.
    "grpc.keepalive_time_ms": 2000,
    "grpc.http2.ping_timeout_ms": 3000,  # within which 3 MB go over a bad line
    "grpc.http2.max_pings_without_data": 0,  # any number: a write that waits for others sends nothing
}
LEAST = 2  # attempts, where there is one node: a connection that an idle server closed is no failure

# INTERNAL and ABORTED: a node that is there, but not the others that it needs.
AWAY = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)
REFUSED = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})


class Nodes:
    """The nodes of one server or cluster, by host and port of their HTTP; gRPC is one port above, as Qdrant has it."""

    def __init__(self, nodes: Sequence[tuple[str, int]], *, tls: bool = False, key: str | None = None) -> None:
        self._nodes = nodes
        self._tls = tls
        self._key = key
        self._at = 0
        self._clients: dict[int, QdrantClient] = {}

    def ask(self, work: Callable[[QdrantClient], T]) -> T:
        """What a node answers. Raises `IndexUnavailable` where none does."""
        reason = ""
        for _ in range(max(LEAST, len(self._nodes))):
            at = self._at
            try:
                return work(self._client(at))
            except grpc.RpcError as error:
                reason = self._reason(error)
            except ResponseHandlingException as error:
                reason = type(error.source).__name__
            _log.info("%s does not answer: %s", self._name(at), reason)
            if self._at == at:  # else somebody else went on already
                self._at = (at + 1) % len(self._nodes)
        names = ", ".join(self._name(at) for at in range(len(self._nodes)))
        raise IndexUnavailable(
            f"The search index at {names} does not answer ({reason}). What was written is kept and goes in when it does."
        )

    def close(self) -> None:
        """Let go of every connection."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            with suppress(Exception):
                client.close()

    def _reason(self, error: grpc.RpcError) -> str:
        """Why a node is away. Raises `CatalogError` where asking another would not help."""
        code = error.code()
        if code in AWAY:
            return str(code.name)
        if code is grpc.StatusCode.NOT_FOUND:
            raise IndexUnavailable("The search index is gone from the Qdrant. It is built anew, from the catalog.", gone=True) from None
        if code in REFUSED:
            raise CatalogError(f"Qdrant refuses us ({code.name}). Check the setting index_key.") from None
        raise CatalogError(f"Qdrant cannot do what it is asked for ({code.name}): {error.details()}") from None

    def _name(self, at: int) -> str:
        host, port = self._nodes[at]
        return f"{host}:{port}"

    def _client(self, at: int) -> QdrantClient:
        if at not in self._clients:
            host, port = self._nodes[at]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a key without TLS, which the settings allow on loopback alone
                self._clients[at] = QdrantClient(
                    host=host,
                    port=port,
                    grpc_port=port + 1,
                    prefer_grpc=True,
                    https=self._tls,
                    api_key=self._key,
                    timeout=PATIENCE,
                    check_compatibility=False,  # it would ask the node now, and print
                    grpc_options=dict(CHANNEL),
                )
        return self._clients[at]
