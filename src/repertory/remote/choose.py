"""Which models that help a search do the settings name?"""

from __future__ import annotations

from repertory.remote.base import ChatModel, Reranker, Rewriter
from repertory.remote.chat import HttpChatModel
from repertory.remote.crossencoder import OnnxReranker
from repertory.remote.reranker import HttpReranker
from repertory.remote.rewriter import ChatRewriter
from repertory.remote.wrappers import CachedRewriter, GuardedChatModel, GuardedReranker, GuardedRewriter
from repertory.settings import Settings


def make_rewriter(settings: Settings) -> Rewriter | None:
    """The rewriter that the settings name, with its breaker and its cache."""
    if not (settings.rewriter_url and settings.rewriter_model):
        return None
    limit = settings.rewriter_timeout
    inner = ChatRewriter(settings.rewriter_url, settings.rewriter_model, api_key=settings.rewriter_key, timeout=limit)
    return CachedRewriter(GuardedRewriter(inner, timeout=limit))


def make_reranker(settings: Settings) -> Reranker | None:
    """The re-ranker that the settings name, with its breaker."""
    limit = settings.reranker_timeout
    if settings.reranker_file is not None:
        local = OnnxReranker(settings.reranker_file.expanduser(), threads=settings.embedder_threads, timeout=limit)
        return GuardedReranker(local, timeout=limit)
    if not (settings.reranker_url and settings.reranker_model):
        return None
    inner = HttpReranker(
        settings.reranker_url, settings.reranker_model, api=settings.reranker_api, api_key=settings.reranker_key, timeout=limit
    )
    return GuardedReranker(inner, timeout=limit)


def make_chat_model(settings: Settings) -> ChatModel | None:
    """The model that the settings name for answering questions, with its breaker."""
    if not (settings.chat_url and settings.chat_model):
        return None
    limit = settings.chat_timeout
    inner = HttpChatModel(settings.chat_url, settings.chat_model, api_key=settings.chat_key, timeout=limit, tokens=settings.chat_tokens)
    return GuardedChatModel(inner, timeout=limit)
