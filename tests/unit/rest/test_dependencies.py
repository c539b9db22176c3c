"""Is a request sent to another thread before anything is done for it?"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from repertory.rest import callers, references

ASKED_FOR = {
    "caller": callers.Caller,
    "admin": callers.Admin,
    "visitor": callers.Visitor,
    "owner": callers.Owner,
    "rep": callers.Rep,
    "reference": references.Reference,
}


@pytest.mark.parametrize("asked_for", ASKED_FOR.values(), ids=ASKED_FOR)
def test_what_routes_ask_for_is_worked_out_on_the_event_loop(asked_for: Any) -> None:
    (how,) = asked_for.__metadata__
    assert inspect.iscoroutinefunction(how.dependency)  # FastAPI sends a plain function to a thread, which costs more than it does
