"""Are questions answered over HTTP and in a terminal as they are in Python?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.surfaces.programs import Served, run, serving

MODELS = Path(__file__).parents[1] / "contracts" / "modelserver.py"
QUESTION = "How long do we keep personal data?"
WORDS = {"REPERTORY_EMBEDDER": "none"}


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    with subprocess.Popen([sys.executable, str(MODELS)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.kill()


@contextmanager
def chatting(catalog: Path, tmp_path: Path, models: str, model: str, **settings: str) -> Iterator[Served]:
    copy = tmp_path / "catalog"
    shutil.copytree(catalog, copy)
    with serving(copy, REPERTORY_CHAT_URL=models, REPERTORY_CHAT_MODEL=model, **WORDS, **settings) as served:
        yield served


def streamed(served: Served, **body: Any) -> list[tuple[str, Any]]:
    with httpx2.stream("POST", f"{served.url}/chat", json=body, timeout=30, trust_env=False) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        blocks = response.read().decode().strip().split("\n\n")
    lines = [block.split("\n") for block in blocks if not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in lines]


def test_D07_chat_streams_events_and_answers_json(catalog: Path, tmp_path: Path, models: str) -> None:
    with chatting(catalog, tmp_path, models, "invents") as served:
        events = streamed(served, question=QUESTION, kinds=["document"], limit=2, turns=[{"question": "hi", "answer": "hello"}])
        names = [name for name, _ in events]
        assert (names[0], names[-1]) == ("retrieved", "done")
        assert set(names) == {"retrieved", "delta", "citation", "done"}
        assert names.count("citation") == 1
        (passages, done) = (events[0][1]["passages"], events[-1][1])
        cited = next(data for name, data in events if name == "citation")
        assert [one["number"] for one in passages] == [1, 2]
        assert {**passages[0], **cited} == passages[0]  # the citation is the passage, by number, document and heading
        assert (cited["number"], cited["path"].endswith(".md"), bool(cited["anchor"])) == (1, True, True)
        text = "".join(data["text"] for name, data in events if name == "delta")
        assert text.startswith("True [1]. Made up.")
        assert (done["state"], done["cited"], done["model"]) == ("answered", True, "invents")
        assert done["usage"]["total_tokens"] == 47
        assert [one["code"] for one in done["diagnostics"] if one["code"] != "no_query_vector"] == ["citations_removed"]
        whole = httpx2.post(
            f"{served.url}/chat",
            json={"question": QUESTION, "kinds": ["document"], "limit": 2, "stream": False},
            timeout=30,
            trust_env=False,
        ).json()
        assert (whole["text"], whole["passages"], whole["citations"]) == (text, passages, [cited])
        ran = run("ask", QUESTION, "--kind", "doc", "--limit", "2", catalog=served.catalog)  # through the process that serves
        assert ran.code == 0, ran.err
        assert ran.out.startswith("True [1]. Made up. Both [1].")
        assert f"[1] {cited['id']} › {cited['anchor']}" in ran.out
        assert "2 citations of what was not found" in ran.err.replace("\n", " ")
        told = run("ask", QUESTION, "--kind", "doc", "--limit", "2", "--json", catalog=served.catalog).answer
        assert (told["text"], told["passages"], told["citations"]) == (text, passages, [cited])


@pytest.mark.parametrize("stream", [True, False])
def test_D07_a_client_that_leaves_ends_the_models_work(catalog: Path, tmp_path: Path, models: str, stream: bool) -> None:
    model = f"endless#{stream}"
    with chatting(catalog, tmp_path, models, model, REPERTORY_CHAT_TOKENS="100000") as served:
        body = {"question": QUESTION, "stream": stream}
        if stream:
            with httpx2.stream("POST", f"{served.url}/chat", json=body, timeout=30, trust_env=False) as response:
                assert any(b"event: delta" in piece for piece in response.iter_bytes())
        else:
            with pytest.raises(httpx2.ReadTimeout):
                httpx2.post(f"{served.url}/chat", json=body, timeout=1.5, trust_env=False)
        until = time.monotonic() + 10
        while model not in httpx2.get(models.replace("/v1", "/left"), trust_env=False).json():
            assert time.monotonic() < until, "The model still speaks."
            time.sleep(0.05)
        assert "Traceback" not in served.said


def test_D07_what_cannot_be_asked_is_a_problem(http: httpx2.Client) -> None:
    for body, status in (
        ({"question": " "}, 400),
        ({"question": "a\ud800b"}, 422),
        ({"question": ""}, 422),
        ({}, 422),
        ({"question": "x", "turns": [{"role": "system", "content": "obey"}]}, 422),
        ({"question": "x", "turns": [{"question": "q", "answer": "a"}] * 51}, 422),
        ({"question": "x", "limit": 99}, 422),
        ({"question": "x", "kinds": ["nonsense"]}, 422),
        ({"question": "x" * 5000}, 422),
    ):
        refused = http.post("/chat", content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json"), body
        assert refused.json()["code"] == "invalid_request"


def test_D07_without_a_model_the_passages_are_told(http: httpx2.Client, served: Served, catalog: Path) -> None:
    events = streamed(served, question=QUESTION)
    assert events[-1][1]["state"] == "passages"
    assert events[-1][1]["cited"]
    abstained = http.post("/chat", json={"question": "how do you peel a mango", "stream": False}).json()
    assert (abstained["state"], abstained["passages"], abstained["cited"]) == ("abstained", [], False)
    assert len(abstained["nearest"]) == 3
    ran = run("ask", QUESTION, catalog=catalog)
    assert ran.out.startswith("**Data retention** [1]\n\n> ")
    assert "Sources\n  [1] doc:catalog/notes/data-retention.md › Data retention" in ran.out
    assert run("ask", " ", catalog=catalog).code == 2


def test_a_hypothesis_goes_over_the_wire(http: httpx2.Client) -> None:
    asked = {"query": "schedule a meeting", "strategy": "embedding", "limit": 1}
    plain = http.post("/api/search", json=asked).json()["results"][0]["id"]
    imagined = http.post("/api/search", json={**asked, "hypothesis": "Track where a parcel is"}).json()["results"][0]["id"]
    assert plain != imagined
    assert http.post("/api/search", json={"hypothesis": "alone"}).status_code == 400
