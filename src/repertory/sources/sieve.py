"""Which tools did a server list, word by word?

The SDK refuses a whole answer for one tool that breaks the protocol. So the tools are taken out of the answer before the SDK sees it, as
they were said; what is wrong with one of them concerns that one alone. Nor does half a character (`\\ud800`) cost a whole message.
"""

from __future__ import annotations

import contextvars
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from repertory.sources.content import Unreadable
from repertory.sources.values import parse_json


class Sieve:
    """Stands between a transport and the SDK."""

    def __init__(self, *, sifts: bool = True) -> None:
        self._sifts = sifts  # or only listens
        self._listed: list[Any] = []
        self.garbled = False  # something was said that cannot be read
        self.ended = anyio.Event()  # nobody is there any more
        self.hushed = anyio.Event()  # nothing more will be said unasked

    def take(self) -> list[Any]:
        """The tools of the page that came last; they are given once."""
        listed, self._listed = self._listed, []
        return listed

    def over(self, stream: Any) -> _Sifted:
        """The same stream, without the tools of listings."""
        return _Sifted(stream, self)

    def sift(self, item: Any) -> Any:
        """A message without its tools. What the SDK could not read comes as an exception."""
        if isinstance(item, ValidationError):
            item = self._read_again(item)
        result = getattr(getattr(item, "message", None), "result", None)
        if self._sifts and isinstance(result, dict) and isinstance(result.get("tools"), list):
            self._listed, result["tools"] = result["tools"], []
        return item

    def _read_again(self, refused: ValidationError) -> SessionMessage | ValidationError:
        """What the SDK's parser refused, by ours, which replaces what cannot be stored."""
        said = refused.errors(include_url=False, include_context=False)[0]["input"]
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_python(parse_json(said).value, by_name=False))
        except (Unreadable, ValidationError, TypeError):  # TypeError: it was no text
            self.garbled = True
            return refused


class _Sifted:
    """What the SDK wants of a stream that it reads."""

    def __init__(self, inner: Any, sieve: Sieve) -> None:
        self._inner = inner
        self._sieve = sieve

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context of whoever sent what came last, where the transport tells."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        try:
            return self._sieve.sift(await self._inner.receive())
        except anyio.EndOfStream:
            self._sieve.ended.set()
            self._sieve.hushed.set()
            raise

    def __aiter__(self) -> _Sifted:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _Sifted:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
