"""D08. A bundle answers elsewhere as the catalog answers here.

What is real: the bundle is written by the process that serves the catalog; its environment is made by pip from its own wheels, with
`--no-index` and, where the system allows it, in a network namespace in which nothing but loopback can be reached; it is served by
`make serve`. What is not: the wheels are for this machine, and no container is built of the Dockerfile.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests import offline
from tests.catalogs import ask, ids, note, server, tool
from tests.conftest import EXAMPLES, ROOT, copied
from tests.surfaces.programs import REPERTORY, run, serving

import repertory
from repertory.app import Repertory
from repertory.errors import Conflict, InvalidRequest, NotFound, SourceError
from repertory.settings import load

SECRET = "sk-very-secret-0123456789"  # noqa: S105
MORE = [
    "create_event",
    "calendar/create_event",
    "canel shpment",
    "D40",
    "how do you peel a mango",
    "공휴일",
    "",
    "read write file",
    "^create_",
]


def questions() -> list[dict[str, Any]]:
    """A hundred: every question of the labelled examples, names, typing errors, other scripts, nothing, a pattern."""
    files = sorted((ROOT / "examples" / "labelled").glob("*/queries.jsonl"))
    asked = [json.loads(line)["query"] for file in files for line in file.read_text("utf-8").splitlines()] + MORE
    asked = (asked + ["send a message to a colleague"] * 100)[:100]
    ways: list[dict[str, Any]] = [{}, {"limit": 20}, {"strategy": "bm25"}, {"strategy": "embedding"}, {"preset": "auto"}]
    return [
        {"query": query, "strategy": "regex"} if query.startswith("^") else {"query": query, **ways[position % len(ways)]}
        for position, query in enumerate(asked)
    ]


def without_network() -> list[str]:
    """What a command begins with to run in a network namespace of its own; nothing where the system does not let us."""
    for way in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        try:
            if subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0:
                return way
        except OSError:
            return []
    return []


def test_D08_a_bundle_served_elsewhere_without_a_network_gives_the_same_answers(example_catalog: Path, tmp_path: Path) -> None:
    asked = questions()
    assert len(asked) == 100
    (tmp_path / "questions.json").write_text(json.dumps(asked), "utf-8")
    catalog = copied(example_catalog, tmp_path / "catalog")
    with serving(catalog) as served:
        exporting = [str(REPERTORY), "export", str(tmp_path / "bundle"), "--catalog", str(catalog)]
        written = subprocess.run(exporting, capture_output=True, text=True, timeout=120, check=False)  # wheels of 120 MB
        assert written.returncode == 0, written.stderr
        assert "571 entries" in written.stderr
        here = offline.answers(served.url, asked, Path(sys.executable))
    (tmp_path / "bundle").rename(tmp_path / "elsewhere")

    isolation = without_network()
    command = [
        *isolation,
        sys.executable,
        str(ROOT / "tests" / "offline.py"),
        str(tmp_path / "elsewhere"),
        str(tmp_path / "questions.json"),
    ]
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}  # no PYTHONPATH: the program is the bundle's own
    done = subprocess.run(command, env=bare, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)

    assert there.pop("isolated") or not isolation
    assert there.pop("program").startswith(str(tmp_path / "elsewhere" / ".venv"))
    here.pop("program")
    assert sum(map(bool, here["searches"])) > 80
    assert there == here


async def test_D08_what_is_in_a_bundle(rep: Repertory, tmp_path: Path) -> None:
    await rep.put("things", [server("mail", "Letters."), tool("mail/send", "Send a letter."), note("post.md", "How the post works.")])
    await rep.callers.create_key("ann", (), (), None, repertory.Principal())
    await rep.search("letters")
    manifest = await rep.bundle(tmp_path / "bundle", wheels=False)
    bundle = tmp_path / "bundle"
    assert (dict(manifest.entries), manifest.documents, manifest.complete) == ({"server": 1, "tool": 1, "doc": 1}, 3, False)
    assert "3 entries (1 server, 1 tool, 1 doc)" in (bundle / "README.md").read_text("utf-8")
    assert {file.name for file in (bundle / "catalog").iterdir()} == {"catalog.db", "index"}  # no owner, no lock, no logs
    assert [file.name for file in (bundle / "wheels").iterdir()] == [f"repertory-{repertory.__version__}-py3-none-any.whl"]
    locked = (bundle / "requirements.txt").read_text("utf-8").splitlines()[1:]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", line) for line in locked)
    assert {"numpy", "onnxruntime", "pydantic-core", "repertory"} <= {line.split("==")[0].lower().replace("_", "-") for line in locked}
    copied = re.findall(r"^COPY --chown=repertory (\S+)", (bundle / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert copied
    assert all((bundle / name).exists() for name in copied)
    assert not list(tmp_path.glob("bundle.part*"))
    sizes = [(file.stat().st_blocks, file.stat().st_size) for file in (bundle / "catalog" / "index").rglob("*") if file.is_file()]
    assert sum(blocks for blocks, _ in sizes) * 512 < sum(size for _, size in sizes) / 4  # what is empty takes no room


@pytest.mark.parametrize("with_keys", [False, True])
async def test_D08_keys_and_what_people_did_go_along_only_when_asked(rep: Repertory, tmp_path: Path, with_keys: bool) -> None:
    await rep.put("things", [tool("mail/send", "Send a letter.")])
    key = await rep.callers.create_key("ann-of-the-audit", (), (), None, repertory.Principal())
    with pytest.raises(NotFound):
        await rep.call("no/such", {}, repertory.Principal("ann-of-the-audit"))
    assert [call.who for call in await rep.calls()] == ["ann-of-the-audit"]
    await rep.bundle(tmp_path / "bundle", wheels=False, with_keys=with_keys)
    database = tmp_path / "bundle" / "catalog" / "catalog.db"
    with closing(sqlite3.connect(database)) as copy:
        counts = [copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > 0 for table in ("keys", "audit", "calls")]  # noqa: S608
    assert counts == [with_keys] * 3
    content = database.read_bytes()
    assert (b"ann-of-the-audit" in content, key.record.hash.encode() in content) == (with_keys, with_keys)
    settings = tomllib.loads((tmp_path / "bundle" / "repertory.toml").read_text("utf-8"))
    assert settings["access"] == "required"  # whoever could not come in here cannot come in there


async def test_D08_settings_go_along_and_secrets_stay(tmp_path: Path) -> None:
    settings = {
        "embedder": "static",
        "lane_weights": {"bm25": 2.0},
        "gateway_about": 'Says "hello"\n😀',
        "rewriter_url": f"https://me:{SECRET}@models.example/v1",
        "rewriter_model": "small",
        "rewriter_key": SECRET,
        "port": 9000,
        "host": "127.0.0.2",
    }
    async with repertory.open(tmp_path / "catalog", **settings) as rep:
        await rep.put("things", [tool("mail/send", "Send a letter.")])
        await rep.bundle(tmp_path / "bundle", wheels=False)
    file = tmp_path / "bundle" / "repertory.toml"
    assert SECRET not in file.read_text("utf-8")
    assert "REPERTORY_REWRITER_KEY" in file.read_text("utf-8")
    missing = {"REPERTORY_REWRITER_URL": "http://127.0.0.1:9/v1"}
    there, _ = load({}, {"REPERTORY_CONFIG": str(file), **missing})
    expected = {name: settings[name] for name in ("embedder", "lane_weights", "gateway_about", "rewriter_model")}
    assert {name: getattr(there, name) for name in expected} == expected
    assert (there.host, there.port) == ("127.0.0.1", 8321)


async def test_D08_live_servers_are_told_of_and_left_alone(tmp_path: Path) -> None:
    config = {"mcpServers": {"workshop": {"command": "no-such-command", "env": {"KEY": SECRET}}}}
    (tmp_path / "mcp.json").write_text(json.dumps(config))
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        await rep.put("things", [tool("mail/send", "Send a letter.")])
        assert (await rep.add(tmp_path / "mcp.json")).problems  # it does not answer; what it is called is known all the same
        manifest = await rep.bundle(tmp_path / "bundle", wheels=False)
        assert next(event.action for event in await rep.audit()) == "catalog.export"
    assert manifest.live == ("workshop",)
    assert "workshop" in (tmp_path / "bundle" / "README.md").read_text("utf-8")
    assert tomllib.loads((tmp_path / "bundle" / "repertory.toml").read_text("utf-8"))["refresh_minutes"] == 0
    assert all(SECRET.encode() not in file.read_bytes() for file in (tmp_path / "bundle").rglob("*") if file.is_file())


async def test_D08_a_model_of_ones_own_goes_along(tmp_path: Path, own_model_folder: Path) -> None:
    chosen = {"embedder_file": own_model_folder, "embedder_dimensions": 384}
    async with repertory.open(tmp_path / "catalog", **chosen) as rep:
        await rep.put("things", [tool("mail/send", "Send a letter."), tool("mail/read", "Read what came.")])
        here = await rep.search("post something")
        manifest = await rep.bundle(tmp_path / "bundle", wheels=False)
    file = tomllib.loads((tmp_path / "bundle" / "repertory.toml").read_text("utf-8"))["embedder_file"]
    assert not Path(file).is_absolute()
    async with repertory.open(tmp_path / "bundle" / "catalog", **{**chosen, "embedder_file": tmp_path / "bundle" / file}) as rep:
        there = await rep.search("post something")
        assert (await rep.waiting(), rep.status()["model"]) == (0, manifest.model)
    assert [(one.entity.id, one.score) for one in there.results] == [(one.entity.id, one.score) for one in here.results]


@pytest.fixture
def own_model_folder(tmp_path: Path) -> Path:
    from repertory.embedders.onnx import MINILM

    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(MINILM.model_path)
    (folder / "tokenizer.json").symlink_to(MINILM.tokenizer_path)
    (folder / "unrelated.bin").write_bytes(b"x")
    return folder


async def test_D08_what_is_in_the_way_stays_as_it_is(rep: Repertory, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("")
    for name in ("mine", "file", "file/below", "nul\0"):
        with pytest.raises(InvalidRequest):
            await rep.bundle(tmp_path / name)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    (tmp_path / "empty").mkdir()
    await rep.bundle(tmp_path / "empty", wheels=False)
    assert (tmp_path / "empty" / "bundle.json").is_file()


async def test_D08_no_bundle_is_written_while_models_change(tmp_path: Path) -> None:
    async with repertory.open(tmp_path / "catalog", embedder="static") as rep:
        await rep.put("things", [tool("mail/send", "Send a letter.")])
    async with repertory.open(tmp_path / "catalog") as rep:
        with pytest.raises(Conflict, match="change of models"):
            await rep.bundle(tmp_path / "bundle")


async def test_D08_a_bundle_can_be_added_without_embedding_anything(rep: Repertory, tmp_path: Path) -> None:
    hidden = tool("mail/burn", "Burn a letter.", audience=frozenset({"user:ann"}))
    await rep.put(
        "things", [server("mail", "Letters."), tool("mail/send", "Send a letter."), hidden, note("post.md", "The post.", "Stamps.")]
    )
    await rep.bundle(tmp_path / "bundle", wheels=False)
    async with repertory.open(tmp_path / "other") as other:
        tried = await other.add(tmp_path / "bundle", dry_run=True)
        report = await other.add(tmp_path / "bundle")
        assert (tried.added, report.added, report.embedded, report.waiting, report.problems) == (4, 4, 0, 0, [])
        assert ids(await ask(other, "stamps")) == ids(await ask(rep, "stamps"))
        assert (await other.show("mail/burn")).audience == {"user:ann"}
        again = await other.add(tmp_path / "bundle")
        assert (again.unchanged, again.added) == (4, 0)
        assert not await other.check()


async def test_D08_a_bundle_of_another_model_is_embedded_anew(rep: Repertory, tmp_path: Path) -> None:
    await rep.put("things", [tool("mail/send", "Send a letter.")])
    await rep.bundle(tmp_path / "bundle", wheels=False)
    async with repertory.open(tmp_path / "other", embedder="static") as other:
        assert (await other.add(tmp_path / "bundle")).embedded == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [(lambda found: found | {"format": 99}, "format 99"), (lambda found: found | {"nonsense": 1}, "damaged")],
)
async def test_D08_a_bundle_that_cannot_be_read_says_so(
    rep: Repertory, tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], message: str
) -> None:
    await rep.put("things", [tool("mail/send", "Send a letter.")])
    await rep.bundle(tmp_path / "bundle", wheels=False)
    manifest = tmp_path / "bundle" / "bundle.json"
    manifest.write_text(json.dumps(change(json.loads(manifest.read_text("utf-8")))), "utf-8")
    with pytest.raises(SourceError, match=message):
        await rep.add(tmp_path / "bundle")


def test_D08_the_command_writes_either(tmp_path: Path) -> None:
    catalog, quick = tmp_path / "catalog", {"REPERTORY_EMBEDDER": "none"}
    assert run("add", EXAMPLES / "skills", catalog=catalog, **quick).code == 0
    assert run("export", catalog=catalog, **quick).code == 2
    assert run("export", tmp_path / "b", "--json", tmp_path / "b.json", catalog=catalog, **quick).code == 2
    assert run("export", tmp_path / "tools.json", catalog=catalog, **quick).code == 0
    assert json.loads((tmp_path / "tools.json").read_text("utf-8"))["tools"] == []
    ran = run("export", tmp_path / "bundle", "--no-wheels", catalog=catalog, **quick)
    assert ran.code == 0, ran.err
    assert "package index" in ran.err
    assert "--no-index" not in (tmp_path / "bundle" / "Makefile").read_text("utf-8")
