from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repertory.embedders.choose import make_again, make_embedder, recipe, verify
from repertory.embedders.onnx import MINILM
from repertory.embedders.static import POTION
from repertory.errors import EmbedderError, SettingsError
from repertory.settings import Settings, load

ENDPOINT = {"embedder": "openai", "embedder_url": "https://models.example/v1", "embedder_model": "m", "embedder_dimensions": 8}
KEY = "sk-very-secret"


def settings(**values: Any) -> Settings:
    return load(values, {})[0]


def model(made: Any) -> str | None:
    return made.model if made else None


def test_each_choice_has_its_model() -> None:
    assert model(make_embedder(settings())) == MINILM.name
    assert model(make_embedder(settings(embedder="static"))) == POTION.name
    assert model(make_embedder(settings(**ENDPOINT))) == "m/8"
    assert model(make_embedder(settings(**ENDPOINT, embedder_input_type=True))) == "m/8 input_type"
    assert model(make_embedder(settings(embedder="none"))) is None


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"embedder": "static"},
        ENDPOINT,
        {**ENDPOINT, "embedder_query_prefix": "query: ", "embedder_input_type": True},
        {"embedder_file": str(MINILM.model_path), "embedder_dimensions": 384, "embedder_pooling": "first"},
    ],
)
def test_what_was_chosen_can_be_made_again_whatever_is_chosen_now(chosen: dict[str, Any]) -> None:
    kept = json.loads(json.dumps(recipe(settings(**chosen))))
    expected = model(make_embedder(settings(**chosen)))
    for now in ({}, {"embedder": "static"}, {**ENDPOINT, "embedder_url": "https://other.example/v1", "embedder_document_prefix": "p: "}):
        assert model(make_again(kept, settings(**now))) == expected


def test_a_key_is_not_written_down_and_goes_to_its_own_endpoint_alone() -> None:
    kept = recipe(settings(**ENDPOINT, embedder_key=KEY))
    assert KEY not in json.dumps(kept)
    assert model(make_again(kept, settings(**ENDPOINT, embedder_key=KEY))) == "m/8"
    assert make_again(kept, settings(**{**ENDPOINT, "embedder_url": "https://other.example/v1"}, embedder_key=KEY)) is None
    assert make_again(kept, settings(**ENDPOINT)) is None  # nor is it asked without
    assert recipe(settings(**{**ENDPOINT, "embedder_url": "https://me:secret@models.example/v1"})) == {}
    assert "secret" not in json.dumps(recipe(settings(embedder_url="https://me:secret@models.example/v1")))
    assert make_again({}, settings()) is None


def test_a_file_needs_dimensions_and_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="embedder_file needs embedder_dimensions"):
        settings(embedder_file=tmp_path)
    with pytest.raises(EmbedderError, match=r"model\.onnx cannot be read"):
        make_embedder(settings(embedder_file=tmp_path, embedder_dimensions=8))
    assert make_again({**recipe(settings(embedder_file=tmp_path, embedder_dimensions=8))}, settings()) is None


async def test_bundled_files_are_whole() -> None:
    for embedder in ("onnx", "static", "none"):
        await verify(settings(embedder=embedder))
