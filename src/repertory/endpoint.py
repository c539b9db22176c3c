"""How is a model behind HTTP asked?

One JSON body out, one JSON value back, or the lines of an answer as they come; tried once more where that can help, which is never after
the first byte of an answer. What it means is the adapter's affair; an overall time limit, the breaker and the cache are left to others.

No message quotes the endpoint's answer or the library's exception, and none is chained: both may repeat the key or the texts.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from repertory.errors import RepertoryError

if TYPE_CHECKING:
    import httpx2
    from pydantic import SecretStr

_RETRY_WAIT = 0.5  # seconds, when the endpoint does not say
_RETRY_WAIT_MAX = 5.0  # a search can wait no longer; asked for more, we fail at once and the breaker pauses

_LONGEST_LINE = 1_000_000  # bytes: a line that goes on beyond this is no event of a stream

_HINTS = {
    400: "Check the model's name, and that texts fit its context.",
    401: "Check the API key.",
    403: "Check the API key and what it may use.",
    404: "Check the base URL (it usually ends in /v1) and the model's name.",
    413: "Texts are too long for it: index in smaller pieces.",
    429: "It limits the rate or the quota is spent: try later.",
}


class Endpoint:
    """One URL, with its key. `name` opens the sentence of every error, which is a `fault`."""

    def __init__(self, name: str, url: str, fault: type[RepertoryError], *, api_key: SecretStr | str | None, timeout: float) -> None:
        self._name = name
        self._url = url
        self._fault = fault
        self._key = api_key if isinstance(api_key, str) or api_key is None else api_key.get_secret_value()
        self._timeout = timeout
        self._client: httpx2.AsyncClient | None = None

    async def ask(self, body: Mapping[str, Any]) -> Any:
        """The JSON of an answer with status 2xx."""
        async with self._answered(body) as response:
            with self._told():
                await response.aread()
            try:
                return response.json()
            except (ValueError, RecursionError):
                raise self.error("answered something that is not JSON", _HINTS[404]) from None

    @contextlib.asynccontextmanager
    async def stream(self, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of an answer with status 2xx, while they come; leaving ends the request."""
        async with self._answered(body) as response:
            yield self._lines(response)

    def error(self, what: str, hint: str) -> RepertoryError:
        """What the endpoint did, and what to do next."""
        return self._fault(f"{self._name} {what}. {hint}")

    async def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    @contextlib.asynccontextmanager
    async def _answered(self, body: Mapping[str, Any]) -> AsyncIterator[httpx2.Response]:
        """An answer with status 2xx, of which nothing has been read yet."""
        response = await self._send(body)
        try:
            if response.status_code == 429 or response.status_code >= 500:
                wait = retry_after(response.headers.get("retry-after"))
                if wait <= min(_RETRY_WAIT_MAX, self._timeout / 2):  # else no time is left for the second try
                    await response.aclose()
                    await asyncio.sleep(wait)
                    response = await self._send(body)
            if not response.is_success:
                hint = _HINTS.get(response.status_code, "Try later." if response.is_server_error else "Check the base URL.")
                raise self.error(f"answered HTTP {response.status_code}", hint)
            yield response
        finally:
            await response.aclose()

    async def _lines(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        held = b""
        with self._told():
            async for piece in response.aiter_bytes():
                *lines, held = (held + piece).split(b"\n")
                for line in lines:
                    yield line.strip()
                if len(held) > _LONGEST_LINE:
                    raise self.error("answered a line without end", _HINTS[404])
        yield held.strip()

    async def _send(self, body: Mapping[str, Any]) -> httpx2.Response:
        import httpx2  # takes an eighth of a second, which only those who use it should spend

        with self._told():
            if self._client is None:
                headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = httpx2.AsyncClient(headers=headers, timeout=self._timeout)
            return await self._client.send(self._client.build_request("POST", self._url, json=body), stream=True)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """The library's errors as ours."""
        import httpx2

        try:
            yield
        except httpx2.TimeoutException:
            raise self.error(f"did not answer in {self._timeout:g} s", "Check that it runs, or raise the timeout.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:  # UnicodeError: a key that is not ASCII
            hint = "Check that it runs, the base URL and the characters of the API key."
            raise self.error(f"could not be asked ({type(error).__name__})", hint) from None


def retry_after(header: str | None) -> float:
    """Seconds to wait, from a header that may hold seconds, a date, or nonsense."""
    if header is None:
        return _RETRY_WAIT
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header).astimezone(UTC) - datetime.now(UTC)).total_seconds()
        except ValueError:
            return _RETRY_WAIT
    return max(0.0, seconds) if math.isfinite(seconds) else _RETRY_WAIT
