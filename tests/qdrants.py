"""How is a real Qdrant started for a test, alone or as a cluster?"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from tests.conftest import require
from tests.networks import Place
from tests.programs import PATIENCE, answering, free_port
from tests.provision import QDRANT

STOPPED, RUNNING = 0.27, 0.03  # seconds, in turn: a node that is slow


@dataclass(slots=True)
class Node:
    """One server: on loopback, or in a place of its own."""

    program: str
    home: Path
    first: Node | None = None  # of its cluster; None where it is that itself
    clustered: bool = False
    key: str = ""  # that opens it; empty: anybody may ask
    place: Place | None = None  # None: on loopback
    http: int = field(default_factory=lambda: _two_free_ports())
    peers: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    _quick: threading.Event = field(default_factory=threading.Event)  # set: not slow any more

    @property
    def host(self) -> str:
        """Where it is."""
        return self.place.host if self.place else "127.0.0.1"

    @property
    def url(self) -> str:
        """As the setting `index` names it."""
        return f"{self.host}:{self.http}"

    def start(self) -> None:
        """Start it, or start it again where it was."""
        self.home.mkdir(parents=True, exist_ok=True)
        command = [*(self.place.inside if self.place else ()), self.program]
        if self.clustered:
            command += ["--uri", f"http://{self.host}:{self.peers}"]
        if self.first is not None:
            command += ["--bootstrap", f"http://{self.first.host}:{self.first.peers}"]
        environment = os.environ | {
            "QDRANT__SERVICE__HOST": self.host,
            "QDRANT__SERVICE__HTTP_PORT": str(self.http),
            "QDRANT__SERVICE__GRPC_PORT": str(self.http + 1),
            "QDRANT__SERVICE__ENABLE_STATIC_CONTENT": "false",
            "QDRANT__CLUSTER__ENABLED": str(self.clustered).lower(),
            "QDRANT__CLUSTER__P2P__PORT": str(self.peers),
            "QDRANT__STORAGE__STORAGE_PATH": str(self.home / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.home / "snapshots"),
            "QDRANT__STORAGE__PERFORMANCE__MAX_SEARCH_THREADS": "1",
            "QDRANT__LOG_LEVEL": "WARN",
            **({"QDRANT__SERVICE__API_KEY": self.key} if self.key else {}),
            "QDRANT__TELEMETRY_DISABLED": "true",
        }
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.home, env=environment, stdout=log, stderr=log)

    def wait(self) -> None:
        """Until it answers, and knows its cluster."""
        answering(f"http://{self.url}")
        until = time.monotonic() + PATIENCE
        while httpx2.get(f"http://{self.url}/readyz", trust_env=False).status_code != 200:
            assert time.monotonic() < until, f"{self.url} does not become ready"
            time.sleep(0.05)

    def kill(self) -> None:
        """As a machine dies."""
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """As a machine that hangs: connections stay, nobody answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)  # the signal takes its time, too

    def resume(self) -> None:
        """As if nothing had been."""
        assert self.process is not None
        self._quick.set()
        self.process.send_signal(signal.SIGCONT)

    def slow(self) -> None:
        """As a machine that has far too much to do: nine tenths of the time it does nothing for us."""
        self._quick.clear()
        threading.Thread(target=self._limp, daemon=True).start()

    def _limp(self) -> None:
        while not self._quick.is_set() and self.process is not None:
            self.process.send_signal(signal.SIGSTOP)
            self._quick.wait(STOPPED)
            self.process.send_signal(signal.SIGCONT)
            self._quick.wait(RUNNING)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Some nodes that hold collections together."""

    nodes: tuple[Node, ...]

    @property
    def address(self) -> str:
        """As the setting `index` takes it."""
        return "qdrant://" + ",".join(node.url for node in self.nodes)

    def whole(self) -> bool:
        """Whether every replica of every shard is active, as every node sees it."""
        try:
            return all(_active(f"http://{node.url}/collections") for node in self.nodes)
        except (httpx2.HTTPError, KeyError, ValueError):
            return False


def _active(collections: str) -> bool:
    with httpx2.Client(trust_env=False, timeout=5) as client:
        names = [one["name"] for one in client.get(collections).json()["result"]["collections"]]
        seen = [client.get(f"{collections}/{name}/cluster").json()["result"] for name in names]
    shards = [shard for one in seen for shard in (*one["local_shards"], *one["remote_shards"])]
    return bool(shards) and all(shard["state"] == "Active" for shard in shards) and not any(one["shard_transfers"] for one in seen)


@contextlib.contextmanager
def qdrant(home: Path, nodes: int = 1, key: str = "", places: Sequence[Place] = ()) -> Iterator[Cluster]:
    """A server or a cluster, from its first answer until the block ends; each node in its place, where there are any."""
    program = require(QDRANT)
    where: Sequence[Place | None] = places or [None] * nodes
    first = Node(program, home / "1", clustered=nodes > 1, key=key, place=where[0])
    others = [Node(program, home / str(number), first, clustered=True, place=where[number - 1]) for number in range(2, nodes + 1)]
    started = [first, *others]
    try:
        for node in started:
            node.start()
            node.wait()
        if nodes > 1:
            _know_each_other(first, nodes)
        yield Cluster(tuple(started))
    finally:
        for node in started:
            node.kill()


def _know_each_other(first: Node, nodes: int) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        known = httpx2.get(f"http://{first.url}/cluster", trust_env=False).json()["result"]
        if len(known["peers"]) == nodes and known["raft_info"]["leader"]:
            return
        assert time.monotonic() < until, f"only {len(known['peers'])} of {nodes} nodes found each other"
        time.sleep(0.05)


def _two_free_ports() -> int:
    """The first of two neighbours: Qdrant speaks gRPC one port above HTTP."""
    while True:
        chosen = free_port()
        with socket.socket() as above, contextlib.suppress(OSError):
            above.bind(("127.0.0.1", chosen + 1))
            return chosen
