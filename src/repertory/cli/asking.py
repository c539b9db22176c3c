"""How is a question asked from a terminal?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from repertory.cli.terminal import CatalogOption, JsonOption, KindOption, TagOption, err, out, print_json, read_settings
from repertory.model.request import MAX_LIMIT
from repertory.settings import Settings

app = typer.Typer()


@app.command("ask")
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know, in your own words.")],
    kind: KindOption = None,
    tag: TagOption = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=MAX_LIMIT, help="Passages at most.", show_default=False)] = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the catalog, with its sources; without a chat model, by the passages themselves."""
    body = {"question": question, "kinds": kind, "tags": tag or [], "limit": limit}
    answer = asyncio.run(_ask(read_settings(catalog=catalog), body, shown=not as_json))
    if as_json:
        return print_json(answer)
    from repertory.cli import render

    out.print()
    out.print(sources(answer), soft_wrap=True)
    for remark in render.diagnostics(answer):
        err.print(remark)


async def _ask(settings: Settings, body: dict[str, Any], *, shown: bool) -> dict[str, Any]:
    """The whole answer, printed while it comes."""
    from repertory.cli.render import clean
    from repertory.cli.session import session

    answer: dict[str, Any] = {"text": ""}
    async with session(settings) as asked, contextlib.aclosing(asked.ask(body)) as events:
        async for name, data in events:
            told = clean(data)
            if name == "delta":
                answer["text"] += told["text"]
                if shown:
                    out.print(told["text"], end="", markup=False, highlight=False, soft_wrap=True)
            elif name in ("retrieved", "done"):
                answer |= told
    return answer


def sources(answer: Mapping[str, Any]) -> RenderableType:
    """What the answer cites, one line each; what was read besides is only counted."""
    rows: list[RenderableType] = []
    for one in answer["citations"]:
        where = f" › {one['anchor']}" if one["anchor"] else ""
        rows.append(Text.assemble((f"  [{one['number']}] ", "bold"), (one["id"], "cyan"), where))
    if rows:
        rows.insert(0, Text("\nSources", style="bold"))
    read = len(answer["passages"]) - len(answer["citations"])
    by = f"{answer['model']} · " if answer["model"] else ""
    if answer["passages"]:
        cited = len(answer["citations"])
        rows.append(Text(f"\n{by}{cited} cited · {read} more passages found · {answer['took_ms']:.0f} ms", style="dim"))
    return Group(*rows)
