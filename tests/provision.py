"""What do the tests need beyond Python packages, and how is it fetched?

`make test` runs this first. As root on Debian it installs system packages and says so; elsewhere it only says what is missing. A test that
needs a missing thing is skipped with that reason, and with CI=true the skip is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass


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
    def missing(self) -> str:
        """Why a test cannot run."""
        return f"{self.program} is missing ({self.purpose}); install the Debian package {self.package}, or run `make test` as root"


BROWSER = Need("chromium", "chromium", "the tests of the web page drive a real browser")
NEEDS = (BROWSER,)


def main() -> None:
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
