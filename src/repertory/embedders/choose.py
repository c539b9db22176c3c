"""Which embedder do the settings choose?"""

from __future__ import annotations

from repertory.embedders.base import Embedder
from repertory.embedders.onnx import OnnxEmbedder
from repertory.embedders.openai import OpenAIEmbedder
from repertory.embedders.wrappers import Cached, Counted, Guarded
from repertory.settings import Settings


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings choose, with its breaker and its cache."""
    if settings.embedder == "none":
        return None
    inner: Embedder
    if settings.embedder == "openai":
        inner = OpenAIEmbedder(
            settings.embedder_url,
            settings.embedder_model,
            api_key=settings.embedder_key,
            dimensions=settings.embedder_dimensions,
        )
    else:
        inner = OnnxEmbedder(threads=settings.embedder_threads)
    guarded = Guarded(Counted(inner), pause=settings.embedder_pause, timeout=settings.embedder_timeout)
    return Cached(guarded, size=settings.embedder_cache) if settings.embedder_cache else guarded
