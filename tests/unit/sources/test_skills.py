"""Which skill does a SKILL.md bring in?"""

from __future__ import annotations

from pathlib import Path

import pytest

from repertory.model import Entity, Kind
from repertory.sources import Problem, read_path

GOOD = """\
---
name: pdf-forms
description: Fills in PDF forms. Use it when somebody has a form to fill in.
license: Apache-2.0
compatibility: Needs Python 3.11
allowed-tools: Bash(git add:*) Read, mcp__files__write
metadata:
  author: harbor
  version: "1.0"
  tags: [pdf, forms]
  team: documents
---

# PDF forms

Open the form.
"""


def read(root: Path, content: str, folder: str = "pdf-forms") -> tuple[list[Entity], list[Problem]]:
    (root / folder).mkdir(exist_ok=True)
    (root / folder / "SKILL.md").write_text(content, encoding="utf-8")
    items = list(read_path(root, "local"))
    return [item for item in items if isinstance(item, Entity)], [item for item in items if isinstance(item, Problem)]


def test_a_skill_file_gives_a_skill_and_no_document(tmp_path: Path) -> None:
    (skill,), problems = read(tmp_path, GOOD)
    assert problems == []
    assert (skill.id, skill.kind, skill.name) == ("skill:pdf-forms", Kind.SKILL, "pdf-forms")
    assert skill.description == "Fills in PDF forms. Use it when somebody has a form to fill in."
    assert skill.tags == ("pdf", "forms")
    assert skill.metadata == {"team": "documents"}
    assert skill.details == {
        "body": "# PDF forms\n\nOpen the form.",
        "author": "harbor",
        "version": "1.0",
        "license": "Apache-2.0",
        "compatibility": "Needs Python 3.11",
        "allowed_tools": ["Bash(git add:*)", "Read", "mcp__files__write"],
    }


def test_own_tags_win_over_those_in_the_metadata(tmp_path: Path) -> None:
    (skill,), _ = read(tmp_path, GOOD.replace("license: Apache-2.0", "tags: office, '#forms'"))
    assert skill.tags == ("office", "'#forms'")


def test_allowed_tools_may_be_a_list(tmp_path: Path) -> None:
    (skill,), _ = read(tmp_path, GOOD.replace("Bash(git add:*) Read, mcp__files__write", '[Read, "Bash(ls:*)"]'))
    assert skill.details["allowed_tools"] == ["Read", "Bash(ls:*)"]


@pytest.mark.parametrize(
    ("before", "after", "line", "message"),
    [
        ("name: pdf-forms", "name: other", 2, "'pdf-forms'"),
        ("name: pdf-forms", "name: PDF_Forms", 2, "lower-case"),
        ("name: pdf-forms", "name: -pdf-forms", 2, "lower-case"),
        ("name: pdf-forms", "name: " + "a" * 65, 2, "64"),
        ("name: pdf-forms", "name: 7", 2, "lower-case"),
        ("description: Fills in PDF forms.", "summary: Fills in PDF forms.", 2, "description is missing"),
        ("description: Fills in PDF forms.", "description: " + "x" * 1100, 3, "at most 1024"),
        ("metadata:\n", "metadata: x\nother:\n", 7, "metadata must be an object"),
        ("allowed-tools: Bash(git add:*)", "allowed-tools: {a: b} #", 6, "allowed-tools"),
    ],
)
def test_a_skill_that_breaks_the_format_stays_out(
    tmp_path: Path,
    before: str,
    after: str,
    line: int,
    message: str,
) -> None:
    entities, problems = read(tmp_path, GOOD.replace(before, after))
    assert entities == []
    (problem,) = problems
    assert problem.where == f"{tmp_path / 'pdf-forms' / 'SKILL.md'}:{line}"
    assert message in problem.message


def test_every_violation_is_reported(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "---\nname: Wrong\n---\nbody\n")
    assert len(problems) == 2


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("# No front matter\n", 1),
        ("", 1),
        ("---\nname: pdf-forms\ndescription: never closed\n", 1),
        ("---\nname: pdf-forms\ndescription: [broken\n---\n", 4),
        ("---\n- a list\n---\n", 1),
    ],
)
def test_a_skill_without_usable_front_matter_stays_out(tmp_path: Path, content: str, line: int) -> None:
    entities, (problem,) = read(tmp_path, content)
    assert entities == []
    assert problem.where.endswith(f"SKILL.md:{line}")


def test_a_skill_with_windows_line_ends_and_a_mark_is_read(tmp_path: Path) -> None:
    (skill,), problems = read(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n"))
    assert problems == []
    assert skill.details["body"] == "# PDF forms\n\nOpen the form."


def test_the_folder_counts_when_the_file_is_named_from_inside(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read(tmp_path, GOOD)
    monkeypatch.chdir(tmp_path / "pdf-forms")
    (skill,) = read_path(Path("SKILL.md"), "local")
    assert isinstance(skill, Entity)


def test_other_markdown_beside_a_skill_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "pdf-forms").mkdir()
    (tmp_path / "pdf-forms" / "reference.md").write_text("# Fields\n\nsee [the skill](SKILL.md)\n")
    (skill, document), _ = read(tmp_path, GOOD)
    assert document.id == "doc:local/pdf-forms/reference.md"
    assert [link.target for link in document.links] == [skill.id]
