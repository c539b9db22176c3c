"""Which embedder do the settings choose, and how is it made again when they have chosen another?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from repertory.embedders.base import Embedder
from repertory.embedders.onnx import MINILM, OnnxEmbedder, own_model
from repertory.embedders.openai import OpenAIEmbedder
from repertory.embedders.static import StaticEmbedder
from repertory.embedders.wrappers import Cached, Counted, Guarded
from repertory.errors import EmbedderError, SettingsError
from repertory.settings import Settings

Recipe = Mapping[str, Any]  # the settings that make an embedder, less the secret ones

_RECIPE = {
    "embedder",
    *(f"embedder_{name}" for name in "file dimensions pooling query_prefix document_prefix url model input_type".split()),
}
_KEYED = "keyed"  # in a recipe: the endpoint was asked with a key


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings choose, with its breaker and its cache."""
    if settings.embedder == "none":
        return None
    counted = Counted(_MAKERS[settings.embedder](settings))
    guarded = Guarded(counted, pause=settings.embedder_pause, timeout=settings.embedder_timeout)
    return Cached(guarded, size=settings.embedder_cache) if settings.embedder_cache else guarded


async def verify(settings: Settings) -> None:
    """Raise `EmbedderError` where the files of a bundled model are damaged."""
    made = _MAKERS[settings.embedder](settings) if settings.embedder in _MAKERS else None
    if isinstance(made, OnnxEmbedder | StaticEmbedder):
        await made.verify()


def recipe(settings: Settings) -> Recipe:
    """What to remember of the chosen embedder, so that it can be made again (C07). Nothing where that would tell a secret."""
    kept = settings.model_dump(mode="json", include=_RECIPE)
    if settings.embedder_file is not None:
        kept["embedder_file"] = str(settings.embedder_file.expanduser().absolute())
    if settings.embedder != "openai":
        return {**kept, "embedder_url": Settings.model_fields["embedder_url"].default}
    return {} if "@" in urlsplit(settings.embedder_url).netloc else {**kept, _KEYED: settings.embedder_key is not None}


def make_again(kept: Recipe, settings: Settings) -> Embedder | None:
    """The embedder of a recipe; None where it cannot be made, because its file is gone or its key is not ours to give.

    A key in the settings is the key of the endpoint in the settings: it is sent nowhere else.
    """
    keyed = kept.get(_KEYED, False)
    if not kept or (keyed and (settings.embedder_key is None or settings.embedder_url != kept["embedder_url"])):
        return None
    wanted = {name: value for name, value in kept.items() if name in _RECIPE}
    try:
        return make_embedder(Settings(**{**settings.model_dump(), **wanted, "embedder_key": settings.embedder_key if keyed else None}))
    except (EmbedderError, ValueError):
        return None


def _own_or_bundled(settings: Settings) -> Embedder:
    if settings.embedder_file is None:
        return OnnxEmbedder(MINILM, threads=settings.embedder_threads)
    if settings.embedder_dimensions is None:  # the settings see to it
        raise SettingsError("embedder_file needs embedder_dimensions.")
    model = own_model(
        settings.embedder_file.expanduser(),
        settings.embedder_dimensions,
        query_prefix=settings.embedder_query_prefix,
        document_prefix=settings.embedder_document_prefix,
        pooling=settings.embedder_pooling,
    )
    return OnnxEmbedder(model, threads=settings.embedder_threads)


def _endpoint(settings: Settings) -> Embedder:
    return OpenAIEmbedder(
        settings.embedder_url,
        settings.embedder_model,
        api_key=settings.embedder_key,
        dimensions=settings.embedder_dimensions,
        query_prefix=settings.embedder_query_prefix,
        document_prefix=settings.embedder_document_prefix,
        input_type=settings.embedder_input_type,
    )


_MAKERS: Mapping[str, Callable[[Settings], Embedder]] = {
    "onnx": _own_or_bundled,
    "static": lambda _: StaticEmbedder(),
    "openai": _endpoint,
}
