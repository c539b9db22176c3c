"""Where is kept what principals are known by at servers?

In one file of the catalog that only its owner can read, or, with `credentials = "keyring"`, the secrets of it in the system's keyring. Each
principal has its own; `EVERYONE` is what an operator stored for all of them. Commands and a serving process share the file: whoever writes
holds its lock, and whoever serves asks for `changes`.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from filelock import FileLock

from repertory.errors import CatalogError, SettingsError

EVERYONE = "*"  # no name of a principal
FILE = "credentials.json"
VERSION = 1
OTHERS = 0o077  # the rights of anybody but the owner of a file

Keep = Literal["file", "keyring"]


class Key(NamedTuple):
    """Who, and at which server."""

    server: str
    principal: str


@dataclass(frozen=True, slots=True)
class Credential:
    """What one principal is known by at one server, and nowhere else: `origin` is where it may be sent. No secret is in its `repr`."""

    origin: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    oauth: Mapping[str, Any] | None = field(default=None, repr=False)  # tokens, client, metadata and resource, as the SDK writes them
    expires: float | None = None  # when the token does
    since: float = field(default_factory=time.time)  # of the login; a renewed token keeps it

    @property
    def renewable(self) -> bool:
        """Whether an expired token can be exchanged for a new one."""
        return self.oauth is not None and bool(self.oauth["tokens"].get("refresh_token"))


class Vault:
    """The credentials of a catalog. Blocking: call it off the event loop."""

    def __init__(self, directory: Path, keep: Keep = "file") -> None:
        self._file = directory / FILE
        self._lock = FileLock(directory / "credentials.lock")
        self._keep = keep
        self._ring = _Ring(directory)
        self._reading = threading.Lock()
        self._telling = threading.Lock()
        self._state: tuple[int, ...] | None = None  # of the file, when `_held` was read from it
        self._held: dict[Key, Credential] = {}
        self._in_file: set[Key] = set()  # whose secrets are in the file itself
        self._told: dict[Key, float] = {}

    def get(self, key: Key) -> Credential | None:
        """The credential of exactly this principal."""
        return self.all().get(key)

    def all(self) -> Mapping[Key, Credential]:
        """Every credential. Raises `CatalogError` for a file that others can read."""
        with self._reading:
            state = self.state()
            if state != self._state:
                self._held, self._state = self._read(), state
            return self._held

    def put(self, key: Key, credential: Credential) -> None:
        """Keep a credential in place of the former one."""
        self._change(key, credential)

    def renew(self, key: Key, credential: Credential) -> None:
        """Keep a renewed token, unless its principal has logged out or in again meanwhile."""
        self._change(key, credential, only_if=credential.since)

    def remove(self, key: Key) -> bool:
        """Forget a credential, and answer whether there was one."""
        return self._change(key, None)

    def state(self) -> tuple[int, ...] | None:
        """Changes whenever anybody logs in or out: one look at the file, which is quicker than leaving the event loop for `changes`."""
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode

    def changes(self) -> set[Key]:
        """Who logged in or out since this was asked last, in whichever process."""
        with self._telling:
            now = {key: credential.since for key, credential in self.all().items()}
            before, self._told = self._told, now
        return {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}

    def _change(self, key: Key, credential: Credential | None, only_if: float | None = None) -> bool:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._lock:
            held = dict(self.all())
            known = held.pop(key, None)
            if known is None and credential is None:
                return False
            if only_if is not None and (known is None or known.since != only_if):
                return False
            if credential is not None:
                held[key] = credential
            if self._keep == "keyring":  # first: a file that promises what is not there would be wrong
                for moved in held.keys() & {key, *self._in_file}:
                    self._ring.put(moved, _secret(held[moved]))
            self._write(held)
            if known is not None and key not in self._in_file and (credential is None or self._keep == "file"):
                self._ring.remove(key)
        return True

    def _read(self) -> dict[Key, Credential]:
        try:
            with self._file.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                if os.name == "posix" and mode & OTHERS:
                    raise CatalogError(
                        f"{self._file} can be read by others, so it is not used. Make it yours alone: chmod 600 {self._file}"
                    )
                content = json.loads(file.read())
            if content["version"] != VERSION:
                raise CatalogError(f"{self._file} was written by another version of Repertory ({content['version']}).")
            found: dict[Key, Credential] = {}
            self._in_file = set()
            for server, principals in content["credentials"].items():
                for principal, entry in principals.items():
                    key = Key(server, principal)
                    if "secret" in entry:
                        self._in_file.add(key)
                    if secret := entry.get("secret") or self._ring.get(key):
                        found[key] = Credential(entry["origin"], secret["headers"], secret["oauth"], entry["expires"], entry["since"])
            return found
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:  # whose words may quote what is in it
            raise CatalogError(f"{self._file} cannot be read ({type(error).__name__}). Remove it, and log in again.") from None

    def _write(self, held: Mapping[Key, Credential]) -> None:
        servers: dict[str, dict[str, Any]] = {}
        for key, credential in sorted(held.items()):
            entry: dict[str, Any] = {"origin": credential.origin, "expires": credential.expires, "since": credential.since}
            if self._keep == "file":
                entry["secret"] = _secret(credential)
            servers.setdefault(key.server, {})[key.principal] = entry
        unfinished = self._file.with_suffix(".partial")
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"version": VERSION, "credentials": servers}, file)
            file.flush()
            os.fsync(file.fileno())  # a server that gave a new token may not take the old one again
        unfinished.replace(self._file)


def _secret(credential: Credential) -> dict[str, Any]:
    return {"headers": dict(credential.headers), "oauth": credential.oauth}


class _Ring:
    """The system's keyring, which is asked only where it is needed."""

    def __init__(self, directory: Path) -> None:
        self._service = f"repertory {directory.absolute()}"

    def get(self, key: Key) -> dict[str, Any] | None:
        """The secret of a key."""
        held = self._ask("get_password", key)
        return dict(json.loads(held)) if held else None

    def put(self, key: Key, secret: Mapping[str, Any]) -> None:
        """Keep a secret."""
        self._ask("set_password", key, json.dumps(secret))

    def remove(self, key: Key) -> None:
        """Forget a secret."""
        if self.get(key) is not None:
            self._ask("delete_password", key)

    def _ask(self, what: str, key: Key, *more: str) -> Any:
        try:
            import keyring
            from keyring.backends import fail
            from keyring.errors import KeyringError
        except ImportError:
            raise SettingsError("credentials = 'keyring' needs a package: pip install 'repertory[keyring]'.") from None
        ring = keyring.get_keyring()
        if isinstance(ring, fail.Keyring):
            raise SettingsError("This system has no keyring that can be used. Set credentials = 'file', or set up a keyring.")
        try:
            return getattr(ring, what)(self._service, json.dumps(key), *more)
        except KeyringError as error:  # whose words may quote what it was given
            raise SettingsError(f"The keyring refused ({type(error).__name__}): is it locked?") from None
