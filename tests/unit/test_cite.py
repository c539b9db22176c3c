"""Does no citation of nothing get out, however an answer comes in pieces?"""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.chat.cite import Citer, without_citations

KNOWN = {1, 2, 3}


def told(*pieces: str) -> tuple[str, list[int], int]:
    """The text, what it cites, and how many citations were taken out."""
    citer = Citer(KNOWN)
    out = [said for piece in pieces for said in citer.take(piece)] + list(citer.end())
    assert [said for said in out if isinstance(said, int)] == citer.cited
    return "".join(said for said in out if isinstance(said, str)), citer.cited, citer.removed


@pytest.mark.parametrize(
    ("answer", "text", "cited"),
    [
        ("So it is [1].", "So it is [1].", [1]),
        ("So [2][1][2].", "So [2][1][2].", [2, 1]),
        ("So [1, 3].", "So [1][3].", [1, 3]),
        ("So [1-3].", "So [1][2][3].", [1, 2, 3]),
        ("So [^2].", "So [2].", [2]),
        ("So 【3†source】.", "So [3].", [3]),
        ("So [4].", "So.", []),
        ("So [0][4] , [1; 9].", "So , [1].", [1]),
        ("So [1](http://evil.example)", "So [1] (http://evil.example)", [1]),
        ("A [link](x) and [text] and [", "A [link](x) and [text] and [", []),
        ("Use `list[9]` and ``a`[8]`` now.", "Use `list[9]` and ``a`[8]`` now.", []),
        ("An open ` and [9].\n\nMore [9].", "An open ` and.\n\nMore.", []),
        ("```py\nx[7]\n```\nSo [7] [1].", "```py\nx[7]\n```\nSo [1].", [1]),
        ("```\nnever closed [7]", "```\nnever closed [7]", []),
        ("[12345] and [1", "[12345] and [1", []),
        ("So [[9]77] and [7[8]7].", "So [?77] and [7?7].", []),
        ("trailing   ", "trailing   ", []),
    ],
)
def test_citations_are_those_of_passages(answer: str, text: str, cited: list[int]) -> None:
    assert told(answer)[:2] == (text, cited)
    assert told(*answer)[:2] == (text, cited)  # letter by letter


PIECES = st.lists(st.sampled_from([*"[]【】^`\n ,-0129(", "```", "a", "[1]", " [9]", "[9]", "\n\n", "`x[9]`", "【2†"]), max_size=40)


@given(PIECES, st.data())
def test_pieces_do_not_matter(parts: list[str], data: st.DataObject) -> None:
    answer = "".join(parts)
    at = data.draw(st.integers(0, len(answer)))
    assert told(*parts) == told(answer) == told(answer[:at], answer[at:])


@given(PIECES)
def test_what_gets_out_is_known_unless_it_is_code(parts: list[str]) -> None:
    text, cited, _ = told(*parts)
    assert set(cited) <= KNOWN
    if "`" not in text:
        assert {int(number) for number in re.findall(r"\[([0-9]{1,4})\]", text)} <= KNOWN


def test_much_text_takes_little_time() -> None:
    for hard in ("[" * 20_000, "`" * 20_000, " " * 20_000, "` " * 10_000, "[1," * 7_000):
        started = time.perf_counter()
        without_citations(hard)
        assert time.perf_counter() - started < 5  # what grows with the square would take minutes
