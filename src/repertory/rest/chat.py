"""How is a question asked over HTTP?

D07. As server-sent events: `retrieved` first, `delta` and `citation` while the answer comes, `done` last, or `problem` where it could not
be given. The first event is waited for, so that what cannot be asked is refused with a status. Whoever leaves ends the model's work.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from repertory.app import Repertory
from repertory.chat.answer import Done, Event
from repertory.chat.request import ChatRequest
from repertory.errors import RepertoryError
from repertory.model import Principal
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.wire import ChatBody

router = APIRouter(tags=["chat"])

_log = logging.getLogger(__name__)

HEARTBEAT = 15.0  # seconds of silence after which a listener hears that we are there: proxies cut silent connections
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx would keep the words until the last one is there


@router.post(
    "/chat",
    response_model=answers.ChatAnswer,
    responses={
        200: {
            "description": "With `stream`: server-sent events retrieved, delta, citation, and done or problem last. Else one JSON value.",
            "content": {"text/event-stream": {}},
        },
        **answers.problems(400, 503),
    },
)
async def chat(body: ChatBody, request: Request, rep: Rep, caller: Caller) -> Response:
    """Answer a question from the catalog, with citations; without a model, by the passages themselves."""
    telling = Telling(rep, body.to_request(), caller)
    first = await telling.first()
    if body.stream:
        return _Streamed(telling.events(first), media_type="text/event-stream", headers=HEADERS)
    return JSONResponse(await telling.whole(first, request))


class Telling:
    """An answer that is being given, by a task of its own: it can be waited for with a limit, and ended."""

    def __init__(self, rep: Repertory, request: ChatRequest, caller: Principal) -> None:
        self._told: asyncio.Queue[Event | BaseException] = asyncio.Queue(64)  # a slow listener slows the model down
        self._task = asyncio.create_task(self._tell(rep.ask(request, caller)))

    async def first(self) -> Event:
        """The first event, or the error why there is none."""
        try:
            return await self._next()
        except BaseException:
            await self.end()
            raise

    async def events(self, first: Event) -> AsyncIterator[str]:
        """All events, as they go over the wire."""
        yield _written(first.name, first.as_json())
        try:
            while True:
                try:
                    event = await asyncio.wait_for(self._next(), HEARTBEAT)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                yield _written(event.name, event.as_json())
                if isinstance(event, Done):
                    return
        except RepertoryError as error:
            yield _written("problem", {"code": error.code, "detail": str(error)})
        except Exception:
            _log.exception("An answer failed")
            yield _written("problem", {"code": RepertoryError.code, "detail": "The answer failed. The log of the service says why."})
        finally:
            await self.end()

    async def whole(self, first: Event, request: Request) -> dict[str, Any]:
        """The answer as one value, unless whoever asked has left."""
        leaving = asyncio.create_task(_left(request))
        leaving.add_done_callback(lambda _: self._task.cancel())
        try:
            event = first
            while not isinstance(event, Done):
                event = await self._next()
            return event.answer.as_json()
        finally:
            leaving.cancel()
            await self.end()

    async def end(self) -> None:
        """Stop, wherever it is."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _next(self) -> Event:
        event = await self._told.get()
        if isinstance(event, BaseException):
            raise event
        return event

    async def _tell(self, events: AsyncGenerator[Event, None]) -> None:
        try:
            async with contextlib.aclosing(events):
                async for event in events:
                    await self._told.put(event)
        except asyncio.CancelledError:
            while not self._told.empty():
                self._told.get_nowait()
            self._told.put_nowait(RepertoryError("The answer was ended."))  # whoever still waits must not wait for ever
            raise
        except Exception as error:
            await self._told.put(error)


class _Streamed(StreamingResponse):
    """Ends what is being told when the listener has left, not only when the garbage is collected."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self.body_iterator.aclose()  # type: ignore[attr-defined]  # ours is a generator


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _written(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
