"""How is a Markdown text cut?"""

from __future__ import annotations

import time

import pytest

from repertory.sources.sections import LONG, LONGEST, TINY, chunk, scan

PARAGRAPH = "A paragraph that is long enough to stand alone. " * 6  # over TINY


def cut(text: str) -> list[tuple[tuple[str, ...], str]]:
    return list(chunk(scan(text)))


def test_each_heading_opens_a_section_with_the_path_to_it() -> None:
    headings = ["", "# A", "## B ##", "### C", "## D", "# E"]
    paths = [path for path, _ in cut("\n".join(f"{heading}\n{PARAGRAPH}" for heading in headings))]
    assert paths == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]


def test_underlined_headings_count_and_rules_do_not() -> None:
    text = f"Title\n=====\n{PARAGRAPH}\n\nPart\n----\n{PARAGRAPH}\n\n---\n\n- item\n---\n{PARAGRAPH}"
    assert [path for path, _ in cut(text)] == [("Title",), ("Title", "Part")]


@pytest.mark.parametrize("line", ["#no space", "    # indented code", "####### seven", "#", "\\# escaped"])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    ((path, text),) = cut(f"{line}\n{PARAGRAPH}")
    assert path == ()
    assert line.strip() in text


def test_a_heading_is_shown_without_its_marks() -> None:
    heading = "## The `__init__` of [`list<T>`](f.md), **now** _or_ <b>later</b> in snake_case [[x|y]]"
    (section,) = cut(f"{heading}\n{PARAGRAPH}")
    assert section[0] == ("The __init__ of list<T>, now or later in snake_case y",)


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "  ```"])
def test_a_hash_in_a_fence_is_no_heading(fence: str) -> None:
    text = f"# A\n{PARAGRAPH}\n{fence}sh\n# comment\n\n## another\n{fence}\n# B\n{PARAGRAPH}"
    sections = cut(text)
    assert [path for path, _ in sections] == [("A",), ("B",)]
    assert "# comment\n\n## another" in sections[0][1]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    text = f"# A\n{PARAGRAPH}\n````\n```\n# no heading\n```\n````\n"
    assert [path for path, _ in cut(text)] == [("A",)]


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert [path for path, _ in cut(f"# A\n{PARAGRAPH}\n```\n# B\n# C\n")] == [("A",)]


def test_a_code_span_of_three_backticks_opens_no_fence() -> None:
    assert [path for path, _ in cut(f"```code``` is inline\n\n{PARAGRAPH}\n# A\n{PARAGRAPH}")] == [(), ("A",)]


def test_a_tiny_section_joins_its_sibling_before_with_its_heading() -> None:
    sections = cut(f"# T\n{PARAGRAPH}\n## A\n{PARAGRAPH}\n## B\ntiny\n## C\n{PARAGRAPH}")
    assert [path for path, _ in sections] == [("T",), ("T", "A"), ("T", "C")]
    assert sections[1][1].endswith("\n\n## B\n\ntiny")


def test_a_tiny_section_without_a_sibling_before_joins_the_one_after() -> None:
    sections = cut(f"# T\n{PARAGRAPH}\n## A\ntiny\n## B\n{PARAGRAPH}")
    assert [path for path, _ in sections] == [("T",), ("T", "B")]
    assert sections[1][1].startswith("## A\n\ntiny\n\n## B\n\n")


def test_a_tiny_section_never_joins_another_branch() -> None:
    sections = cut(f"# A\n{PARAGRAPH}\n## A1\ntiny\n# B\n{PARAGRAPH}\n## B1\ntiny")
    assert [path for path, _ in sections] == [("A",), ("A", "A1"), ("B",), ("B", "B1")]


def test_many_tiny_sections_join_up_to_the_length_of_one() -> None:
    sections = cut("# T\n" + "".join(f"## H{n}\n{'word ' * 20}\n" for n in range(60)))
    assert all(TINY <= len(text) <= LONG for _, text in sections)
    joined = " ".join(f"{' '.join(path)} {text}" for path, text in sections)
    assert [n for n in range(60) if f"H{n}" not in joined] == []


def test_a_bare_heading_lives_on_in_the_paths_below_it_or_stands_for_itself() -> None:
    assert [path for path, _ in cut(f"# A\n## B\n{PARAGRAPH}")] == [("A", "B")]
    assert cut("# Only a heading") == [(("Only a heading",), "")]


def test_a_long_section_is_split_at_blank_lines() -> None:
    paragraphs = [f"{n} " + "word " * 100 for n in range(12)]
    sections = cut("# A\n" + "\n\n".join(paragraphs))
    assert len(sections) > 3
    assert {path for path, _ in sections} == {("A",)}
    assert all(len(text) <= LONG for _, text in sections)
    assert "\n\n".join(text for _, text in sections) == "\n\n".join(paragraphs)


def test_a_fence_is_kept_whole_beyond_the_usual_length() -> None:
    fence = "```py\n" + "\n\n".join(f"line_{n} = {n}" for n in range(250)) + "\n```"
    assert LONG < len(fence) < LONGEST
    sections = cut(f"# A\n{PARAGRAPH * 4}\n\n{fence}\n\n{PARAGRAPH * 4}")
    assert [text for _, text in sections if fence in text]


def test_a_huge_fence_is_split_at_line_ends_and_every_piece_is_fenced() -> None:
    lines = [f"value_{n} = compute({n})" for n in range(900)]
    sections = cut("# A\n```py\n" + "\n".join(lines) + "\n```\n")
    assert len(sections) > 1
    assert all(text.startswith("```py\n") and text.endswith("\n```") for _, text in sections)
    code = [line for _, text in sections for line in text.split("\n") if not line.startswith("```")]
    assert code == lines


def test_text_without_any_break_is_cut_all_the_same() -> None:
    sections = cut("x" * 20_000)
    assert "".join(text for _, text in sections) == "x" * 20_000
    assert all(len(text) <= LONGEST for _, text in sections)


@pytest.mark.parametrize("unit", ["a", "[[", "](", "`", "` `` ", "#", "#a ", "_", "<", "\n", " ", "~", "[a](", "* "])
def test_ten_megabytes_of_one_thing_take_seconds(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    started = time.perf_counter()
    cut(text)
    assert time.perf_counter() - started < 10
