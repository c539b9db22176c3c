"""Repertory: one place where an AI agent finds what it may use.

import repertory

async with repertory.open("my-catalog") as rep:
    await rep.add("examples/catalog")
    answer = await rep.search("schedule a meeting")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repertory.chat.request import ChatRequest, Turn
from repertory.errors import RepertoryError
from repertory.model import Entity, Fusion, Kind, Principal, Result, SearchRequest, SearchResponse, Status, Strategy

if TYPE_CHECKING:
    from repertory.app import Repertory, open  # noqa: A004

__version__ = "0.1.0"

__all__ = [
    "ChatRequest",
    "Entity",
    "Fusion",
    "Kind",
    "Principal",
    "Repertory",
    "RepertoryError",
    "Result",
    "SearchRequest",
    "SearchResponse",
    "Status",
    "Strategy",
    "Turn",
    "__version__",
    "open",
]


def __getattr__(name: str) -> Any:
    # The app brings the engines along; whoever only wants the nouns, or `repertory --help`, should not wait for them.
    if name in {"Repertory", "open"}:
        from repertory import app

        return getattr(app, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
