"""Does every embedder keep the promises of `embedders.base`?

One suite for the bundled models, for an ONNX file by its path and for an OpenAI-compatible endpoint: a real HTTP server on loopback, as
strict as OpenAI is about its input, with hashed words for vectors.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from repertory.embedders.base import Embedder
from repertory.embedders.onnx import MINILM, OnnxEmbedder, own_model
from repertory.embedders.openai import OpenAIEmbedder
from repertory.embedders.static import StaticEmbedder
from repertory.embedders.wrappers import Cached, Guarded

TEXTS = [
    "Send a message to a Slack channel",
    "weather",
    "Query a PostgreSQL database and return the rows as CSV, with a limit, an offset and the order of the columns",
    "Résumé: 提出请求, отправить письмо",
    "Create an issue in a GitHub repository",
]
VERBS = "create delete translate paint photograph measure repair".split()
NOUNS = "invoice volcano guitar passport database forest sandwich airplane poem bridge".split()
ENDINGS = ["", " for a customer", " and then send a short report about it to everyone on the team"]
MANY = [verb + " the " + noun + ending for ending in ENDINGS for verb in VERBS for noun in NOUNS]  # many batches


class HashingEndpoint(BaseHTTPRequestHandler):
    """Answers in reverse order with correct indices: order must come from `index`. Vectors are not of unit length."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        inputs = request["input"]
        legal = self.path == "/v1/embeddings" and request["encoding_format"] == "float" and 0 < len(inputs) <= 64
        if not legal or not all(inputs):  # OpenAI refuses empty strings
            self.answer(400, {"error": {"message": "invalid input"}})
            return
        data = [{"object": "embedding", "index": i, "embedding": hashed(text)} for i, text in enumerate(inputs)]
        tokens = sum(len(text.split()) + 2 for text in inputs)
        self.answer(200, {"data": data[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})

    def answer(self, status: int, body: object) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


def hashed(text: str) -> list[float]:
    seeds = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:8]) for word in ["", *text.lower().split()]]
    vector: list[float] = np.sum([np.random.default_rng(seed).standard_normal(64) for seed in seeds], axis=0).tolist()
    return vector


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), HashingEndpoint)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


MAKERS: dict[str, Callable[[str], Embedder]] = {
    "onnx": lambda _: OnnxEmbedder(),
    "onnx by its path": lambda _: OnnxEmbedder(own_model(MINILM.model_path, 384)),
    "static": lambda _: StaticEmbedder(),
    "openai": lambda url: OpenAIEmbedder(url, "hashing", dimensions=64),
    "openai, guarded and cached": lambda url: Cached(Guarded(OpenAIEmbedder(url, "hashing", dimensions=64))),
}


@pytest.fixture(params=MAKERS)
async def embedder(request: pytest.FixtureRequest, endpoint: str) -> AsyncIterator[Embedder]:
    made = MAKERS[request.param](endpoint)
    yield made
    await made.close()


async def test_gives_unit_vectors_of_its_dimensions(embedder: Embedder) -> None:
    for answer in (await embedder.embed_documents(TEXTS), await embedder.embed_query(TEXTS[0])):
        assert answer.vectors.dtype == np.float32
        assert answer.vectors.shape[1] == embedder.dimensions
        np.testing.assert_allclose(np.linalg.norm(answer.vectors, axis=1), 1.0, atol=1e-5)


async def test_a_query_is_one_row(embedder: Embedder) -> None:
    assert (await embedder.embed_query(TEXTS[0])).vectors.shape == (1, embedder.dimensions)


async def test_keeps_the_order(embedder: Embedder) -> None:
    batch = (await embedder.embed_documents(MANY)).vectors
    assert batch.shape == (len(MANY), embedder.dimensions)
    for index in range(0, len(MANY), 7):
        single = (await embedder.embed_documents([MANY[index]])).vectors[0]
        assert int(np.argmax(batch @ single)) == index, MANY[index]


async def test_a_batch_gives_what_single_texts_give(embedder: Embedder) -> None:
    batch = (await embedder.embed_documents(MANY)).vectors
    assert batch.shape == (len(MANY), embedder.dimensions)
    for index in range(0, len(MANY), 7):
        single = (await embedder.embed_documents([MANY[index]])).vectors[0]
        assert float(single @ batch[index]) > 0.99, MANY[index]


async def test_the_same_texts_give_the_same_vectors(embedder: Embedder) -> None:
    first, second = await embedder.embed_documents(TEXTS), await embedder.embed_documents(TEXTS)
    np.testing.assert_array_equal(first.vectors, second.vectors)


async def test_different_texts_give_different_vectors(embedder: Embedder) -> None:
    vectors = (await embedder.embed_documents(TEXTS)).vectors
    cosines = vectors @ vectors.T
    assert cosines[~np.eye(len(TEXTS), dtype=bool)].max() < 0.9


async def test_no_texts_give_no_vectors_and_no_tokens(embedder: Embedder) -> None:
    answer = await embedder.embed_documents([])
    assert answer.vectors.shape == (0, embedder.dimensions)
    assert answer.tokens == 0


async def test_empty_strings_and_lone_surrogates_are_texts(embedder: Embedder) -> None:
    answer = await embedder.embed_documents(["", "half a pair \ud83d", "weather"])
    lengths = np.linalg.norm(answer.vectors, axis=1)
    # A table has no row for nothing: then it says nothing, and search takes it as such (E05).
    np.testing.assert_allclose(lengths, [0.0 if isinstance(embedder, StaticEmbedder) else 1.0, 1.0, 1.0], atol=1e-5)
    assert (await embedder.embed_query("")).vectors.shape == (1, embedder.dimensions)


async def test_counts_the_tokens_of_every_text(embedder: Embedder) -> None:
    one = (await embedder.embed_documents(["send a message"])).tokens
    # Three words, one token each, and two that mark start and end; a table looks up words alone.
    assert one == (3 if isinstance(embedder, StaticEmbedder) else 5)
    assert (await embedder.embed_documents(["send a message"] * 100)).tokens == 100 * one
    assert (await embedder.embed_query("send a message")).tokens == one


async def test_names_its_model_and_says_how_much_it_likes_at_once(embedder: Embedder) -> None:
    assert embedder.model
    assert embedder.batch >= 1
