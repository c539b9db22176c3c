"""How does the page get to the browser?

Its files are read once. The address of each carries a digest of all of them: a browser keeps them for good, and asks for new ones when
anything has changed. Only the first file is asked for again each time, by its ETag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from repertory.model.entity import content_digest

router = APIRouter(include_in_schema=False)

TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}  # never guessed from the system's tables
HEADERS = {
    # Nothing but our own files, no markup made from text, nobody around us: what an entry says stays text, whatever it says.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
FOR_GOOD = {"Cache-Control": "public, max-age=31536000, immutable"}  # a year, the most that caches take
EACH_TIME = {"Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class Page:
    """Every file of the page, and the digest of them all."""

    home: bytes
    parts: Mapping[str, bytes]
    digest: str

    @classmethod
    def read(cls) -> Page:
        """From the package, wherever that is installed."""
        parts = dict(_walk(files("repertory.web")))
        digest = content_digest({name: part.decode() for name, part in parts.items()})[:12]
        home = parts.pop("index.html").replace(b'"page/', f'"page/{digest}/'.encode())
        return cls(home, parts, digest)


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _walk(item, f"{prefix}{item.name}/")
        elif _suffix(item.name) in TYPES:
            yield prefix + item.name, item.read_bytes()


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]


@lru_cache(maxsize=1)
def _page() -> Page:
    return Page.read()


@router.get("/")
async def home(request: Request) -> Response:
    """The one file that a browser asks for by name; it names the others."""
    page = _page()
    tag = f'"{page.digest}"'
    headers = {**HEADERS, **EACH_TIME, "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(page.home, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/page/{digest}/{name:path}")
async def part(digest: str, name: str) -> Response:
    """Any other file."""
    page = _page()
    content = page.parts.get(name) if digest == page.digest else None  # of another version: the page has to be loaded again
    if content is None:
        raise HTTPException(404, "The page has no such file; load it again.")
    return Response(content, media_type=f"{TYPES[_suffix(name)]}; charset=utf-8", headers={**HEADERS, **FOR_GOOD})
