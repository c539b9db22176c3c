"""On which event loop does a command that stays run?

uvloop where there is one: a call through the gateway is a dozen turns of the loop. A command that ends at once is not worth its import.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run until the work is done."""
    try:
        from uvloop import run as run_quickly
    except ImportError:  # it is not made for every system
        asyncio.run(work)
    else:
        run_quickly(work)
