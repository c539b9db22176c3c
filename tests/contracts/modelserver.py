"""A process that serves a chat model and a re-ranker over HTTP, well and badly.

`python modelserver.py` prints its port. The name of the model says how it behaves, up to a "#"; `GET /asked` tells every request so far,
`GET /left` the models whose answers were not heard to the end.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

asked: list[dict[str, Any]] = []
left: list[str] = []
lock = threading.Lock()


def says(content: str | None, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}]}


def query_of(body: dict[str, Any]) -> str:
    return str(json.loads(body["messages"][1]["content"])["query"])


CHATS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "good": lambda body: says("list the open issues"),
    "slow": lambda body: says("list the open issues"),
    "wrapped": lambda body: says('"list the open issues"\n'),
    "empty": lambda body: says("  "),
    "null": lambda body: says(None),
    "cut": lambda body: says("list the open", "length"),
    "chatty": lambda body: says("Of course! " * 60),
    "lines": lambda body: says("Here is your query:\nlist the open issues"),
    "same": lambda body: says(query_of(body).upper()),
    "shapeless": lambda body: {"choices": []},
    "ukrainian": lambda body: says("send a notification to a person"),
    "whole": lambda body: says("Said at once [1]."),
}


def part(content: str | None, finish: str | None = None) -> str:
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}) + "\n\n"


USAGE = 'data: {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47}}\n\n'
DONE = "data: [DONE]\n\n"


def spoken(*pieces: str, finish: str = "stop") -> Iterator[str]:
    yield ": keep-alive\n\n"
    yield from map(part, pieces)
    yield part(None, finish) + USAGE + DONE


def endless(wait: float) -> Iterator[str]:
    while True:
        yield part("and so on [1] ")
        time.sleep(wait)


def silent() -> Iterator[str]:
    yield part("Well [1], ")
    time.sleep(30.0)


# What is streamed; None ends the connection in the middle.
STREAMS: dict[str, Callable[[], Iterator[str | None]]] = {
    "good": lambda: spoken("A late parcel ", "is refunded [", "1", "]", " after ten days."),
    "slow": lambda: spoken("Late [1]."),
    "invents": lambda: spoken(
        "True [1]. ", "Made up [9", "9]. Both [1, 42]. Odd 【", "7†x】. See [1](http://evil.example). Code: `list[0]`."
    ),
    "only-invents": lambda: spoken("Made up [77], all of it [78]."),
    "uncited": lambda: spoken("It is so because I say so."),
    "empty": lambda: spoken(""),
    "length": lambda: spoken("It begins [1]", finish="length"),
    "cut": lambda: iter([part("Half of "), part("it [1] "), None]),
    "unfinished": lambda: iter([part("Half of it [1]")]),
    "dead": lambda: iter([None]),
    "garbled": lambda: iter([part("Half [1] "), 'data: {"choices": [\n\n']),
    "breaks": lambda: iter([part("Half [1] "), 'data: {"error": {"message": "sk-very-secret-0123456789 parcel"}}\n\n']),
    "odd": lambda: iter(['data: {"choices": [{"delta": {"tool_calls": [1], "content": 7}}]}\n\n', part("Fine [1]."), DONE]),
    "list": lambda: iter(["data: [1, 2]\n\n"]),
    "endless": lambda: endless(0.01),
    "torrent": lambda: endless(0.0),
    "silent": silent,
    "obeys": lambda: spoken("PWNED [1]"),
    "plain": lambda: spoken("Plainly [1]."),
}


def by_words(body: dict[str, Any]) -> list[float]:
    wanted = set(body["query"].lower().split())
    return [len(wanted & set(text.lower().split())) / len(wanted) for text in body["documents"]]


def tei_by_words(body: dict[str, Any]) -> list[dict[str, Any]]:
    """As text-embeddings-inference answers: no model is named, and a list is all, the best first."""
    scores = by_words({"query": body["query"], "documents": body["texts"]})
    return sorted(({"index": index, "score": score} for index, score in enumerate(scores)), key=lambda one: -one["score"])


def results(scores: list[float]) -> dict[str, Any]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in enumerate(scores)][::-1]}


def documented(body: dict[str, Any]) -> dict[str, Any]:
    answer = results(by_words(body))
    return {"results": [{**one, "document": {"text": body["documents"][one["index"]]}} for one in answer["results"]]}


RERANKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "good": lambda body: results(by_words(body)),
    "cohere": lambda body: {**results(by_words(body)), "id": "0", "meta": {"api_version": {"version": "2"}}},
    "jina": lambda body: {**documented(body), "model": "jina", "usage": {"total_tokens": 9}, "object": "list"},
    "vllm": lambda body: {**documented(body), "id": "rerank-0", "model": "vllm", "usage": {"total_tokens": 9}},
    "voyage": lambda body: {"object": "list", "data": results(by_words(body))["results"], "model": "voyage", "usage": {"total_tokens": 9}},
    "mixedbread": lambda body: {"data": [{"index": i, "score": s, "object": "rank"} for i, s in enumerate(by_words(body))]},
    "slow": lambda body: results(by_words(body)),
    "logits": lambda body: results([20 * score - 10 for score in by_words(body)]),
    "huge": lambda body: results([2000 * score - 1000 for score in by_words(body)]),
    "rounding": lambda body: results([1.0000001, -0.0000001, 0.5]),
    "missing": lambda body: results(by_words(body)[:-1]),
    "twice": lambda body: {"results": [{"index": 0, "relevance_score": 0.5}] * len(body["documents"])},
    "nan": lambda body: results([float("nan")] * len(body["documents"])),
    "shapeless": lambda body: {"choices": []},
    "scoreless": lambda body: {"results": [{"index": index} for index in range(len(body["documents"]))]},
    "tei": tei_by_words,
}


class Models(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.answer(200, json.dumps(left if self.path == "/left" else asked).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        body.setdefault("model", "tei")
        behaviour = body["model"].split("#")[0]
        with lock:
            before = sum(one["body"]["model"] == body["model"] for one in asked)
            asked.append({"path": self.path, "key": self.headers["Authorization"], "body": body, "raw": raw.decode()})
        if behaviour.startswith("http-"):
            self.answer(int(behaviour[5:]), json.dumps({"error": f"{self.headers['Authorization']} said {json.dumps(body)}"}).encode())
            return
        if behaviour == "malformed":
            self.answer(200, b'{"choices": [')
            return
        if behaviour == "recovers":  # two failures, because one is tried again
            if before < 2:
                self.answer(500, b"")
                return
            behaviour = "good"
        if behaviour == "plain" and "temperature" in body:
            self.answer(400, b'{"error": "unknown field temperature"}')
            return
        if behaviour == "slow":
            time.sleep(1.0)
        if body.get("stream") and behaviour in STREAMS:
            self.stream(body["model"], STREAMS[behaviour]())
            return
        table = {"/v1/chat/completions": CHATS, "/v1/rerank": RERANKERS}[self.path]
        self.answer(200, json.dumps(table[behaviour](body)).encode())

    def answer(self, status: int, payload: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(payload)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client gave up, as the slow test wants

    def stream(self, model: str, pieces: Iterator[str | None]) -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                if piece is None:
                    self.close_connection = True
                    return
                self.wfile.write(f"{len(piece.encode()):x}\r\n{piece}\r\n".encode())
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            with lock:
                left.append(model)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Models)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
