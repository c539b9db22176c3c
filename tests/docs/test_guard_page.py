"""Does the page about the guard do what it says? Its program is executed, and its tables name what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.test_readme import ROOT

from repertory.guard import leaks, orders
from repertory.settings import load

PAGE = (ROOT / "docs" / "guard.md").read_text("utf-8")


def test_the_program_of_the_page() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(program, "docs/guard.md", "exec"), {"__name__": "page"})  # noqa: S102 - our own page


def test_the_settings_of_the_page_are_the_defaults(tmp_path: Path) -> None:
    (toml,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for name, value in re.findall(r'^(\w+) = "(\w+)"', toml, re.MULTILINE):
        assert getattr(load({}, {})[0], name) == value


def test_every_code_is_on_the_page() -> None:
    assert {code for code in _codes() if f"`{code}`" not in PAGE} == set()


def _codes() -> Iterator[str]:
    yield from (rule.code for rule in (*orders.RULES, *leaks.RULES))
    yield from (code for code, _, _ in orders.MARKUP if not code.startswith("hidden-"))
