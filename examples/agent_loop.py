"""How does an agent work through the gateway? A scripted one, without a language model, shows every step.

    python examples/agent_loop.py

It makes a small server with fifty tools, a catalog of it, and serves the gateway to itself: search, describe, call, and search again.
With `?discover=1` (here `discover=True`) what the last search found is also listed as tools, which the next search replaces.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client

import repertory
from repertory.mcp.server import Gate

OFFICE = """
from mcp.server.mcpserver import MCPServer

office = MCPServer("office")
entries = {}

def make(verb, noun):
    def tool(number: int, note: str = "") -> dict[str, object]:
        entries[noun] = entries.get(noun, 0) + (verb == "create")
        return {"did": verb, "what": noun, "number": number, "created": entries[noun]}
    office.add_tool(tool, name=f"{verb}_{noun}", description=f"{verb.title()}s one {noun} by its number.")

for noun in "invoice customer shipment contract employee warehouse payment ticket appointment report".split():
    for verb in "create read update delete print".split():
        make(verb, noun)
office.run("stdio")
"""


async def tools(client: Client) -> list[str]:
    """The names that a model would see."""
    return [tool.name for tool in (await client.list_tools()).tools]


async def search(client: Client, query: str) -> str:
    """Search, show the answer as a model reads it, and take the best."""
    print(f"\n> search {query!r}")
    found: Any = await client.call_tool("search", {"query": query, "kinds": ["tool"], "limit": 3})
    print(found.content[0].text)
    print(f"  now listed: {', '.join(await tools(client))}")
    return str(found.structured_content["results"][0]["id"])


async def loop(client: Client) -> dict[str, Any]:
    """One task: create an invoice, then print a shipment."""
    print(f"listed at first: {', '.join(await tools(client))}")
    best = await search(client, "create an invoice")
    described: Any = await client.call_tool("describe", {"ids": [best]})
    schema = described.structured_content["entries"][0]["inputSchema"]
    print(f"\n> describe {best}\n{json.dumps(schema)}")
    called: Any = await client.call_tool("call", {"id": best, "arguments": {"number": 7}})
    print(f"\n> call {best}\n{json.dumps(called.structured_content)}")
    best = await search(client, "print a shipment")
    proxy = best.removeprefix("tool:").replace("/", "__")
    direct: Any = await client.call_tool(proxy, {"number": 12})
    print(f"\n> {proxy}, called as a tool of its own\n{json.dumps(direct.structured_content)}")
    return {"called": called.structured_content, "direct": direct.structured_content}


async def main() -> None:
    """Set everything up, and run the loop."""
    with tempfile.TemporaryDirectory() as directory:
        server = Path(directory) / "office.py"
        server.write_text(OFFICE)
        config = Path(directory) / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"office": {"command": sys.executable, "args": [str(server)]}}}))
        async with repertory.open(Path(directory) / "catalog") as rep:
            await rep.add(config)
            async with Client(Gate(rep, discover=True).server, cache=None) as client:
                await loop(client)


if __name__ == "__main__":
    asyncio.run(main())
