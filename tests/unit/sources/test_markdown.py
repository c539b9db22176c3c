"""What does a Markdown file bring in?"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from repertory.model import Entity, Kind
from repertory.sources import Problem, read_path

NOTE = """\
---
title: Release process
aliases: [releasing, how we ship]
tags: [process, "#release"]
date: 2024-05-06
updated: 2025-02-03T10:00:00+02:00
owner: platform
reviewers: [ada, grace]
due: 2025-03-01
---

# How we release

We ship on **Tuesdays**, see [the calendar](calendar.md) and [[rollback]]. #shipping

## Steps

Nothing yet.
"""


def write(root: Path, **contents: str | bytes) -> None:
    """Files by name; "__" in a name is a folder."""
    for name, content in contents.items():
        file = root / (name.replace("__", "/") + ".md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def read(root: Path) -> tuple[dict[str, Entity], list[Problem]]:
    items = list(read_path(root, "notes"))
    entities = {item.path: item for item in items if isinstance(item, Entity)}
    return entities, [item for item in items if isinstance(item, Problem)]


def read_one(root: Path, content: str | bytes) -> Entity:
    write(root, page=content)
    entities, problems = read(root)
    assert problems == []
    return entities["notes/page.md"]


def targets(entity: Entity) -> list[str]:
    assert {link.relation for link in entity.links} <= {"links_to"}
    return [link.target.removeprefix("doc:notes/") for link in entity.links]


def test_a_note_gives_a_document_with_what_its_front_matter_says(tmp_path: Path) -> None:
    write(tmp_path, calendar="# Calendar\n", rollback="# Rollback\n", team__release=NOTE)
    entities, problems = read(tmp_path)
    assert problems == []
    note = entities["notes/team/release.md"]
    assert (note.id, note.kind, note.name) == ("doc:notes/team/release.md", Kind.DOCUMENT, "Release process")
    assert note.description == "We ship on Tuesdays, see the calendar and rollback. #shipping"
    assert note.tags == ("process", "release", "shipping")
    assert note.metadata == {
        "date": "2024-05-06",
        "updated": "2025-02-03T10:00:00+02:00",
        "owner": "platform",
        "reviewers": ["ada", "grace"],
        "due": "2025-03-01",
    }
    assert note.modified == datetime(2025, 2, 3, 8, tzinfo=UTC)
    assert note.details["title"] == "Release process"
    assert note.details["aliases"] == ["releasing", "how we ship"]
    assert [section["path"] for section in note.details["sections"]] == [
        ["How we release"],
        ["How we release", "Steps"],
    ]
    assert targets(note) == ["rollback.md"], "calendar.md is not beside the note"
    json.dumps(note.as_json())


def test_the_name_falls_back_to_the_first_heading_and_then_to_the_file(tmp_path: Path) -> None:
    write(tmp_path, titled="---\ntitle: 2024\n---\n# Heading\n", headed="text\n\n## Heading `x`\n", bare="text\n")
    entities, _ = read(tmp_path)
    assert entities["notes/titled.md"].name == "2024"
    assert entities["notes/headed.md"].name == "Heading x"
    assert entities["notes/bare.md"].name == "bare"


def test_B02_files_with_one_stem_have_ids_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, a__readme="one", b__readme="two")
    (tmp_path / "a" / "readme.txt").write_text("three")
    entities, problems = read(tmp_path)
    assert set(entities) == {"notes/a/readme.md", "notes/a/readme.txt", "notes/b/readme.md"}
    assert problems == []


def test_without_a_date_the_file_says_when_it_changed(tmp_path: Path) -> None:
    write(tmp_path, page="---\ndate: soon\n---\ntext\n")
    os.utime(tmp_path / "page.md", (1_700_000_000, 1_700_000_000))
    entities, _ = read(tmp_path)
    assert entities["notes/page.md"].modified == datetime.fromtimestamp(1_700_000_000, UTC)


def test_a_date_without_a_zone_is_utc(tmp_path: Path) -> None:
    assert read_one(tmp_path, "---\ndate: 2024-05-06\n---\n").modified == datetime(2024, 5, 6, tzinfo=UTC)


def test_the_description_is_the_first_paragraph_cut_between_words(tmp_path: Path) -> None:
    text = "# T\n\n![](logo.png)\n\n```\ncode\n```\n\n> A *quoted* `word`, " + "and more " * 60 + "\n\nsecond\n"
    description = read_one(tmp_path, text).description
    assert description.startswith("A quoted word, and more")
    assert len(description) <= 300
    assert description.endswith(("and…", "more…"))


def test_wikilinks_find_their_page_by_name_path_and_any_case(tmp_path: Path) -> None:
    write(
        tmp_path,
        deep__er__Target="# T",
        deep__other="x",
        deep__page="[[target]] [[Target|shown]] [[TARGET#Part|x]] [[er/Target]] [[deep/other]] [[other.md]] [[../top]]",
        top="| [[deep/other\\|in a table]] | [[#here]] | [[nowhere]] |",
    )
    entities, _ = read(tmp_path)
    assert targets(entities["notes/deep/page.md"]) == ["deep/er/Target.md", "deep/other.md", "top.md"]
    assert targets(entities["notes/top.md"]) == ["deep/other.md"]


def test_of_pages_with_one_name_the_neighbour_is_meant_then_the_one_nearest_to_the_root(tmp_path: Path) -> None:
    write(tmp_path, a__index="x", b__index="x", b__page="[[index]]", z__page="[[index]]", c__d__index="x")
    entities, _ = read(tmp_path)
    assert targets(entities["notes/b/page.md"]) == ["b/index.md"]
    assert targets(entities["notes/z/page.md"]) == ["a/index.md"]


def test_relative_links_resolve_against_their_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        a__page=(
            '[up](../top.md#part) [space](my%20note.md "title") [angle](<my note.md>) [ref][r] [self](page.md)\n'
            "[web](https://x.org/top.md) [mail](mailto:a@b.c) [bare](top.md) [paren](f_(x).md) [abs](/top.md)\n\n"
            "[r]: b/deep.md\n"
        ),
        top="x",
    )
    (tmp_path / "a" / "my note.md").write_text("x")
    (tmp_path / "a" / "f_(x).md").write_text("x")
    write(tmp_path, a__b__deep="[back](../../top)")
    entities, _ = read(tmp_path)
    assert targets(entities["notes/a/page.md"]) == ["top.md", "a/my note.md", "a/f_(x).md", "a/b/deep.md"]
    assert targets(entities["notes/a/b/deep.md"]) == ["top.md"]


def test_links_out_of_the_root_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("x")
    root = tmp_path / "root"
    write(root, page="[a](../secret.md) [[../secret]] [b](../../../../etc/passwd) [c](/etc/passwd) [[secret]] [d](..)")
    entities, _ = read(root)
    assert targets(entities["notes/page.md"]) == []


def test_related_pages_in_the_front_matter_are_links(tmp_path: Path) -> None:
    write(tmp_path, page='---\nrelated: ["[[one|first]]", two, three.md, none]\n---\n', one="x", two="x", three="x")
    entities, _ = read(tmp_path)
    assert targets(entities["notes/page.md"]) == ["one.md", "two.md", "three.md"]


def test_B01_links_tags_and_headings_in_code_do_not_count(tmp_path: Path) -> None:
    write(
        tmp_path,
        other="x",
        third="x",
        page=(
            "# Real\n\n```md\n# Fake\n[[other]] #fake [x](other.md)\n```\n\n"
            "Inline `[[other]] #no` and ``a ` [[other]] #no`` and ` unclosed #yes [[third]]\n\n"
            "## In `#heading`\n\n    text\n"
        ),
    )
    entities, _ = read(tmp_path)
    page = entities["notes/page.md"]
    assert targets(page) == ["third.md"]
    assert page.tags == ("yes",)
    assert page.name == "Real"
    assert not any("Fake" in section["path"] for section in page.details["sections"])


def test_tags_are_found_in_any_script_and_numbers_and_anchors_are_none(tmp_path: Path) -> None:
    tags = "#plain, #nested/tag #한국어 #हिन्दी #Ünï. #plain #fff-1! #v2"
    none = "(#no) x#no [a](#no) https://x.y/#no #42"
    page = read_one(tmp_path, f"{none} {tags}\n\n#start-of-line\n")
    assert page.tags == ("plain", "nested/tag", "한국어", "हिन्दी", "Ünï", "fff-1", "v2", "start-of-line")


def test_broken_front_matter_is_a_problem_with_its_line_and_the_file_is_indexed(tmp_path: Path) -> None:
    write(tmp_path, page="---\ntitle: good\ntags: [broken\n---\n# Heading\n\nThe text. #tag\n")
    entities, (problem,) = read(tmp_path)
    assert problem.where == f"{tmp_path / 'page.md'}:4"
    assert "front matter" in problem.message
    page = entities["notes/page.md"]
    assert (page.name, page.description, page.tags) == ("Heading", "The text. #tag", ("tag",))


def test_wrong_tags_in_the_front_matter_cost_only_the_tags(tmp_path: Path) -> None:
    write(tmp_path, page="---\ntitle: T\ntags: {a: b}\n---\n#inline\n")
    entities, (problem,) = read(tmp_path)
    assert problem.where.endswith("page.md:3")
    assert (entities["notes/page.md"].name, entities["notes/page.md"].tags) == ("T", ("inline",))


def test_front_matter_that_is_never_closed_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, page="---\ntitle: T\n\ntext\n")
    entities, (problem,) = read(tmp_path)
    assert "never closed" in problem.message
    assert "text" in json.dumps(entities["notes/page.md"].details)


def test_a_text_that_opens_with_a_rule_has_no_front_matter(tmp_path: Path) -> None:
    page = read_one(tmp_path, "---\n\nSome words here\n\n---\n\nOthers\n")
    assert page.description == "Some words here"
    assert page.metadata == {}


def test_a_file_of_front_matter_alone_is_a_document(tmp_path: Path) -> None:
    page = read_one(tmp_path, "---\ntitle: Only a head\ntags: one, two\n---")
    assert (page.name, page.description, page.tags) == ("Only a head", "", ("one", "two"))
    assert page.details == {"title": "Only a head", "aliases": [], "sections": []}


def test_an_empty_file_is_a_document_named_after_it(tmp_path: Path) -> None:
    page = read_one(tmp_path, "")
    assert (page.name, page.details["sections"]) == ("page", [])


def test_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    write(tmp_path, a__page=NOTE, b__page=NOTE.replace("\n", "\r\n"), c__page=NOTE.replace("\n", "\r"))
    entities, problems = read(tmp_path)
    assert problems == []
    unix, dos, mac = (entities[f"notes/{folder}/page.md"] for folder in "abc")
    for other in (dos, mac):
        assert (other.details, other.metadata, other.tags) == (unix.details, unix.metadata, unix.tags)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_every_usual_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    page = read_one(tmp_path, "---\ntitle: Café\n---\nDéjà vu – “quoted”\n".encode(encoding))
    assert (page.name, page.description) == ("Café", "Déjà vu – “quoted”")


def test_bytes_that_no_code_page_has_are_read_as_latin_1(tmp_path: Path) -> None:
    assert read_one(tmp_path, b"caf\xe9 \x81").description == "café \x81"


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\x00\x00", b"text\x00text", b"\xff\xfea\x00\x00\x00", b"\xff\xfea"],
)
def test_a_binary_file_is_a_problem(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, page=content)
    entities, (problem,) = read(tmp_path)
    assert entities == {}
    assert problem.where == str(tmp_path / "page.md")
    assert "UTF-8" in problem.message


def test_a_file_over_the_limit_is_a_problem_that_states_it(tmp_path: Path) -> None:
    write(tmp_path, page=b"x" * (10 * 1024 * 1024 + 1))
    entities, (problem,) = read(tmp_path)
    assert entities == {}
    assert "10 MB" in problem.message


def test_front_matter_cannot_blow_up(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    bomb += "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    write(tmp_path, bomb=f"---\n{bomb}---\ntext\n", deep=f"---\na: {'[' * 50_000}\n---\ntext\n")
    started = time.perf_counter()
    entities, problems = read(tmp_path)
    assert time.perf_counter() - started < 10
    assert len(entities) == 2
    assert len(problems) == 2


def test_ten_megabytes_of_links_take_seconds(tmp_path: Path) -> None:
    write(tmp_path, other="x", page="[[other]] [x](other.md) #tag `" * 330_000)
    started = time.perf_counter()
    entities, _ = read(tmp_path)
    assert time.perf_counter() - started < 30
    assert targets(entities["notes/page.md"]) == ["other.md"]
