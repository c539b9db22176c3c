"""How does blocking work leave the event loop?

The one way for it: model inference, index and SQL calls run on these threads, everything else stays on the loop.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = max(4, (os.cpu_count() or 1) * 2)  # enough that a long write never keeps a search waiting
_pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="repertory")
_turns = ThreadPoolExecutor(1, thread_name_prefix="repertory-turns")


async def offload(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call on a worker thread."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, lambda: function(*args, **kwargs))


async def in_turn(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call on the one thread for what keeps the interpreter to itself: several would only hand it to each other."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_turns, lambda: function(*args, **kwargs))
