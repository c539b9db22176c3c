"""How are our own small servers started, and who is still there?"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from tests.conftest import ROOT

PATIENCE = 30.0  # seconds for a program to start on a busy machine


def free_port() -> int:
    """A port of the loopback address that nobody has right now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def on_loopback(module: str, *arguments: str, port: int | None = None) -> Iterator[str]:
    """A module that serves over HTTP, from its first answer until the block ends; `{port}` in its arguments is its port."""
    chosen = port or free_port()
    command = [sys.executable, "-m", module, *(argument.replace("{port}", str(chosen)) for argument in arguments)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            yield answering(f"http://127.0.0.1:{chosen}")
        finally:
            process.kill()


def answering(url: str) -> str:
    """The address, once anything at all is answered there."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            httpx2.get(url, trust_env=False)
        except httpx2.HTTPError:
            time.sleep(0.05)
        else:
            return url
    raise AssertionError(f"Nobody answers at {url}.")


def children() -> dict[int, str]:
    """The servers that this process started and that are still there, zombies too: their commands by their ids."""
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False).stdout
    found = {int(line.split()[0]): line for line in listed.splitlines()}
    return {pid: line for pid, line in found.items() if "mcpserver" in line or "elderserver" in line or "defunct" in line}
