"""Does the page about plug-ins do what it says? Every block of it is executed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import require
from tests.docs.test_readme import ROOT, run
from tests.provision import FASTMCP, LANGCHAIN, PYDANTIC_AI

PAGE = (ROOT / "docs" / "plugins.md").read_text("utf-8")
HOSTS = {"fastmcp": FASTMCP, "pydantic-ai": PYDANTIC_AI, "langchain": LANGCHAIN}
SAYS = {
    "fastmcp": "cancel_meeting(number: integer) - Takes an appointment off the calendar.",
    "pydantic-ai": "success",
    "langchain": "tool:calendar/create_event",
}
BLOCKS = re.findall(r"^```python\n# (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(sys.platform != "linux", reason="the home directory is looked at as on Linux")
def test_the_commands_of_the_page(tmp_path: Path) -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    done = run(f"export HOME={tmp_path}\n{commands}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".mcp.json").is_file()
    assert "8321/mcp" in (tmp_path / ".config/Code/User/mcp.json").read_text()
    assert "repertory" not in (tmp_path / ".cursor/mcp.json").read_text()


@pytest.mark.parametrize(("host", "code"), BLOCKS, ids=[f"{host} {number}" for number, (host, _) in enumerate(BLOCKS)])
def test_the_python_of_the_page(host: str, code: str, tmp_path: Path, example_catalog: Path) -> None:
    require(HOSTS[host])
    (tmp_path / "my-catalog").symlink_to(example_catalog)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert SAYS[host] in done.stdout


def test_every_host_has_a_block() -> None:
    assert {host for host, _ in BLOCKS} == set(HOSTS)


@pytest.mark.parametrize(("module", "host"), [("fastmcp", "fastmcp"), ("pydantic_ai", "pydantic_ai"), ("langchain", "langchain_core")])
def test_without_its_host_a_plug_in_names_the_extra(module: str, host: str) -> None:
    code = f"import sys; sys.modules[{host!r}] = None\nimport repertory.plugins.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert f"pip install 'repertory[{module.replace('_', '-')}]'" in done.stderr.splitlines()[-1]
