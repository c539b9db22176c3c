"""How is a node given a network of its own, so that it can be cut off?

By Linux: each node lives in a network namespace, whose one cable ends in a bridge, where we are, too. Needs root and `ip`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.provision import IP

RANGE = "198.18"  # set aside for benchmarks of networks (RFC 2544): nobody has anything there


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace with one address."""

    name: str
    cable: str  # the end that is at the bridge
    host: str

    @property
    def inside(self) -> tuple[str, ...]:
        """What to put before a command, so that it runs here. It keeps its process id."""
        return ("ip", "netns", "exec", self.name)

    def cut_off(self) -> None:
        """From everybody. Connections stay, nothing arrives: nobody is told."""
        _ip("link", "set", self.cable, "down")

    def reconnect(self) -> None:
        """As if nothing had been."""
        _ip("link", "set", self.cable, "up")

    def part_from(self, others: Sequence[Place]) -> None:
        """Nothing that it sends to these arrives; whoever else asks it gets answers."""
        for other in others:
            _ip("-n", self.name, "route", "add", "blackhole", other.host)

    def meet_again(self, others: Sequence[Place]) -> None:
        """As if nothing had been."""
        for other in others:
            _ip("-n", self.name, "route", "del", "blackhole", other.host)


def impossible() -> str:
    """Why there can be no such network here; empty where there can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if not IP.found:
        return IP.missing
    try:
        with network(1):
            return ""
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.strip()}"


@contextlib.contextmanager
def network(nodes: int) -> Iterator[tuple[Place, ...]]:
    """Places that reach each other and us, until the block ends."""
    token = secrets.token_hex(3)
    bridge, net = f"r{token}", f"{RANGE}.{int(token[:2], 16)}"
    places = tuple(Place(f"{bridge}-{number}", f"{bridge}n{number}", f"{net}.{number + 1}") for number in range(1, nodes + 1))
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"{net}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for place in places:
            _ip("netns", "add", place.name)
            _ip("link", "add", place.cable, "type", "veth", "peer", "name", "eth0", "netns", place.name)
            _ip("link", "set", place.cable, "master", bridge, "up")
            _ip("-n", place.name, "addr", "add", f"{place.host}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", place.name, "link", "set", device, "up")
        yield places
    finally:
        for undo in (*(("netns", "del", place.name) for place in places), ("link", "del", bridge)):
            with contextlib.suppress(subprocess.CalledProcessError):  # what was not made
                _ip(*undo)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
