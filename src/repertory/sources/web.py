"""How is something read from the web?

One GET, its text back: bounded in size and time, tried once more where that can help. Redirects stay within the scheme that was asked for.
No message quotes the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from repertory.endpoint import retry_after
from repertory.errors import SourceError
from repertory.sources.content import Unreadable, decode

if TYPE_CHECKING:
    import httpx2

SCHEMES = ("http", "https")
MAX_BODY = 16 * 1024 * 1024  # bytes; a page of 100 servers has some 200 kB, a card some 10: more is no answer to our question
TIMEOUT = 20.0  # seconds for a connection, and for each piece of an answer; registries far away take some
PATIENCE = 3  # so many times the timeout for a whole answer: one that drips must end, too
MAX_REDIRECTS = 3  # a host that moved, and its www
RETRY_WAIT_MAX = 10.0  # seconds; asked to wait longer, we say so and leave it to the next run

HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}  # compressed, a few bytes could stand for gigabytes


@dataclass(frozen=True, slots=True)
class Page:
    """An answer. `text` is empty where nothing has changed."""

    url: str  # without the query
    text: str = ""
    etag: str = ""
    unchanged: bool = False


class Unanswered(Exception):
    """Ends the reading of one address inside a source; the status, if that is why, tells whether there is something at all."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def is_address(where: object) -> bool:
    """Whether this is the address of something on the web, and not a path."""
    return isinstance(where, str) and where.partition("://")[0].lower() in SCHEMES and "://" in where


def clean(address: str) -> str:
    """An address as we keep it. Raises `SourceError` for one that cannot be asked, or that holds a password."""
    try:
        parts = urlsplit(address.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SourceError(f"This is no address that can be read: {error}.") from error
    if not host:
        raise SourceError(f"There is no host in {address!r}.")
    if parts.username is not None or parts.password is not None:
        raise SourceError(f"The address of {host} holds a user or password, which would be stored. Leave it out.")
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path, parts.query, ""))


class Web:
    """Reads addresses; used as a context, it keeps connections open in between."""

    def __init__(self, *, timeout: float = TIMEOUT, limit: int = MAX_BODY) -> None:
        import httpx2  # takes an eighth of a second, which only those who use it should spend

        self._timeout = timeout
        self._limit = limit
        self._client = httpx2.Client(headers=HEADERS, timeout=timeout, follow_redirects=False)

    def __enter__(self) -> Web:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, parameters: Mapping[str, str] | None = None, etag: str = "") -> Page:
        """What is at an address. Raises `Unanswered` where it cannot be had."""
        import httpx2

        asked = httpx2.URL(url).copy_merge_params(parameters or {})
        headers = {"If-None-Match": etag} if etag else {}
        again = True  # one more try is left
        for _ in range(MAX_REDIRECTS + 2):
            wait = 0.0
            try:
                with self._client.stream("GET", asked, headers=headers) as response:
                    if response.status_code == 304:
                        return Page(url, etag=etag, unchanged=True)
                    if response.is_success:
                        return Page(url, self._text(response, url), response.headers.get("etag", ""))
                    if response.has_redirect_location:
                        asked = self._redirected(response, url)
                        continue
                    status, wait = response.status_code, retry_after(response.headers.get("retry-after"))
                    if not again or not (status == 429 or status >= 500) or wait > RETRY_WAIT_MAX:
                        hint = "Try later." if status == 429 or status >= 500 else "Check the address."
                        raise Unanswered(f"{url} answered HTTP {status}. {hint}", status)
            except httpx2.TimeoutException:
                raise Unanswered(f"{url} did not answer in {self._timeout:g} s. Check that it runs.") from None
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                if not again or not isinstance(
                    error, httpx2.RemoteProtocolError | httpx2.ReadError
                ):  # it closed a connection that was idle
                    raise Unanswered(f"{url} could not be read ({type(error).__name__}). Check the address, and that it runs.") from None
            again = False
            time.sleep(wait)
        raise Unanswered(f"{url} leads from one address to the next. Give the last of them.")

    def _text(self, response: httpx2.Response, url: str) -> str:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unanswered(f"{url} answered compressed, which it was asked not to.")
        until = time.monotonic() + PATIENCE * self._timeout
        data = bytearray()
        for piece in response.iter_raw():
            data += piece
            if len(data) > self._limit:
                raise Unanswered(f"{url} answered with more than {self._limit // 1024**2} MB, the most that is read.")
            if time.monotonic() > until:
                raise Unanswered(f"{url} did not end its answer in {PATIENCE * self._timeout:g} s. Try later.")
        try:
            return decode(bytes(data))
        except Unreadable as error:
            raise Unanswered(f"{url} {error}.") from None

    def _redirected(self, response: httpx2.Response, url: str) -> httpx2.URL:
        target = response.next_request.url if response.next_request is not None else response.url
        if target.scheme != response.url.scheme:
            raise Unanswered(f"{url} redirects to another scheme, {target.scheme}, which is not followed.")
        return target
