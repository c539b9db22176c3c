"""Does the command line do what it says, and say it in the right place?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.conftest import EXAMPLES
from tests.surfaces.conftest import Added
from tests.surfaces.programs import Ran, run

MEETING = "schedule a meeting"
RESULT = {"id", "kind", "path", "name", "description", "tags", "score", "confidence", "document_id", "anchor", "excerpt"}
HIDDEN = 15  # drafts of the example catalog, and what is deprecated or disabled there: held, but not listed (A13)
ANSWER = {"results", "totals", "strategy", "search_mode", "confidence", "abstained", "revision", "took_ms", "diagnostics"}
NO_MODEL = {"REPERTORY_EMBEDDER": "none"}


def too_wide(ran: Ran) -> list[str]:
    """The lines that do not fit 60 columns."""
    return [line for line in (ran.out + ran.err).splitlines() if cell_len(line) > 60]


@pytest.fixture(scope="module")
def entries(catalog: Path) -> list[dict[str, Any]]:
    """Everything that anybody finds in the catalog, as `list --json` says it."""
    answer = run("list", "-n", "1000", "--json", catalog=catalog).answer
    assert answer["total"] == len(answer["entries"])
    listed: list[dict[str, Any]] = answer["entries"]
    return listed


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Added:
    """Two servers with a tool of the same name, beside a file that cannot be read."""
    folder = tmp_path_factory.mktemp("odd")
    for server in ("north", "south"):
        tools = [{"name": "open_gate", "description": f"Open the {server} gate."}]
        (folder / f"{server}.json").write_text(json.dumps({"server": {"name": server}, "tools": tools}))
    (folder / "broken.json").write_text('{"tools": [{"name": "shut_gate"')
    catalog = tmp_path_factory.mktemp("catalog")
    return Added(catalog, run("add", folder, catalog=catalog, **NO_MODEL))


# add


def test_add_says_how_much_came_in(added: Added, entries: list[dict[str, Any]]) -> None:
    came = re.fullmatch(r"catalog: (\d+) added\.\n", added.ran.out)
    assert came, added.ran.out
    assert int(came[1]) == len(entries) + HIDDEN


def test_progress_is_drawn_on_stderr(added: Added) -> None:
    assert "Reading" in added.ran.err
    assert "━" in added.ran.err
    assert "Reading" not in added.ran.out


def test_a_second_add_changes_nothing(catalog: Path, entries: list[dict[str, Any]]) -> None:
    ran = run("add", EXAMPLES, catalog=catalog)
    assert ran.code == 0
    assert re.fullmatch(rf"catalog: {len(entries) + HIDDEN} unchanged\.\n", ran.out), ran.out


def test_adding_what_is_not_there_names_it(tmp_path: Path) -> None:
    ran = run("add", tmp_path / "nowhere", catalog=tmp_path / "catalog")
    assert ran.code == 3
    assert ran.out == ""
    assert str(tmp_path / "nowhere") in ran.err


def test_what_cannot_be_read_is_named_and_the_rest_comes_in(odd: Added) -> None:
    assert odd.ran.code == 0
    assert "4 added" in odd.ran.out
    assert "broken.json" in odd.ran.err
    assert "broken.json" not in odd.ran.out


# search


def test_search_puts_the_right_entry_first(catalog: Path) -> None:
    ran = run("search", MEETING, catalog=catalog)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "1.00  tool  calendar/create_event"
    assert "Schedule a meeting" in ran.out.splitlines()[1]
    assert re.fullmatch(r"10 results · hybrid · [\d.]+ ms\n", ran.err)


def test_search_json_has_the_documented_shape_and_the_log_is_elsewhere(catalog: Path) -> None:
    ran = run("search", MEETING, "--json", catalog=catalog, REPERTORY_LOG_LEVEL="debug")
    assert " DEBUG " in ran.err
    assert MEETING not in ran.err  # log_queries is off
    answer = ran.answer
    assert set(answer) == ANSWER
    assert all(set(result) - {"matching_tools"} == RESULT for result in answer["results"])
    assert answer["results"][0]["id"] == "tool:calendar/create_event"
    assert answer["search_mode"] == answer["strategy"] == "hybrid"
    assert answer["diagnostics"] == []
    assert sum(answer["totals"].values()) == len(answer["results"]) == 10
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_kinds_tags_and_limit_narrow_a_search(catalog: Path) -> None:
    ran = run(
        "search", MEETING, "-k", "tool", "--kind", "skill", "-t", "scheduling", "--tag", "rooms", "-n", "3", "--json", catalog=catalog
    )
    results = ran.answer["results"]
    assert len(results) == 3
    assert {result["kind"] for result in results} == {"tool"}  # the server has the tags, too
    assert all({"scheduling", "rooms"} <= set(result["tags"]) for result in results)


def test_explain_says_which_lanes_spoke(catalog: Path) -> None:
    ran = run("search", MEETING, "--explain", "-n", "3", catalog=catalog, COLUMNS="60")
    assert re.search(r"bm25 +rank 1 +score [\d.]+ +adds [\d.]+", ran.out)
    assert re.search(r"vector +rank 1 +score [\d.]+ +adds [\d.]+", ran.out)
    assert too_wide(ran) == []


def test_a_pattern_that_does_not_compile_is_shown_with_the_reason(catalog: Path) -> None:
    ran = run("search", "create_(event", "--strategy", "regex", catalog=catalog)
    assert ran.code == 2
    assert ran.out == ""
    assert "invalid_pattern" in ran.err
    assert "'create_(event'" in ran.err
    assert "missing )" in ran.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["search", "x", "--limit", "51"], "--limit"),
        (["search", "x", "--kind", "teapot"], "teapot"),
    ],
)
def test_a_wrong_request_is_a_usage_error(tmp_path: Path, arguments: list[str], named: str) -> None:
    ran = run(*arguments, catalog=tmp_path)
    assert ran.code == 2
    assert ran.out == ""
    assert named in ran.err


# list and show


def test_list_shows_a_page_of_one_kind(catalog: Path, entries: list[dict[str, Any]]) -> None:
    ran = run("list", "--kind", "mcp_server", "-n", "5", "--offset", "1", catalog=catalog)
    servers = [entry["id"] for entry in entries if entry["kind"] == "mcp_server"]
    heading, *rows, footer = ran.out.splitlines()
    assert heading.split() == ["kind", "id", "description"]
    assert [row.split()[:2] for row in rows] == [["server", entity_id] for entity_id in servers[1:6]]
    assert footer == f"2-6 of {len(servers)}"


def test_an_empty_catalog_says_what_to_do(tmp_path: Path) -> None:
    assert run("list", catalog=tmp_path).out == "Nothing here yet. Add something: repertory add PATH\n"


def test_show_prints_the_whole_entry(catalog: Path) -> None:
    ran = run("show", "tool:calendar/create_event", catalog=catalog)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "create_event  tool"
    assert ran.out.count("server:calendar") == 1  # though both sides declare the edge
    assert "attendees" in ran.out  # of its input schema


@pytest.mark.parametrize("reference", ["calendar/create_event", "create_event"])
def test_show_takes_a_path_or_a_name(catalog: Path, reference: str) -> None:
    entry = run("show", reference, "--json", catalog=catalog).answer
    assert entry["id"] == "tool:calendar/create_event"
    assert ["tool:calendar/create_event", "part_of", "server:calendar"] in entry["edges"]


def test_showing_what_is_not_there_says_where_to_look(catalog: Path) -> None:
    ran = run("show", "no-such-thing", catalog=catalog)
    assert ran.code == 4
    assert ran.out == ""
    assert "'no-such-thing'" in ran.err
    assert "repertory list" in ran.err


def test_a_name_that_two_entries_have_lists_both(odd: Added) -> None:
    ran = run("show", "open_gate", catalog=odd.catalog, **NO_MODEL)
    assert ran.code == 2
    assert "tool:north/open_gate" in ran.err
    assert "tool:south/open_gate" in ran.err


# doctor


def test_doctor_finds_a_healthy_catalog_well_and_says_where_settings_come_from(catalog: Path) -> None:
    findings = run("doctor", "--json", catalog=catalog, REPERTORY_EF_SEARCH="64").answer
    assert findings["healthy"] is True
    assert {check["check"]: check["ok"] for check in findings["checks"]} == dict.fromkeys(("catalog", "index", "vectors", "model"), True)
    assert findings["settings"]["catalog"] == {"value": str(catalog), "origin": "argument"}
    assert findings["settings"]["ef_search"] == {"value": "64", "origin": "environment"}
    assert findings["settings"]["preset"] == {"value": "default", "origin": "default"}
    (source,) = findings["sources"]
    assert source["location"] == str(EXAMPLES)


def test_doctor_says_when_the_model_does_not_answer_and_keeps_the_key(tmp_path: Path) -> None:
    ran = run(
        "doctor",
        catalog=tmp_path,
        REPERTORY_EMBEDDER="openai",
        REPERTORY_EMBEDDER_URL="http://127.0.0.1:9/v1",  # the discard port: nobody answers
        REPERTORY_EMBEDDER_DIMENSIONS="8",
        REPERTORY_EMBEDDER_KEY="correct-horse",
    )
    assert ran.code == 1
    assert re.search(r"^ok +catalog +0 documents", ran.out, re.MULTILINE)
    assert re.search(r"^problem +model +\S", ran.out, re.MULTILINE)
    assert re.search(r"^embedder_key +\(set\) +environment", ran.out, re.MULTILINE)
    assert "correct-horse" not in ran.out + ran.err


# settings


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"REPERTORY_NOPE": "1"}, ["nope", "environment", "ef_search"]),
        ({"REPERTORY_PORT": "many"}, ["port", "environment", "integer"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_origin(tmp_path: Path, settings: dict[str, str], named: list[str]) -> None:
    ran = run("list", catalog=tmp_path, **settings)
    assert ran.code == 2
    assert ran.out == ""
    assert [word for word in named if word not in ran.err] == []


# the program itself


def test_version_is_that_of_the_package() -> None:
    assert run("--version").out == f"repertory {version('repertory')}\n"


def test_help_names_every_command_within_a_second() -> None:
    seconds: list[float] = []
    while len(seconds) < 5 and min(seconds, default=1) >= 1:  # another process may have had the machine
        begun = time.perf_counter()
        ran = run("--help")
        seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 1
    assert ran.code == 0
    assert set(re.findall(r"^│ (\w+) ", ran.out, re.MULTILINE)) == {
        "add",
        "export",
        "search",
        "list",
        "show",
        "watch",
        "sources",
        "import",
        "graph",
        "classify",
        "categories",
        "serve",
        "doctor",
        "migrate",
        "eval",
        "tune",
        "calibrate",
        "call",
        "mcp",
        "audit",
        "keys",
        "login",
        "logout",
        "logins",
        "review",
        "install",
        "ask",
        "calls",
    }


def test_help_loads_no_engine() -> None:
    program = """
