"""How is a graph written down?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from repertory.graph.draw import Format, draw
from repertory.model import Edge

ODD = [
    Edge('tool:a"b/c]', "part_of", "server:sch\\ön"),
    Edge("doc:line\nbreak|<b>", "links_to", 'tool:a"b/c]'),
    Edge("doc:x", "label", "doc:y#z;"),
    Edge("doc:x", "@type", "word:공휴일"),
]


def test_mermaid_keeps_names_inside_their_labels() -> None:
    lines = draw(ODD, Format.MERMAID).splitlines()
    assert lines[0] == "graph LR"
    for line in lines[1:]:
        assert re.fullmatch(r' {4}n\d+(\["[^"\]\[<>|\\]*"\]| -->\|"[^"|]*"\| n\d+)', line), line
    assert any("word:공휴일" in line for line in lines)


def test_dot_keeps_names_inside_their_quotes() -> None:
    drawn = draw(ODD, Format.DOT)
    quoted = r'"(?:[^"\\\n]|\\["\\])*"'
    for line in drawn.splitlines()[3:-1]:
        assert re.fullmatch(rf"    {quoted}(?: -> {quoted} \[label={quoted}\])?;", line), line
    dot = shutil.which("dot")
    if dot:
        subprocess.run([dot, "-Tsvg"], input=drawn, text=True, check=True, capture_output=True)


def test_jsonld_says_every_edge_by_address() -> None:
    read = json.loads(draw(ODD, Format.JSONLD))
    context = read["@context"]
    terms = {term for term, about in context.items() if isinstance(about, dict)}
    assert all(about["@id"] and about["@type"] == "@id" for about in context.values() if isinstance(about, dict))
    assert not any(term.startswith("@") for term in context)
    nodes = {node["@id"]: node for node in read["@graph"]}
    assert len(nodes) == len(read["@graph"]) == 7 - 1
    assert all(re.fullmatch(r"urn:repertory:[A-Za-z0-9:/%._~-]+", name) for name in nodes)
    said = {(node["label"], term, nodes[target]["label"]) for node in nodes.values() for term in terms for target in node.get(term, ())}
    assert said == {
        (ODD[0][0], "part_of", ODD[0][2]),
        (ODD[1][0], "links_to", ODD[1][2]),
        ("doc:x", "label_", "doc:y#z;"),
        ("doc:x", "type", "word:공휴일"),
    }


@pytest.mark.parametrize("format", Format)
def test_a_drawing_is_the_same_whatever_the_order(format: Format) -> None:
    assert draw(ODD, format) == draw(reversed(ODD), format)
    assert "tool:alone" in draw([], format, ["tool:alone"])
