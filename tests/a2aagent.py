"""An agent made with the official A2A SDK, on loopback: `python -m tests.a2aagent PORT FILE LOG`.

Its description is what a file says; every question is logged with how it was answered.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import Response


class Silent(AgentExecutor):
    """Does nothing: only its card is asked for."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None: ...

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None: ...


def card(port: int, description: str) -> AgentCard:
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
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[piloting],
    )


def main(port: int, file: Path, log: Path) -> None:
    """Serve the agent."""
    agent = card(port, file.read_text("utf-8"))

    async def described(known: AgentCard) -> AgentCard:
        known.description = file.read_text("utf-8")
        return known

    handler = DefaultRequestHandler(Silent(), InMemoryTaskStore(), agent)
    app = Starlette(routes=[*create_agent_card_routes(agent, described), *create_jsonrpc_routes(handler, "/rpc")])

    async def logged(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await answer(request)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"{response.status_code} {request.url.path}\n")
        return response

    app.add_middleware(BaseHTTPMiddleware, dispatch=logged)
    uvicorn.run(app, port=port, log_level="error")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
