"""Does a LangChain program find and use what a catalog has?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import require
from tests.provision import LANGCHAIN
from tests.surfaces.programs import Served


@pytest.fixture(autouse=True)
def _host() -> None:
    require(LANGCHAIN)


def _call(name: str, **arguments: object) -> dict[str, object]:
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


def test_a_retriever(catalog: Path) -> None:
    from repertory.plugins.langchain import connect

    with connect(catalog) as connected:
        (document,) = connected.retriever(limit=1, kinds=["document"]).invoke("gloves")
        assert "Wear gloves near the kiln door." in document.page_content
        assert document.id is not None
        assert document.id.startswith("doc:notes/kiln.md#")
        assert document.metadata["kind"] == "document"
        assert 0 < document.metadata["score"] <= 1
        found = connected.retriever(kinds=["tool"]).invoke("add two numbers")
        assert (found[0].id, found[0].page_content) == ("tool:workshop/add", "Adds two numbers.")


def test_tools(catalog: Path) -> None:
    from repertory.plugins.langchain import connect

    with connect(catalog) as connected:
        search, describe, call = connected.tools()
        assert [search.name, describe.name, call.name] == ["search", "describe", "call"]
        assert "6 tools" in search.description
        found = search.invoke(_call("search", query="add two numbers", kinds=["tool"]))
        assert found.content.splitlines()[0] == "workshop/add(first: integer, second: integer) - Adds two numbers."
        assert found.artifact["results"][0]["id"] == "tool:workshop/add"
        assert '"first"' in describe.invoke({"ids": ["workshop/add"]})
        assert call.invoke(_call("call", id="workshop/add", arguments={"first": 20, "second": 22})).artifact == {"sum": 42}
        wrong = call.invoke(_call("call", id="workshop/add", arguments={"first": 1}))
        assert wrong.status == "error"
        assert "'second' is a required property" in wrong.content


async def test_asynchronous_and_at_an_address(served: Served) -> None:
    from repertory.plugins.langchain import connect

    with connect(served.url, token=served.token) as connected:
        (document,) = await connected.retriever(limit=1, kinds=["document"]).ainvoke("gloves")
        assert "Wear gloves" in document.page_content
        _, _, call = connected.tools()
        assert "42" in await call.ainvoke({"id": "workshop/add", "arguments": {"first": 20, "second": 22}})


def test_an_error_of_the_program_stays_what_it_is(catalog: Path) -> None:
    from repertory.plugins.langchain import connect

    with pytest.raises(KeyError, match="mine"), connect(catalog):
        raise KeyError("mine")
