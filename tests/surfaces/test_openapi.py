"""Does every route answer as the OpenAPI document says, whatever it is sent?

Schemathesis makes the requests: good ones, odd ones, wrong ones. No answer may be our fault, and each must be one that is described.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from tests.conftest import EXAMPLES as CATALOG
from tests.surfaces.programs import Served, run, serving

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 3  # of each mode, per route and caller: the whole takes a minute
NOT_OURS = {"location": "/nowhere/at/all"}  # what else a source might name is not ours to read

quietly = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    catalog = tmp_path_factory.mktemp("openapi") / "catalog"
    assert run("add", CATALOG, catalog=catalog, REPERTORY_EMBEDDER="none").code == 0
    with serving(catalog, REPERTORY_EMBEDDER="none") as served:
        yield served


def credential(server: Served, caller: str) -> dict[str, str]:
    if caller != "key":
        return server.as_owner if caller == "owner" else {}
    made = httpx2.post(f"{server.url}/api/keys", json={"name": "ada", "scopes": ["admin"]}, headers=server.as_owner, trust_env=False)
    return {"Authorization": f"Bearer {made.json()['token']}"}


@pytest.fixture(scope="module")
def cases(server: Served) -> list[Case[Any]]:
    """The requests of all callers: to think them up takes longer than to ask them."""
    made: list[Case[Any]] = []
    routes = 0
    for found in schemathesis.openapi.from_url(f"{server.url}/openapi.json").get_all_operations():
        assert isinstance(found, Ok)
        routes += 1
        for mode in GenerationMode:

            @quietly
            @given(case=found.ok().as_strategy(generation_mode=mode))
            def note(case: Case[Any]) -> None:
                if case.path == "/api/sources" and isinstance(case.body, dict) and "location" in case.body:
                    case.body |= NOT_OURS
                made.append(case)

            with contextlib.suppress(Unsatisfiable):  # nothing about such a route can be wrong
                note()
    assert routes > 40
    assert len(made) > routes * EXAMPLES
    return made


@pytest.mark.parametrize("caller", ["anybody", "owner", "key"])
def test_every_route_answers_as_it_is_described(server: Served, cases: list[Case[Any]], caller: str) -> None:
    headers = credential(server, caller)
    failures: list[str] = []
    for case in cases:
        label = case.operation.label
        try:
            case.validate_response(case.call(base_url=server.url, headers=headers, timeout=20), checks=CHECKS)
        except FailureGroup as group:
            failures += [f"{label}: {failure}" for failure in group.exceptions]
        except Exception as error:  # the next ones are asked too
            failures.append(f"{label}: {type(error).__name__} {error}")
    assert not failures, "\n\n".join(failures)
    assert "Traceback" not in server.said
