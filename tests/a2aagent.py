"""An agent made with the official A2A SDK, on loopback: `python -m tests.a2aagent PORT FILE LOG [WAY]`.

Its description is what a file says; every question is logged with how it was answered. With WAY `whole` it does not stream.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn
from a2a.helpers.proto_helpers import new_data_part, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import Response


class Pilot(AgentExecutor):
    """Does what the first word of a message says."""

    def __init__(self) -> None:
        self._logbook: dict[str, list[str]] = {}  # what was said before, by conversation

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer a message, or work on a task."""
        said = context.get_user_input()
        before = self._logbook.setdefault(context.context_id or "", [])
        orders = {"bring": self._bring, "sink": self._sink, "drift": self._drift, "moor": self._moor}
        if context.current_task is not None:
            await self._go_on(context, event_queue, said)
        elif (order := orders.get(said.split()[0])) is not None:
            assert context.message is not None
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
            await order(TaskUpdater(event_queue, task.id, task.context_id))
        else:
            answer = f"Aye: {said}." + (f" Before, you said: {', '.join(before)}." if before else "")
            await event_queue.enqueue_event(new_text_message(answer, context_id=context.context_id, role=Role.ROLE_AGENT))
        before.append(said)

    async def _bring(self, task: TaskUpdater) -> None:
        await task.start_work(task.new_agent_message([new_text_part("Weighing anchor.")]))
        await task.add_artifact([new_text_part("Through the channel, ")], artifact_id="log", name="log")
        await task.add_artifact([new_text_part("to berth 4.")], artifact_id="log", append=True, last_chunk=True)
        await task.add_artifact([new_data_part({"berth": 4, "fathoms": [7, 5.5]})], artifact_id="chart", name="chart")
        await task.complete(task.new_agent_message([new_text_part("Moored.")]))

    async def _sink(self, task: TaskUpdater) -> None:
        await task.failed(task.new_agent_message([new_text_part("Struck a rock.")]))

    async def _drift(self, task: TaskUpdater) -> None:
        await task.start_work()
        await asyncio.sleep(3600)

    async def _moor(self, task: TaskUpdater) -> None:
        await task.requires_input(task.new_agent_message([new_text_part("At which berth?")]))

    async def _go_on(self, context: RequestContext, event_queue: EventQueue, said: str) -> None:
        task = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        await task.complete(task.new_agent_message([new_text_part(f"Moored at {said}.")]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


def card(port: int, description: str, streaming: bool = True) -> AgentCard:
    """A card of A2A 1.0."""
    piloting = AgentSkill(
        id="pilot",
        name="Pilot a ship",
        description="Brings a ship through the channel.",
        tags=["harbor", "pilot"],
        examples=["Bring the Aurora to berth 4"],
    )
    return AgentCard(
        name="Harbor Pilot",
        description=description,
        version="2.1",
        supported_interfaces=[AgentInterface(url=f"http://127.0.0.1:{port}/rpc", protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[piloting],
    )


def main(port: int, file: Path, log: Path, way: str = "streamed") -> None:
    """Serve the agent."""
    agent = card(port, file.read_text("utf-8"), way == "streamed")

    async def described(known: AgentCard) -> AgentCard:
        known.description = file.read_text("utf-8")
        return known

    handler = DefaultRequestHandler(Pilot(), InMemoryTaskStore(), agent)
    app = Starlette(routes=[*create_agent_card_routes(agent, described), *create_jsonrpc_routes(handler, "/rpc")])

    async def logged(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await answer(request)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"{response.status_code} {request.url.path}\n")
        return response

    app.add_middleware(BaseHTTPMiddleware, dispatch=logged)
    uvicorn.run(app, port=port, log_level="error")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
