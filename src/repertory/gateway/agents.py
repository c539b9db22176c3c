"""How is an A2A agent called?

A message goes out, and what comes back - one message, or a task with its artifacts, all at once or streamed - is answered as a tool would
answer it. Through the official SDK, which is optional: `pip install 'repertory[a2a]'`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repertory.errors import UpstreamError
from repertory.gateway.session import Order
from repertory.model import Entity
from repertory.sources.serverspec import origin

if TYPE_CHECKING:
    from a2a.types import AgentCard, Part, StreamResponse

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "message": {"type": "string", "minLength": 1, "description": "What the agent should do."},
        "context_id": {"type": "string", "description": "Of an earlier answer, to go on with that conversation."},
        "task_id": {"type": "string", "description": "Of an earlier answer, to go on with that task."},
    },
    "required": ["message"],
    "additionalProperties": False,
}
MAX_TEXT = 1_000_000  # characters of an answer
MAX_DATA = 1_000  # values of an artifact


async def send(entity: Entity, order: Order) -> dict[str, Any]:
    """Send a message to an agent, and answer as a tool does."""
    try:
        import httpx
        from a2a.client import ClientConfig, ClientFactory
        from a2a.types import Role, SendMessageRequest
        from a2a.utils.errors import A2AError
    except ImportError:
        raise UpstreamError("Agents are called through the A2A SDK, which is not installed: pip install 'repertory[a2a]'.") from None
    from a2a.helpers.proto_helpers import new_text_message

    asked = order.arguments
    message = new_text_message(asked["message"], context_id=asked.get("context_id"), task_id=asked.get("task_id"), role=Role.ROLE_USER)
    answer = _Answer()
    try:
        async with (
            asyncio.timeout(order.within),
            httpx.AsyncClient(headers=dict(order.headers), timeout=2 * order.within, trust_env=False) as http,
            ClientFactory(ClientConfig(httpx_client=http)).create(_card(entity)) as client,
        ):
            async for event in client.send_message(SendMessageRequest(message=message)):
                if (said := answer.take(event)) and order.report is not None:
                    await order.report(float(answer.events), None, said)
    except TimeoutError:
        raise UpstreamError(f"The agent {entity.path!r} did not answer within {order.within:g} s.") from None
    except (A2AError, httpx.HTTPError, ValueError) as error:  # the SDK's messages quote addresses, which may hold keys
        raise UpstreamError(f"The agent {entity.path!r} failed ({type(error).__name__}).") from None
    return answer.as_result()


def _card(entity: Entity) -> AgentCard:
    """As much of its card as a caller needs."""
    from a2a.types import AgentCapabilities, AgentCard, AgentInterface

    interfaces = [
        AgentInterface(
            url=str(one.get("url", "")),
            protocol_binding=str(one.get("protocolBinding") or "JSONRPC"),
            protocol_version=str(one.get("protocolVersion") or "1.0"),
        )
        for one in _interfaces(entity)
    ]
    able = entity.details.get("capabilities")
    streaming = isinstance(able, Mapping) and able.get("streaming") is True
    return AgentCard(name=entity.name, supported_interfaces=interfaces, capabilities=AgentCapabilities(streaming=streaming))


def _interfaces(entity: Entity) -> list[Mapping[str, Any]]:
    details = entity.details
    told = details.get("interfaces") or [{"url": details.get("url", ""), "protocolVersion": details.get("protocol_version", "0.3")}]
    return [one for one in told if isinstance(one, Mapping)]


def origins(entity: Entity) -> set[str]:
    """Where messages to an agent may go: the SDK chooses among its interfaces."""
    return {origin(str(one.get("url", ""))) for one in _interfaces(entity)}


class _Answer:
    """What has come back so far."""

    def __init__(self) -> None:
        self.events = 0
        self._texts: dict[str, str] = {}  # by the artifact or message they belong to
        self._data: dict[str, list[Any]] = {}  # what is no text, likewise
        self._state: dict[str, Any] = {}
        self._failed = False

    def take(self, event: StreamResponse) -> str:
        """Note one event, and answer what it says."""
        from a2a.helpers.proto_helpers import get_message_text, get_stream_response_text
        from a2a.types import TaskState

        self.events += 1
        text = get_stream_response_text(event)
        if event.HasField("message"):
            self._note(event.message.message_id, event.message.parts, append=False)
            self._state |= {"context_id": event.message.context_id, "task_id": event.message.task_id}
        elif event.HasField("artifact_update"):
            update = event.artifact_update
            self._note(update.artifact.artifact_id, update.artifact.parts, append=update.append)
            self._state |= {"context_id": update.context_id, "task_id": update.task_id}
        else:
            task = event.task if event.HasField("task") else event.status_update
            for artifact in event.task.artifacts:
                self._note(artifact.artifact_id, artifact.parts, append=False)
            state = TaskState.Name(task.status.state)
            self._failed = state in ("TASK_STATE_FAILED", "TASK_STATE_REJECTED", "TASK_STATE_CANCELED")
            self._state |= {"context_id": task.context_id, "state": state.removeprefix("TASK_STATE_").lower()}
            self._state["task_id"] = event.task.id if event.HasField("task") else event.status_update.task_id
            if task.status.HasField("message"):
                text = get_message_text(task.status.message)
                self._state["said"] = text
        return text

    def _note(self, key: str, parts: Sequence[Part], *, append: bool) -> None:
        from a2a.helpers.proto_helpers import get_data_parts, get_text_parts

        text, data = "\n".join(get_text_parts(parts)), get_data_parts(parts)
        self._texts[key] = ((self._texts.get(key, "") if append else "") + text)[:MAX_TEXT]
        self._data[key] = [*(self._data.get(key, ()) if append else ()), *data][:MAX_DATA]

    def as_result(self) -> dict[str, Any]:
        """The answer of a tool: text for the model, the rest for programs."""
        text = "\n\n".join(text for text in self._texts.values() if text) or str(self._state.get("said", ""))
        data = [value for values in self._data.values() for value in values]
        structured = {
            "text": text,
            **({"data": data} if data else {}),
            **{name: value for name, value in self._state.items() if value and name != "said"},
        }
        return {"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": self._failed}
