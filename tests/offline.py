"""What does a bundle answer where there is no network?

`python offline.py BUNDLE QUESTIONS` starts the bundle as a person would, with `make serve`, asks it the questions of a JSON file and prints
its answers as JSON. It is run in a network namespace of its own and with Python's own library alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds for an environment to be made on a busy machine
SIOCSIFFLAGS, UP = 0x8914, 0x1 | 0x40  # how Linux is told that an interface is up and running


AGENT = """
import asyncio, json, sys
import repertory
from mcp import Client

async def ask():
    async with Client(sys.argv[1]) as client:
        found = await client.call_tool("search", {"query": sys.argv[2]})
        print(json.dumps({"program": repertory.__file__, "mcp": found.structured_content}))

asyncio.run(ask())
"""


def answers(url: str, questions: list[dict[str, Any]], python: Path) -> dict[str, Any]:
    """What a service answers: the ids, scores and confidences of each search, and what an agent of this Python is answered over MCP."""
    found = [_post(f"{url}/api/search", question) for question in questions]
    told = subprocess.run([str(python), "-c", AGENT, f"{url}/mcp", questions[0]["query"]], capture_output=True, text=True, check=True)
    return {
        **json.loads(told.stdout),
        "searches": [[[one["id"], one["score"], one["confidence"]] for one in answer["results"]] for answer in found],
        "modes": [answer["search_mode"] for answer in found],
        "diagnostics": [answer["diagnostics"] for answer in found],
    }


def _post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def _isolate() -> bool:
    """Bring loopback up, and say whether anything else can be reached."""
    with suppress(OSError), socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", UP))
    try:
        socket.create_connection(("192.0.2.1", 9), timeout=0.5).close()
    except OSError as error:
        return "unreachable" in str(error)
    return False


def _serve(bundle: Path, questions: list[dict[str, Any]]) -> dict[str, Any]:
    isolated = _isolate()
    with subprocess.Popen(
        ["make", "serve", "PORT=0", f"PYTHON={sys.executable}"], cwd=bundle, stdout=sys.stderr, start_new_session=True
    ) as process:
        try:
            url = _announced(bundle / "catalog" / "owner.json", process)
            return {"isolated": isolated, **answers(url, questions, bundle / ".venv" / "bin" / "python")}
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def _announced(note: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError, ValueError):
            url = json.loads(note.read_text("utf-8"))["url"]
            if url and urllib.request.urlopen(f"{url}/health", timeout=5).status == 200:  # noqa: S310
                return str(url)
        time.sleep(0.1)
    raise SystemExit("The bundle did not start.")


if __name__ == "__main__":
    print(json.dumps(_serve(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8")))))
