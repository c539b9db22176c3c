"""How do messages travel to a server and back, and how many at most?

The SDK's transports, with what they leave open: a bound on what a server may say, a place for what a child writes to its stderr, and the
tools of a listing as they were said (`sieve`).
"""

from __future__ import annotations

import codecs
import math
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import httpx2

from repertory.sources.serverspec import Resolved, Transport
from repertory.sources.sieve import Sieve

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAX_ANSWER = 16 * 1024 * 1024  # bytes of one answer: 10,000 tools of 1.6 kB
MAX_SAID = 4 * MAX_ANSWER  # bytes of everything that a child says: more than any listing, less than what keeps others waiting
A_DAY = 86_400.0  # seconds that one stays with a server that says nothing: it may have nothing to say
STDERR_TAIL = 2000  # bytes of a child's stderr that are kept: the end of a traceback

BOUNDED = "repertory_bounded_utf_8"  # the encoding that children speak, see `_Decoder`

Streams = AbstractAsyncContextManager[Any]

_overflow: ContextVar[tuple[Callable[[], None], float]] = ContextVar("overflow")  # of the contact that a decoder serves, and its bound


class Wire:
    """The way to one server, and what was noticed on it. Within `with`, `open` gives what the SDK calls a transport.

    Who `stays` listens for longer than one answer takes; `log` takes what a child writes to its stderr.
    """

    def __init__(self, resolved: Resolved, *, stays: bool = False, log: Callable[[bytes], None] = lambda _: None) -> None:
        self._spec = spec = resolved.spec
        self._auth = resolved.identity.auth
        self._silence = A_DAY if stays else spec.timeout
        self._most = math.inf if stays else MAX_SAID  # who stays may hear more, line by line
        self._log = log
        self.listing = Sieve(sifts=not stays)
        self._kept = b""
        self._stop: Callable[[], None] = lambda: None
        self.overflowed = False  # it said more than is listened to
        self.refusal: int | None = None  # the last HTTP status that was an error: the SDK tells only that there was one
        self.unreached = False  # the last request found nobody

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

    @asynccontextmanager
    async def open(self, stop: Callable[[], None]) -> AsyncIterator[Any]:
        """Start or call the server; `stop` is called when it says too much."""
        self._stop = stop
        _overflow.set((self._overflow, self._most))
        ways: dict[Transport, Callable[[], Streams]] = {Transport.STDIO: self._stdio, Transport.HTTP: self._http, Transport.SSE: self._sse}
        async with ways[self._spec.transport]() as (reading, writing):
            yield self.listing.over(reading), writing

    def _stdio(self) -> Streams:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        spec = self._spec
        parameters = StdioServerParameters(
            command=spec.command,
            args=list(spec.args),
            env=dict(spec.env),
            cwd=spec.cwd,
            encoding=BOUNDED,
            encoding_error_handler="replace",
        )
        return stdio_client(parameters, errlog=self._stderr)

    def _sse(self) -> Streams:
        from mcp.client.sse import sse_client

        spec = self._spec
        return sse_client(spec.url, headers=dict(spec.headers), timeout=spec.timeout, sse_read_timeout=self._silence, auth=self._auth)

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Accept-Encoding": "identity", **self._spec.headers}  # what is not compressed cannot unfold beyond the bound
        timeout = httpx2.Timeout(self._spec.timeout, read=self._silence)
        transport = _Bounded(self._heard, self._overflow, self.listing.hushed.set)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout, auth=self._auth, transport=transport) as client,
            streamable_http_client(self._spec.url, http_client=client, max_sse_event_size=MAX_ANSWER) as streams,
        ):
            yield streams

    def _overflow(self) -> None:
        self.overflowed = True
        self._stop()

    def _heard(self, status: int | None) -> None:
        self.unreached = status is None
        self.refusal = status if status is not None and status >= 400 else None

    def _read(self, descriptor: int) -> None:
        """All the time, so that a child never waits for us to read what it logs."""
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            while piece := stream.read(65536):
                self._kept = (self._kept + piece)[-STDERR_TAIL:]
                self._log(piece)


class _Decoder(codecs.IncrementalDecoder):
    """UTF-8 up to a bound. The SDK joins what a child says until a line ends, however long: one that never ends a line would keep the event
    loop busy, and with it everybody else. The encoding is what the SDK lets us choose."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._inner = codecs.getincrementaldecoder("utf-8")(errors)
        self._said = self._line = 0
        self._overflow, self._most = _overflow.get()

    def decode(self, data: ReadableBuffer, final: bool = False) -> str:
        piece = bytes(data)
        self._said += len(piece)
        self._line = len(piece) - piece.rindex(b"\n") - 1 if b"\n" in piece else self._line + len(piece)
        if self._line > MAX_ANSWER or self._said > self._most:
            self._overflow()  # not an exception: the SDK would first read to the end, which may never come
            return ""
        return self._inner.decode(piece, final)


def _bounded(name: str) -> codecs.CodecInfo | None:
    utf8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(utf8.encode, utf8.decode, incrementaldecoder=_Decoder, name=BOUNDED) if name == BOUNDED else None


codecs.register(_bounded)


class _Bounded(httpx2.AsyncHTTPTransport):
    """HTTP whose answers end at `MAX_ANSWER` bytes."""

    def __init__(self, heard: Callable[[int | None], None], overflow: Callable[[], None], ended: Callable[[], None]) -> None:
        super().__init__()
        self._heard = heard
        self._overflow = overflow
        self._ended = ended

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except httpx2.ConnectError:
            self._heard(None)
            raise
        self._heard(response.status_code)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            # A server speaks unasked on the answer to a GET; the SDK does not tell when that ends.
            response.stream = _BoundedStream(response.stream, self._overflow, self._ended if request.method == "GET" else lambda: None)
        return response


def bounded() -> httpx2.AsyncHTTPTransport:
    """HTTP for single questions, whose answers end like those of servers."""
    return _Bounded(lambda _: None, lambda: None, lambda: None)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, overflow: Callable[[], None], ended: Callable[[], None]) -> None:
        self._inner = inner
        self._overflow = overflow
        self._ended = ended

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > MAX_ANSWER:
                self._overflow()
                return
            yield piece

    async def aclose(self) -> None:
        self._ended()
        await self._inner.aclose()
