"""What does the history of a git repository bring in?"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from tests.catalogs import ask, ids

import repertory
from repertory.app import Repertory
from repertory.cli import commands
from repertory.errors import InvalidRequest, SourceError
from repertory.sources import history
from repertory.sources.history import read_history, top_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Repository:
    """A repository whose commits are an hour apart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.count = 0
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        hour = f"2026-01-01T{self.count:02}:00:00+00:00"
        who = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "a@b"}
        environment = {**os.environ, **who, "GIT_AUTHOR_DATE": hour, "GIT_COMMITTER_DATE": hour, "GIT_CONFIG_GLOBAL": os.devnull}
        ran = subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        for name, content in files.items():
            self.write(name.replace("__", "/"), content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        self.count += 1
        return self.git("rev-parse", "HEAD")

    def write(self, name: str, content: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "harbor")


@pytest_asyncio.fixture
async def words(tmp_path: Path) -> AsyncIterator[Repertory]:
    async with repertory.open(tmp_path / "catalog", embedder="none") as opened:
        yield opened


def test_a_commit_is_one_entity(repository: Repository) -> None:
    repository.commit("First")
    sha = repository.commit("Unload cranes\n\nThey were stuck.", src__crane="a\nb\n", docs__crane="c\n", top="d\n")
    newest, first = read_history(top_of(repository.folder))
    assert newest.id == f"doc:harbor@{sha[:12]}"
    assert (newest.name, newest.tags) == ("Unload cranes", ("docs", "src"))
    assert newest.modified == datetime(2026, 1, 1, 1, tzinfo=UTC)
    (section,) = newest.details["sections"]
    assert section["text"] == "They were stuck.\nAnn, 2026-01-01\ndocs/crane (+1 -0)\nsrc/crane (+2 -0)\ntop (+1 -0)"
    assert newest.details["commit"]["sha"] == sha
    assert newest.details["commit"]["files"][1] == {"path": "src/crane", "added": 2, "deleted": 0}
    assert (first.name, first.details["commit"]["changed"]) == ("First", 0)
    assert "example.org" not in str(newest.as_json())


def test_hostile_names_and_messages_do_not_confuse_it(repository: Repository) -> None:
    odd = ["a\nb", "tab\tname", "-rf", '"quoted"', "0" * 40, "1\t2\tfake", "ünï", " "]
    for name in odd:
        repository.write(f"d/{name}", "x\n")
    with (repository.folder / "binary").open("wb") as file:
        file.write(bytes(range(256)))
    sha = repository.commit(f"Sub\x1bject\n\n1\t2\tfake\n{'0' * 40}\n\x01\x1b[31m")
    repository.commit("")
    empty, commit = read_history(repository.folder)
    assert {file["path"] for file in commit.details["commit"]["files"]} == {*(f"d/{name}" for name in odd), "binary"}
    assert (commit.name, commit.details["commit"]["sha"]) == ("Sub ject", sha)
    assert commit.tags == ("d",)
    assert empty.name == empty.details["commit"]["sha"][:12]


def test_nothing_that_a_repository_names_is_run(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit("First", a="1")
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command", "gpg.program", "core.sshCommand"):
        repository.git("config", key, str(trap))
    repository.git("config", "log.showSignature", "true")
    repository.write(".gitattributes", "* diff=x\n")
    for hook in ("post-index-change", "reference-transaction"):
        shutil.copy(trap, repository.folder / ".git" / "hooks" / hook)
    (repository.folder / "b").write_text("2")
    repository.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "-A")
    repository.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "Second")
    sprung.unlink(missing_ok=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert [commit.name for commit in read_history(top_of(repository.folder))] == ["Second", "First"]
    assert not sprung.exists()


def test_a_large_commit_is_cut(repository: Repository) -> None:
    for number in range(history.MAX_FILES + 5):
        repository.write(f"d{number}/f", "x")
    repository.commit("Import")
    (commit,) = read_history(repository.folder)
    assert commit.details["commit"]["changed"] == history.MAX_FILES + 5
    assert len(commit.details["commit"]["files"]) == history.MAX_FILES
    assert commit.details["sections"][0]["text"].endswith("and 5 more files")
    assert len(commit.tags) == history.MAX_TAGS


def test_what_has_no_history_says_so(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(SourceError, match="no such folder"):
        top_of(tmp_path / "nowhere")
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(SourceError, match="git cannot read a history"):
        top_of(plain)
    with pytest.raises(SourceError, match="git cannot read a history"):
        read_history(repository.folder)  # no commit yet


def test_too_much_and_too_slow_end(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit("A long message " * 20)
    monkeypatch.setattr(history, "MAX_OUTPUT", 100)
    with pytest.raises(SourceError, match="Read fewer commits"):
        read_history(repository.folder)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(history, "TIMEOUT", 0.3)
    with pytest.raises(SourceError, match=r"took more than 0\.3 s"):
        read_history(repository.folder)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="not installed"):
        read_history(repository.folder)


def test_a_merge_is_a_commit_without_files_of_its_own(repository: Repository) -> None:
    repository.commit("First", a="1")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("Side", b="2")
    repository.git("checkout", "-q", "main")
    repository.commit("Main", c="3")
    repository.git("merge", "-q", "--no-ff", "-m", "Join", "side")
    commits = {commit.name: commit.details["commit"]["changed"] for commit in read_history(repository.folder)}
    assert commits == {"Join": 0, "Main": 1, "Side": 1, "First": 1}


async def test_commits_are_found_and_a_second_run_brings_only_the_new_ones(words: Repertory, repository: Repository) -> None:
    shas = [repository.commit(f"Paint berth {number}", **{f"pier{number}__plan": "x"}) for number in range(4)]
    report = await words.add(repository.folder, commits=history.COMMITS)
    assert (report.source, report.added, report.documents) == ("harbor@git", 4, 4)
    assert ids(await ask(words, "pier2 plan"))[0] == f"doc:harbor@{shas[2][:12]}"
    repository.commit("Dredge the channel")
    report = await words.add(repository.folder / "pier1", commits=history.COMMITS)  # any folder of it is the same history
    assert (report.added, report.changed, report.unchanged, report.removed) == (1, 0, 4, 0)
    report = await words.add(repository.folder, commits=2)
    assert (report.unchanged, report.removed) == (2, 3)
    with pytest.raises(InvalidRequest, match="folder on this machine"):
        await words.add("https://example.org", commits=1)


def test_the_terminal_takes_as_many() -> None:
    assert commands.COMMITS == history.COMMITS
