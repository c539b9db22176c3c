from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from repertory.embedders.openai import OpenAIEmbedder
from repertory.errors import EmbedderError

KEY = "sk-very-secret-0123456789"
TEXT = "the private text of a user"


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def vectors(*rows: list[float], **more: Any) -> Reply:
    data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    return Reply(body=json.dumps({"data": data, **more}).encode())


@dataclass
class Endpoint:
    """A server that gives the replies it was told, in turn, and keeps what it was asked."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            told.keys.append(self.headers["Authorization"])
            reply = told.replies.pop(0)
            time.sleep(reply.delay)
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client gave up, as the slow test wants

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


@asynccontextmanager
async def embedder_for(endpoint: Endpoint, **options: Any) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(endpoint.url, "some-model", **{"api_key": KEY, **options})
    yield embedder
    await embedder.close()


async def fault_of(endpoint: Endpoint, *replies: Reply, **options: Any) -> str:
    """The message of the error that these replies lead to, checked for what it must never contain."""
    endpoint.replies = list(replies)
    async with embedder_for(endpoint, **options) as embedder:
        with pytest.raises(EmbedderError) as caught:
            await embedder.embed_documents([TEXT, "another"])
    message = str(caught.value)
    assert KEY not in message
    assert TEXT not in message
    assert caught.value.__cause__ is None
    assert not endpoint.replies, "a reply was not asked for"
    return message


GOOD = vectors([3.0, 4.0], [0.0, 2.0], usage={"prompt_tokens": 7, "total_tokens": 9})


@pytest.mark.parametrize("key", [KEY, SecretStr(KEY)])
async def test_asks_as_openai_wants_and_normalises_what_comes(endpoint: Endpoint, key: str | SecretStr) -> None:
    endpoint.replies = [GOOD]
    async with embedder_for(endpoint, api_key=key) as embedder:
        answer = await embedder.embed_documents([TEXT, "another"])
    np.testing.assert_allclose(answer.vectors, [[0.6, 0.8], [0.0, 1.0]], atol=1e-6)
    assert answer.tokens == 9
    assert endpoint.asked == [{"model": "some-model", "input": [TEXT, "another"], "encoding_format": "float"}]
    assert endpoint.keys == [f"Bearer {KEY}"]


async def test_without_a_key_sends_none(endpoint: Endpoint) -> None:
    endpoint.replies = [vectors([1.0])]
    async with embedder_for(endpoint, api_key=None) as embedder:
        assert (await embedder.embed_query(TEXT)).tokens == 0  # nothing said of usage
    assert endpoint.keys == [None]


async def test_prefixes_are_sent_and_are_part_of_the_models_name(endpoint: Endpoint) -> None:
    endpoint.replies = [vectors([1.0]), vectors([1.0])]
    async with embedder_for(endpoint, query_prefix="query: ", document_prefix="passage: ") as embedder:
        await embedder.embed_query("a")
        await embedder.embed_documents(["b"])
        assert "query: " in embedder.model
        assert "passage: " in embedder.model
    assert [asked["input"] for asked in endpoint.asked] == [["query: a"], ["passage: b"]]
    async with embedder_for(endpoint) as embedder:
        assert embedder.model == "some-model"


async def test_asks_in_batches_of_64(endpoint: Endpoint) -> None:
    endpoint.replies = [vectors(*[[1.0, 0.0]] * 64), vectors([0.0, 1.0])]
    async with embedder_for(endpoint) as embedder:
        answer = await embedder.embed_documents(["x"] * 65)
    assert [len(asked["input"]) for asked in endpoint.asked] == [64, 1]
    np.testing.assert_array_equal(answer.vectors[-1], [0.0, 1.0])


async def test_learns_its_dimensions_from_the_first_answer_and_holds_to_them(endpoint: Endpoint) -> None:
    endpoint.replies = [vectors([1.0, 2.0, 3.0]), vectors([1.0, 2.0])]
    async with embedder_for(endpoint) as embedder:
        with pytest.raises(EmbedderError, match="not known before its first answer"):
            _ = embedder.dimensions
        await embedder.embed_query(TEXT)
        assert embedder.dimensions == 3
        with pytest.raises(EmbedderError, match=r"shape \(2,\), not \(3,\)"):
            await embedder.embed_query(TEXT)
        assert embedder.dimensions == 3


async def test_401_says_to_check_the_key_and_does_not_repeat_what_the_endpoint_said(endpoint: Endpoint) -> None:
    body = json.dumps({"error": f"Incorrect API key provided: {KEY} for {TEXT}"}).encode()
    message = await fault_of(endpoint, Reply(401, body))
    assert "HTTP 401. Check the API key" in message


async def test_429_is_tried_again_after_the_time_the_endpoint_names(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(429, headers={"Retry-After": "1"}), GOOD]
    async with embedder_for(endpoint) as embedder:
        started = time.monotonic()
        assert len((await embedder.embed_documents([TEXT, "another"])).vectors) == 2
        assert 1.0 <= time.monotonic() - started < 3.0


async def test_429_that_names_a_date_is_tried_again_then(endpoint: Endpoint) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    endpoint.replies = [Reply(429, headers={"Retry-After": date}), GOOD]
    async with embedder_for(endpoint) as embedder:
        started = time.monotonic()
        await embedder.embed_documents([TEXT, "another"])
        assert 0.8 <= time.monotonic() - started < 4.0


@pytest.mark.parametrize("wait", ["60", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)], ids=["seconds", "date"])
async def test_429_that_asks_for_more_patience_than_a_search_has_fails_at_once(endpoint: Endpoint, wait: str) -> None:
    started = time.monotonic()
    assert "HTTP 429" in await fault_of(endpoint, Reply(429, headers={"Retry-After": wait}))
    assert time.monotonic() - started < 1.0


@pytest.mark.parametrize("nonsense", ["soon", "nan", "-5", ""])
async def test_a_retry_after_that_makes_no_sense_does_not_prevent_the_retry(endpoint: Endpoint, nonsense: str) -> None:
    endpoint.replies = [Reply(503, headers={"Retry-After": nonsense}), GOOD]
    async with embedder_for(endpoint) as embedder:
        started = time.monotonic()
        await embedder.embed_documents([TEXT, "another"])
        assert time.monotonic() - started < 2.0


async def test_500_is_tried_once_more_and_then_told(endpoint: Endpoint) -> None:
    again = Reply(500, headers={"Retry-After": "0"})
    assert "HTTP 500" in await fault_of(endpoint, again, again)
    endpoint.replies = [again, GOOD]
    async with embedder_for(endpoint) as embedder:
        assert len((await embedder.embed_documents([TEXT, "another"])).vectors) == 2


@pytest.mark.parametrize("status", [301, 400, 404, 413, 418])
async def test_other_statuses_are_told_at_once(endpoint: Endpoint, status: int) -> None:
    message = await fault_of(endpoint, Reply(status, headers={"Location": "http://127.0.0.1:1/"}))
    assert f"HTTP {status}. " in message


async def test_a_slow_endpoint_is_given_up(endpoint: Endpoint) -> None:
    started = time.monotonic()
    assert "did not answer in 0.2 s" in await fault_of(endpoint, Reply(delay=1.0), timeout=0.2)
    assert time.monotonic() - started < 0.9


async def test_nobody_listening_is_told() -> None:
    nobody = Endpoint("http://127.0.0.1:9")
    assert "could not be asked (ConnectError)" in await fault_of(nobody)


async def test_a_base_url_without_a_scheme_is_told() -> None:
    assert "Check that it runs, the base URL" in await fault_of(Endpoint("localhost:11434/v1"))


@pytest.mark.parametrize("key", [f"{KEY}\r\nX-Evil: 1", f"{KEY}é"])
async def test_a_key_that_no_header_can_carry_is_told_without_showing_it(endpoint: Endpoint, key: str) -> None:
    assert "the characters of the API key" in await fault_of(endpoint, api_key=key)
    assert not endpoint.asked


ROW = [1.0, 2.0]
WITHOUT_VECTORS = {
    "a list": [],
    "no data": {"object": "list"},
    "data is null": {"data": None},
    "items are not objects": {"data": [1, 2]},
    "no embedding": {"data": [{"index": 0}, {"index": 1}]},
    "base64": {"data": [{"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": "AACAPw=="}]},
    "ragged": {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": ROW}]},
    "numbers too large": {"data": [{"index": 0, "embedding": [10**400]}, {"index": 1, "embedding": [1.0]}]},
    "an index that is a list": {"data": [{"index": [0], "embedding": ROW}, {"index": 1, "embedding": ROW}]},
}


@pytest.mark.parametrize("body", WITHOUT_VECTORS.values(), ids=WITHOUT_VECTORS.keys())
async def test_json_of_another_shape_is_told(endpoint: Endpoint, body: object) -> None:
    assert "without a list of vectors" in await fault_of(endpoint, Reply(body=json.dumps(body).encode()))


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b'{"data": [', b"\xff\xfe", b"[" * 100_000])
async def test_malformed_json_is_told(endpoint: Endpoint, body: bytes) -> None:
    assert "not JSON" in await fault_of(endpoint, Reply(body=body))


def _indexed(*indices: object) -> Callable[[], Reply]:
    data = [{"index": index, "embedding": ROW} for index in indices]
    return lambda: Reply(body=json.dumps({"data": data}).encode())


@pytest.mark.parametrize("reply", [_indexed(), _indexed(0), _indexed(0, 1, 2), _indexed(0, 0), _indexed(1, 2)])
async def test_anything_but_one_vector_for_each_text_is_told(endpoint: Endpoint, reply: Callable[[], Reply]) -> None:
    assert "vectors for 2 texts" in await fault_of(endpoint, reply())


async def test_wrong_dimensions_are_told(endpoint: Endpoint) -> None:
    assert "shape (2,), not (3,)" in await fault_of(endpoint, GOOD, dimensions=3)


@pytest.mark.parametrize("row", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e300, 1e300], []])
async def test_a_zero_or_infinite_vector_is_told(endpoint: Endpoint, row: list[float]) -> None:
    assert "zero or not finite" in await fault_of(endpoint, vectors(row, [1.0] * len(row)))


async def test_a_fault_leaves_the_embedder_usable(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(401), vectors(ROW)]
    async with embedder_for(endpoint) as embedder:
        with pytest.raises(EmbedderError):
            await embedder.embed_query(TEXT)
        assert (await embedder.embed_query(TEXT)).vectors.shape == (1, 2)


async def test_an_endpoint_that_wants_it_is_told_which_texts_are_queries(endpoint: Endpoint) -> None:
    endpoint.replies = [vectors([1.0]), vectors([1.0])]
    async with embedder_for(endpoint, input_type=True) as embedder:
        await embedder.embed_query("a")
        await embedder.embed_documents(["b"])
        assert "input_type" in embedder.model
    assert [asked["input_type"] for asked in endpoint.asked] == ["query", "document"]
    assert all("encoding_format" not in asked for asked in endpoint.asked)  # Voyage refuses "float"
