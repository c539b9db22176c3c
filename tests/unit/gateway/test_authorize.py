"""Does the port that waits for a browser take only what it waits for?"""

from __future__ import annotations

import asyncio
import socket

import httpx2
import pytest
from mcp.client.auth import OAuthFlowError

from repertory.errors import UpstreamError
from repertory.gateway.authorize import Listener, log_in
from repertory.sources.serverspec import ServerSpec, Transport


async def test_only_the_right_browser_is_heard() -> None:
    shown: list[str] = []
    async with Listener(shown.append) as listener, httpx2.AsyncClient(trust_env=False) as browser:
        early = await browser.get(f"{listener.address}?code=c&state=")
        await listener.redirect("https://login.example/authorize?state=right")
        assert shown == ["https://login.example/authorize?state=right"]
        waiting = asyncio.create_task(listener.answer())
        favicon = await browser.get(listener.address.replace("callback", "favicon.ico"))
        wrong = await browser.get(f"{listener.address}?code=c&state=wrong")
        posted = await browser.post(f"{listener.address}?code=c&state=right")
        assert [answer.status_code for answer in (early, favicon, wrong, posted)] == [400, 404, 400, 404]
        assert not waiting.done()
        right = await browser.get(f"{listener.address}?code=c&state=right&iss=https://login.example")
        assert "You can close this window" in right.text
        came = await waiting
        assert (came.code, came.state, came.iss) == ("c", "right", "https://login.example")


async def test_a_refusal_is_told() -> None:
    async with Listener(lambda _: None) as listener, httpx2.AsyncClient(trust_env=False) as browser:
        await listener.redirect("https://login.example/authorize?state=right")
        assert "refused" in (await browser.get(f"{listener.address}?error=access_denied&state=right")).text
        with pytest.raises(OAuthFlowError, match="access_denied"):
            await listener.answer()


async def test_a_server_that_is_not_there_and_one_that_does_not_answer_are_told() -> None:
    with pytest.raises(UpstreamError, match="it could not be asked"):
        await log_in(ServerSpec("gone", Transport.HTTP, url="http://127.0.0.1:9/mcp"), lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        spec = ServerSpec("silent", Transport.HTTP, url=f"http://127.0.0.1:{silent.getsockname()[1]}/mcp")
        with pytest.raises(UpstreamError, match=r"Nobody logged in at 'silent' within 0\.3 s"):
            await log_in(spec, lambda _: None, within=0.3)
