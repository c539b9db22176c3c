"""How do messages travel to a server and back, and how many at most?

The SDK's transports, with what they leave open: a bound on the size of HTTP answers, and a place for what a child writes to its stderr.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2

from repertory.sources.serverspec import ServerSpec, Transport

MAX_ANSWER = (
    16 * 1024 * 1024
)  # bytes of one HTTP answer: 10,000 tools of 1.6 kB. Over stdio the SDK sets no bound; there the time limit does
STDERR_TAIL = 2000  # bytes of a child's stderr that are kept: the end of a traceback

Streams = AbstractAsyncContextManager[Any]


class Wire:
    """The way to one server, and what was noticed on it. Within `with`, `open` gives what the SDK calls a transport."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._kept = b""
        self.refusal: int | None = None  # the last HTTP status that was an error: the SDK tells only that there was one

    def __enter__(self) -> Wire:
        reading, writing = os.pipe()
        self._stderr = os.fdopen(writing, "w")
        self._thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stderr.close()
        self._thread.join(1.0)  # a grandchild that lives on may hold the other end

    @property
    def last_words(self) -> str:
        """The end of what a child wrote to its stderr; complete after `with`."""
        return self._kept.decode("utf-8", "replace").strip()

    def open(self) -> Streams:
        """Start or call the server."""
        ways: dict[Transport, Callable[[], Streams]] = {Transport.STDIO: self._stdio, Transport.HTTP: self._http, Transport.SSE: self._sse}
        return ways[self._spec.transport]()

    def _stdio(self) -> Streams:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        spec = self._spec
        parameters = StdioServerParameters(command=spec.command, args=list(spec.args), env=dict(spec.env), cwd=spec.cwd)
        return stdio_client(parameters, errlog=self._stderr)

    def _sse(self) -> Streams:
        from mcp.client.sse import sse_client

        spec = self._spec
        return sse_client(spec.url, headers=dict(spec.headers), timeout=spec.timeout, sse_read_timeout=spec.timeout)

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Accept-Encoding": "identity", **self._spec.headers}  # what is not compressed cannot unfold beyond the bound
        async with (
            httpx2.AsyncClient(headers=headers, timeout=self._spec.timeout, transport=_Bounded(self._heard)) as client,
            streamable_http_client(self._spec.url, http_client=client, max_sse_event_size=MAX_ANSWER) as streams,
        ):
            yield streams

    def _heard(self, status: int) -> None:
        self.refusal = status if status >= 400 else None

    def _read(self, descriptor: int) -> None:
        """All the time, so that a child never waits for us to read what it logs."""
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            while piece := stream.read(65536):
                self._kept = (self._kept + piece)[-STDERR_TAIL:]


class _Bounded(httpx2.AsyncHTTPTransport):
    """HTTP whose answers end at `MAX_ANSWER` bytes."""

    def __init__(self, heard: Callable[[int], None]) -> None:
        super().__init__()
        self._heard = heard

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        self._heard(response.status_code)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > MAX_ANSWER:
                raise httpx2.ReadError(f"an answer is longer than {MAX_ANSWER} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