import sys
from repertory.cli import main
sys.argv = ["repertory", "search", "--help"]
try:
    main()
except SystemExit:
    pass
print(sorted({"onnxruntime", "qdrant_edge", "tokenizers", "sqlalchemy", "fastapi", "numpy"} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "--strategy" in done.stdout
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("arguments", [["show", "doc:catalog/notes/glossary.md"], ["doctor"]], ids=" ".join)
def test_output_fits_a_narrow_terminal(catalog: Path, arguments: list[str]) -> None:
    ran = run(*arguments, catalog=catalog, COLUMNS="60")
    assert ran.code == 0
    assert ran.out.count("\n") > 5
    assert too_wide(ran) == []


def test_a_narrow_list_cuts_no_id(catalog: Path, entries: list[dict[str, Any]]) -> None:
    ran = run("list", "-n", "1000", catalog=catalog, COLUMNS="60")
    assert too_wide(ran) == []
    heading, *rows, _ = ran.out.splitlines()
    begin, end = heading.index("id"), heading.index("description")
    ids: list[str] = []
    for row in rows:
        if row[:begin].strip():  # a kind opens an entry; lines without one go on with its id
            ids.append("")
        ids[-1] += row[begin:end].strip()
    assert ids == [entry["id"] for entry in entries]


def test_escape_sequences_of_an_entry_do_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = {"name": "lamp", "description": "\x1b[2J\x1b]0;owned\x07 Lights", "inputSchema": {}}
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [hostile]}))
    catalog = tmp_path / "catalog"
    ran = run("add", tmp_path / "tools.json", catalog=catalog, REPERTORY_EMBEDDER="none", REPERTORY_GUARD_BLOCK="none")
    assert "\x1b" not in ran.out + ran.err
    for command in (["search", "lamp"], ["list"], ["show", "lamp"], ["review"]):
        ran = run(*command, catalog=catalog, REPERTORY_EMBEDDER="none")
        if command == ["review"]:
            assert ran.out == "Nothing is held back.\n"
            continue
        assert ran.code == 0
        assert "Lights" in ran.out
        assert "\x1b" not in ran.out + ran.err


def test_a_kind_has_the_word_that_we_print(catalog: Path) -> None:
    kinds = {entry["kind"] for entry in run("list", "-k", "agent", "-k", "server", "--json", catalog=catalog).answer["entries"]}
    assert kinds == {"a2a_agent", "mcp_server"}
    ran = run("list", "--kind", "teapot", catalog=catalog)
    assert ran.code == 2
    assert "teapot" in ran.err


def test_a_page_beyond_the_end_says_how_many_there_are(catalog: Path) -> None:
    assert run("list", "--offset", "5000", catalog=catalog).out.startswith("There are only 556 entries.")


# graph


def test_a_graph_is_all_that_graph_prints(catalog: Path) -> None:
    drawn = run("graph", "trackParcel", "--format", "dot", catalog=catalog)
    assert drawn.code == 0
    assert drawn.out.startswith("digraph repertory {\n")
    assert drawn.out.endswith("}\n")
    assert '"tool:parcel-tracking/listShipments" -> "tool:parcel-tracking/trackParcel" [label="feeds"];' in drawn.out
    assert drawn.err == ""
