"""How is a real PostgreSQL started for a test?"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from sqlalchemy import create_engine, select, text

from repertory.store import Store
from repertory.store.database import IDENTITY
from repertory.store.rows import insert_rows
from repertory.store.schema import facts, metadata
from tests.conftest import require
from tests.programs import free_port
from tests.provision import POSTGRES, PSYCOPG

# Durability costs a test ten times its time, and what a machine that loses its power keeps is PostgreSQL's affair, not ours.
HASTE = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60")


@dataclass(slots=True)
class Server:
    """One server on loopback."""

    programs: Path
    home: Path
    port: int = field(default_factory=free_port)
    _made: Iterator[int] = field(default_factory=count)

    def make(self) -> None:
        """Its files."""
        if _nobody():
            shutil.chown(self.home, **_nobody())
        self._run(
            "initdb", "--auth=trust", "--username=repertory", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-D", str(self.data)
        )

    @property
    def data(self) -> Path:
        return self.home / "data"

    def start(self) -> None:
        """Start it, or start it again where it was, and wait until it answers."""
        chosen = (f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.home}", *HASTE)
        options = " ".join(f"-c {one}" for one in chosen)
        self._run("pg_ctl", "start", "-w", "-s", "-D", str(self.data), "-l", str(self.home / "log"), "-o", options)

    def stop(self) -> None:
        """Whoever is connected is cut off."""
        self._run("pg_ctl", "stop", "-s", "-m", "immediate", "-D", str(self.data))

    def database(self) -> str:
        """An empty database of its own, as the setting `database` names it."""
        name = f"catalog{next(self._made)}"
        engine = create_engine(self._url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self._url(name)

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://repertory@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(command, cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, **_nobody())  # type: ignore[call-overload]
        log = self.home / "log"
        assert done.returncode == 0, (done.stderr.decode(), log.read_text() if log.exists() else "")


@contextlib.contextmanager
def postgres() -> Iterator[Server]:
    """A server, from its first answer until the block ends."""
    require(PSYCOPG)
    programs = Path(require(POSTGRES)).parent
    with tempfile.TemporaryDirectory(prefix="repertory-postgres-") as home:  # the folders of pytest are closed to others
        server = Server(programs, Path(home))
        server.make()
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(AssertionError):  # a test may have stopped it
                server.stop()


def moved(catalog: Path, database: str) -> None:
    """Let a database hold what a catalog directory holds, but its name: collections of a Qdrant are called by it."""
    with (
        closing(Store.at(catalog)) as original,
        closing(Store(database)) as copy,
        original.reading() as rows,
        copy._begin() as connection,
    ):
        connection.execute(facts.delete())
        for table in metadata.sorted_tables:
            insert_rows(connection, table, list(map(dict, rows.execute(select(table)).mappings())))
        connection.execute(facts.delete().where(facts.c.name == IDENTITY))


def _nobody() -> dict[str, str]:
    """As whom it runs: as ourselves, unless we are root, whom PostgreSQL refuses."""
    return {} if os.geteuid() else {"user": pwd.getpwnam("nobody").pw_name}
