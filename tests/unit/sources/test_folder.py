"""Which files does a path bring in?"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from repertory.errors import SourceError
from repertory.model import Entity
from repertory.sources import Problem, files, read_file, read_path, readers
from repertory.sources.toolfile import ToolFileReader

TOOL = {"name": "t", "inputSchema": {"type": "object"}}
EXAMPLES = Path(__file__).parents[3] / "examples" / "catalog"


def write(root: Path, names: str, content: str = "text\n") -> None:
    for name in names.split():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")


def paths(root: Path) -> list[str]:
    return [item.path if isinstance(item, Entity) else f"! {item.message}" for item in read_path(root, "n")]


def test_a_folder_is_walked_in_sorted_order_without_hidden_and_made_files(tmp_path: Path) -> None:
    write(tmp_path, "b.md a/z.md a/b/c.markdown c.TXT a.md")
    write(tmp_path, ".hidden.md .git/x.md .venv/x.md")
    write(tmp_path, "node_modules/p/x.md __pycache__/x.md venv/x.md dist/x.md build/x.md")
    assert paths(tmp_path) == ["n/a/b/c.markdown", "n/a/z.md", "n/a.md", "n/b.md", "n/c.TXT"]


def test_a_folder_that_is_hidden_itself_can_be_named(tmp_path: Path) -> None:
    write(tmp_path / ".notes" / "build", "a.md")
    assert paths(tmp_path / ".notes" / "build") == ["n/a.md"]


def test_what_no_reader_knows_is_ignored_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.py b.png Makefile empty.json empty.yaml", "")
    write(tmp_path, "package.json", json.dumps({"name": "x", "description": "y", "version": "1"}))
    write(tmp_path, "people.json", json.dumps([{"name": "Ada", "description": "parameters: none"}]))
    write(tmp_path, "tsconfig.json", '{ // comment\n "parameters": 1,\n}')
    write(tmp_path, "compose.yaml", "services: {web: {image: x, tools: [a, b]}}\n")
    write(tmp_path, "config.yaml", "server: {name: x, port: 80}\n")
    assert paths(tmp_path) == []


@pytest.mark.parametrize("name", ["a.py", "data.json", "list.yaml", "no-suffix"])
def test_what_no_reader_knows_is_an_error_when_named(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, "[1, 2]")
    with pytest.raises(SourceError, match=r"not a tool file, agent card, server.json, SKILL.md or Markdown: .*Give a"):
        read_path(tmp_path / name, "n")


def test_a_broken_file_that_is_named_is_told_its_line(tmp_path: Path) -> None:
    write(tmp_path, "x.json", '{"a": 1,\n "b": }')
    with pytest.raises(SourceError, match=r"x\.json:2: is not valid JSON"):
        files(tmp_path / "x.json")


@pytest.mark.parametrize("name", ["missing.md", "missing/", "a\0b", "x" * 5000])
def test_a_path_that_does_not_exist_is_an_error_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        read_path(tmp_path / name, "n")


@pytest.mark.parametrize("text", ["tools:\n  - name: a\n - name: b\n", "tools: [{name: a}\n"])
def test_a_broken_tool_file_in_a_folder_is_reported(tmp_path: Path, text: str) -> None:
    write(tmp_path, "a.yaml", text)
    (problem,) = read_path(tmp_path, "n")
    assert isinstance(problem, Problem)
    assert problem.where.startswith(f"{tmp_path / 'a.yaml'}:")
    assert "YAML" in problem.message


def test_hostile_json_and_yaml_are_problems(tmp_path: Path) -> None:
    write(tmp_path, "deep.json", '{"tools": ' + "[" * 100_000)
    write(tmp_path, "deep.yaml", "tools: " + "[" * 100_000)
    write(tmp_path, "good.json", json.dumps(TOOL))
    items = list(read_path(tmp_path, "n"))
    assert [type(item) for item in items] == [Problem, Problem, Entity]


def test_a_large_tool_file_is_a_problem_and_large_data_is_ignored(tmp_path: Path) -> None:
    filler = "# filler\n" * 1_200_000
    write(tmp_path, "tools.yaml", f"tools: [{{name: a}}]\n{filler}")
    write(tmp_path, "data.yaml", f"rows: []\n{filler}")
    (problem,) = read_path(tmp_path, "n")
    assert isinstance(problem, Problem)
    assert problem.where == str(tmp_path / "tools.yaml")
    assert "10 MB" in problem.message


def test_an_index_file_may_be_larger_than_a_note(tmp_path: Path) -> None:
    vector = [0.123456789] * 1000
    entries = [{"tool": {"name": f"t{n}"}, "embedding": vector, "serverName": "s"} for n in range(900)]
    write(tmp_path, "index.json", json.dumps({"version": "1", "embeddingDimensions": 1000, "tools": entries}))
    assert (tmp_path / "index.json").stat().st_size > 10 * 1024 * 1024
    assert len(paths(tmp_path)) == 900


def test_a_tool_file_in_utf_16_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(TOOL), encoding="utf-16")
    assert paths(tmp_path) == ["n/t"]


def test_links_that_leave_the_root_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.md")
    write(tmp_path, "outside.md outside/x.md root-2/x.md")
    (root / "etc").symlink_to("/etc")
    (root / "passwd.md").symlink_to("/etc/passwd")
    (root / "out.md").symlink_to("../outside.md")
    (root / "out").symlink_to("../outside", target_is_directory=True)
    (root / "prefix").symlink_to("../root-2", target_is_directory=True)
    (root / "broken.md").symlink_to("nowhere.md")
    assert paths(root) == ["n/a.md"]


def test_links_inside_the_root_bring_each_file_once_and_circles_end(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md .agents/b.md")
    (tmp_path / "again").symlink_to("real", target_is_directory=True)
    (tmp_path / "again.md").symlink_to("real/a.md")
    (tmp_path / "agents").symlink_to(".agents", target_is_directory=True)
    (tmp_path / "real" / "loop").symlink_to("..", target_is_directory=True)
    (tmp_path / "self").symlink_to("self")
    assert paths(tmp_path) == ["n/agents/b.md", "n/real/a.md"]


def test_many_folders_that_link_to_each_other_are_walked_once(tmp_path: Path) -> None:
    for one in range(30):
        write(tmp_path, f"d{one}/x.md")
        for other in range(30):
            (tmp_path / f"d{one}" / f"to{other}").symlink_to(f"../d{other}", target_is_directory=True)
    assert len(files(tmp_path)) == 30


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert paths(tmp_path) == []
    with pytest.raises(SourceError):
        read_path(tmp_path / "pipe.md", "n")


def test_a_name_that_is_not_utf_8_is_a_problem_that_can_be_shown(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb") as stream:  # noqa: PTH123  a Path cannot spell it
        stream.write(b"text")
    (problem,) = read_path(tmp_path, "n")
    assert isinstance(problem, Problem)
    assert "UTF-8" in problem.message
    problem.where.encode()


def test_progress_counts_every_file_that_may_be_read(tmp_path: Path) -> None:
    write(tmp_path, "a.md b.md c.json d.py")
    seen: list[tuple[int, int]] = []
    list(read_path(tmp_path, "n", lambda done, total: seen.append((done, total))))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert len(files(tmp_path)) == 3


def test_one_file_of_a_folder_can_be_read_again_with_the_same_answer(tmp_path: Path) -> None:
    write(tmp_path, "a/one.md", "[[two]]\n")
    write(tmp_path, "b/two.md", "[one](../a/one.md)\n")
    every = list(read_path(tmp_path, "n"))
    kept = readers(files(tmp_path))
    for asked in (None, kept):
        again = [item for file in files(tmp_path) for item in read_file(file, tmp_path, "n", asked)]
        assert again == every
    assert [link.target for item in every if isinstance(item, Entity) for link in item.links] == [
        "doc:n/b/two.md",
        "doc:n/a/one.md",
    ]


def test_a_file_that_changes_between_two_readings_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    kept = readers()
    for description in ("one", "two"):
        file.write_text(json.dumps({**TOOL, "description": description}))
        (entity,) = read_file(file, tmp_path, "n", kept)
        assert isinstance(entity, Entity)
        assert entity.description == description


def test_what_a_look_inside_has_found_is_used_once(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({**TOOL, "description": "old"}))
    reader = ToolFileReader()
    assert reader.recognises(file)
    list(reader.read(file, tmp_path, "n"))
    file.write_text(json.dumps({**TOOL, "description": "new"}))
    (entity,) = reader.read(file, tmp_path, "n")
    assert isinstance(entity, Entity)
    assert entity.description == "new"


def test_a_file_that_vanishes_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read_file(tmp_path / "gone.md", tmp_path, "n")
    assert isinstance(problem, Problem)
    assert "No such file" in problem.message


@pytest.mark.parametrize("namespace", ["", "/", "a/b", "/a/b/"])
def test_a_namespace_opens_the_path_with_single_slashes(tmp_path: Path, namespace: str) -> None:
    write(tmp_path, "x.md")
    write(tmp_path, "t.json", json.dumps(TOOL))
    expected = namespace.strip("/")
    found = [item.path for item in read_path(tmp_path, namespace) if isinstance(item, Entity)]
    assert found == [f"{expected}/t".strip("/"), f"{expected}/x.md".strip("/")]


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not in this checkout")
def test_the_example_catalog_is_read_without_a_problem_and_its_links_lead_somewhere() -> None:
    items = list(read_path(EXAMPLES, "examples"))
    assert [item for item in items if isinstance(item, Problem)] == []
    entities = {item.id: item for item in items if isinstance(item, Entity)}
    assert [link for entity in entities.values() for link in entity.links if link.target not in entities] == []
    assert all(Entity.from_json(json.loads(json.dumps(entity.as_json()))) == entity for entity in entities.values())
