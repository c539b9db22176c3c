"""An agent card of A2A 1.0, for tests."""

from __future__ import annotations

from typing import Any

CARD: dict[str, Any] = {
    "name": "Route Planner (EU)",
    "description": "Plans delivery routes.",
    "version": "2.1.0",
    "provider": {"organization": "Harbor", "url": "https://harbor.example"},
    "supportedInterfaces": [
        {"url": "https://a.example/v1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "https://b.example/v1", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
    ],
    "capabilities": {"streaming": True, "pushNotifications": False},
    "defaultInputModes": ["text/plain"],
    "skills": [
        {
            "id": "skill-7f3a",
            "name": "Plan a route",
            "description": "Finds the fastest order of stops.",
            "tags": ["routing", "Delivery"],
            "examples": ["Plan a tour through Lyon, then Turin"],
        },
        {"id": "skill-99", "name": "Estimate", "description": "Estimates arrival.", "tags": ["delivery", "eta"]},
    ],
}
