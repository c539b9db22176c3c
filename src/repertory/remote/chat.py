"""How does a chat model answer, word by word?

D07. Any endpoint that speaks OpenAI's `POST /chat/completions` with `stream`. What it sends is taken apart with suspicion: a stream may
be cut, go on for ever, hold something else than JSON, or be no stream at all.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from repertory.endpoint import Endpoint
from repertory.errors import RemoteModelError
from repertory.remote.base import CUT, DONE, LENGTH, Ending

if TYPE_CHECKING:
    from pydantic import SecretStr

_LETTERS = 8  # characters of one token, at the most that languages have on average: an endpoint that ignores max_tokens is stopped there
_REFUSED = ("HTTP 400", "HTTP 422")  # how endpoints say that they do not know a field


class HttpChatModel:
    """Answers through an OpenAI-compatible endpoint."""

    def __init__(
        self, base_url: str, model: str, *, api_key: SecretStr | str | None = None, timeout: float = 60.0, tokens: int = 1024
    ) -> None:
        self._endpoint = Endpoint(
            f"The chat endpoint for {model}",
            base_url.rstrip("/") + "/chat/completions",
            RemoteModelError,
            api_key=api_key,
            timeout=timeout,
        )
        self._tokens = tokens
        self._plain = False  # whether the endpoint takes nothing but what every one takes
        self.model = model

    async def reply(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[str | Ending, None]:
        body = {"model": self.model, "messages": list(messages), "stream": True}
        wishes = {"temperature": 0, "max_tokens": self._tokens, "stream_options": {"include_usage": True}}
        try:
            async with aclosing(self._read(body if self._plain else {**body, **wishes})) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except RemoteModelError as error:
            if self._plain or not any(refused in str(error) for refused in _REFUSED):
                raise
        self._plain = True  # some models take no temperature, some endpoints no stream_options
        async with aclosing(self._read(body)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._endpoint.close()

    async def _read(self, body: Mapping[str, Any]) -> AsyncGenerator[str | Ending, None]:
        reason, usage, said = CUT, None, 0
        async with self._endpoint.stream(body) as lines:
            async for line in lines:
                if not line or line.startswith((b":", b"event:", b"id:", b"retry:")):
                    continue
                if (data := line.removeprefix(b"data:").strip()) == b"[DONE]":
                    reason = DONE if reason == CUT else reason
                    break
                event = self._event(data)
                usage = _usage(event) or usage
                for text, ending in _choices(event):
                    reason = ending or reason
                    said += len(text)
                    if text:
                        yield text
                if said > _LETTERS * self._tokens:
                    reason = LENGTH
                    break
        yield Ending(reason, usage)

    def _event(self, data: bytes) -> Mapping[str, Any]:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise self._endpoint.error("sent something that is not JSON", "Check the base URL (it usually ends in /v1).") from None
        if not isinstance(event, dict):
            raise self._endpoint.error("sent JSON that is no event", "Check that the model is a chat model.")
        if event.get("error"):
            raise self._endpoint.error("broke off with an error of its own", "Its log says more.")
        return event


def _choices(event: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Text and ending of the first choice: of a part of a stream, or of a whole answer where the endpoint does not stream."""
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict):
        message = first.get("delta") or first.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        ending = first.get("finish_reason")
        # JSON can bring half a character, which nothing behind this can take.
        text = content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""
        yield text, ending if isinstance(ending, str) else None


def _usage(event: Mapping[str, Any]) -> dict[str, int] | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    return {name: value for name in ("prompt_tokens", "completion_tokens", "total_tokens") if isinstance(value := usage.get(name), int)}
