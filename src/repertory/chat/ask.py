"""How does a question become an answer?

Classify, search, gather passages, let the model speak, check what it cites. Where a model is missing or fails, the passages speak for
themselves; where the search abstains, no model is asked: it would make something up.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from repertory.chat import prompt
from repertory.chat.answer import Answer, Citation, Delta, Done, Event, Retrieved, State
from repertory.chat.cite import Citer, without_citations
from repertory.chat.passages import Passage, gather
from repertory.chat.request import ChatRequest
from repertory.errors import RemoteModelError
from repertory.model import Diagnostic, Principal, Result, SearchRequest, SearchResponse
from repertory.remote.base import CUT, DONE, ChatModel, Ending
from repertory.text.classify import Classification

NEAREST = 3  # topics that are named where nothing answers
QUOTED = 3  # passages that speak where no model does
QUOTE = 600  # characters of each
ABOUT = 2  # earlier questions that a search hears of: "and in winter?" needs the one before

NO_PASSAGES = "The documents do not answer this."
GREETING = "Hello! Ask about what is in the catalog; the answer says where it comes from."

Search = Callable[[SearchRequest, Principal], Awaitable[SearchResponse]]
Events = AsyncGenerator[Event, None]


@dataclass(slots=True)
class _Reply:
    """What a model has said so far."""

    citer: Citer
    text: str = ""
    ending: Ending | None = None
    notes: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chat:
    """Answers questions over one catalog."""

    search: Search
    classify: Callable[[str], Classification]
    model: ChatModel | None
    budget: int  # tokens of passages

    async def ask(self, request: ChatRequest, principal: Principal) -> Events:
        """The events of an answer; closing them ends what is under way."""
        started = time.perf_counter()
        request.check()
        kind = self.classify(request.question)
        answer = Answer(State.SMALL_TALK, "", (), (), kind)
        if kind.needs_retrieval:
            answer = await self._retrieve(request, kind, principal)
        yield Retrieved(answer.passages)
        async with aclosing(_SPEAKERS[answer.state](self, request, answer)) as events:
            async for event in events:
                if isinstance(event, Done):
                    event = Done(replace(event.answer, took_ms=(time.perf_counter() - started) * 1000))
                yield event

    async def _retrieve(self, request: ChatRequest, kind: Classification, principal: Principal) -> Answer:
        """The answer that there would be without a model: passages, or that there are none and what is nearest."""
        asked = SearchRequest(
            request.question,
            kinds=request.kinds,
            tags=request.tags,
            limit=request.limit or kind.limit,
            summary="\n".join([request.summary, *(turn.question for turn in request.turns[-ABOUT:])]).strip(),
            context=request.context,
        )
        found = await self.search(asked, principal)
        nearest: tuple[Result, ...] = ()
        if found.abstained:
            nearest = (await self.search(replace(asked, limit=NEAREST, min_confidence=0.0), principal)).results
        passages = gather(found.results, self.budget)
        return Answer(
            State.PASSAGES if passages else State.ABSTAINED,
            "",
            passages,
            (),
            kind,
            nearest=nearest,
            confidence=found.confidence,
            mode=found.mode,
            diagnostics=found.diagnostics,
            retrieval_ms=found.took_ms,
        )

    async def _greet(self, request: ChatRequest, answer: Answer) -> Events:
        reply = _Reply(Citer(()))
        if self.model is not None:
            async for event in self._reply(self.model, prompt.small_talk(request.question, request.turns), answer, reply):
                yield event
        if not reply.text.strip():
            reply.text = GREETING
            yield Delta(GREETING)
        yield Done(self._told(answer, State.SMALL_TALK, reply))

    async def _speak(self, request: ChatRequest, answer: Answer) -> Events:
        """The model from the passages; or they themselves."""
        reply = _Reply(Citer({one.number for one in answer.passages}))
        if self.model is not None:
            async for event in self._reply(self.model, prompt.messages(request.question, request.turns, answer.passages), answer, reply):
                yield event
        if reply.text.strip():
            yield Done(self._told(answer, State.ANSWERED, reply))
            return
        quoted = answer.passages[:QUOTED]
        yield Delta(text := _quotes(quoted))
        for passage in quoted:
            yield Citation(passage)
        notes = (*answer.diagnostics, *reply.notes)
        yield Done(replace(answer, text=text, citations=quoted, diagnostics=notes))

    async def _abstain(self, request: ChatRequest, answer: Answer) -> Events:
        topics = [_topic(one.entity.name, one.anchor) for one in answer.nearest]
        text = "\n".join([NO_PASSAGES, *(["", "The nearest topics:", *(f"- {topic}" for topic in topics)] if topics else [])])
        yield Delta(text)
        yield Done(replace(answer, text=text))

    async def _reply(self, model: ChatModel, messages: prompt.Messages, answer: Answer, reply: _Reply) -> Events:
        """What the model says, with nothing cited that was not found. A failure ends it; what was said stays."""
        try:
            async with aclosing(model.reply(messages)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Ending):
                        reply.ending = piece
                        break
                    for event in _checked(reply, reply.citer.take(piece), answer.passages):
                        yield event
        except RemoteModelError as error:
            reply.notes.append(Diagnostic("chat_failed", f"The model did not finish its answer: {error}"))
        for event in _checked(reply, reply.citer.end(), answer.passages):
            yield event
        reply.notes += _remarks(reply, bool(answer.passages))

    def _told(self, answer: Answer, state: State, reply: _Reply) -> Answer:
        speaker = self.model if reply.text != GREETING else None
        ending = reply.ending or Ending(CUT)
        return replace(
            answer,
            state=state,
            text=reply.text,
            citations=tuple(answer.passages[number - 1] for number in reply.citer.cited),
            model=speaker.model if speaker else None,
            ending=ending.reason if speaker else None,
            usage=ending.usage if speaker else None,
            diagnostics=(*answer.diagnostics, *reply.notes),
        )


def _checked(reply: _Reply, pieces: Iterable[str | int], passages: Sequence[Passage]) -> Iterator[Event]:
    for piece in pieces:
        if isinstance(piece, int):
            yield Citation(passages[piece - 1])
        elif piece:
            reply.text += piece
            yield Delta(piece)


def _remarks(reply: _Reply, rests_on_passages: bool) -> Iterator[Diagnostic]:
    """What a reader should know of what a model said."""
    failed = any(note.code == "chat_failed" for note in reply.notes)
    if not reply.text.strip():
        if not failed:
            yield Diagnostic("chat_empty", "The model answered nothing.")
        return
    if reply.ending and reply.ending.reason != DONE:
        yield Diagnostic("chat_cut", f"The answer is not complete ({reply.ending.reason}).")
    if reply.citer.removed:
        yield Diagnostic("citations_removed", f"{reply.citer.removed} citations of what was not found were taken out of the answer.")
    if rests_on_passages and not reply.citer.cited:
        yield Diagnostic("uncited", "The answer cites nothing: what it says may not be in the documents.")


def _quotes(passages: Sequence[Passage]) -> str:
    """Passages as a text: a line that names and cites each, and its words as a quotation."""
    return "\n\n".join(f"**{_topic(one.name, one.anchor)}** [{one.number}]\n\n{_quotation(one.found)}" for one in passages)


def _topic(name: str, anchor: str) -> str:
    """A file's first heading is mostly its name already."""
    return anchor if anchor.startswith(name) else f"{name} › {anchor}" if anchor else name


def _quotation(text: str) -> str:
    text = without_citations(text[: 2 * QUOTE])  # what a document cites is not what we found
    short = text if len(text) <= QUOTE else text[:QUOTE].rsplit(maxsplit=1)[0] + " …"
    return "\n".join(f"> {line}".rstrip() for line in short.strip().splitlines())


_SPEAKERS: dict[State, Callable[[Chat, ChatRequest, Answer], Events]] = {
    State.SMALL_TALK: Chat._greet,
    State.PASSAGES: Chat._speak,
    State.ABSTAINED: Chat._abstain,
}
