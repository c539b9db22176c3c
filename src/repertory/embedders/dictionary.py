"""Which words does everybody know?

The bundled model's tokenizer knows thirty thousand pieces; those that are whole words are a dictionary of common English, roughly the most
frequent first. It costs nothing more to ship.
"""

from __future__ import annotations

import json
import logging
from functools import lru_cache

from repertory.embedders.onnx import MINILM

_log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def common_words() -> tuple[str, ...]:
    """The dictionary; an empty one where the tokenizer's file cannot be read (`repertory doctor` says so)."""
    try:
        pieces = json.loads(MINILM.tokenizer_path.read_text("utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError) as error:
        _log.warning("There is no dictionary: %s", error)
        return ()
    return tuple(piece for piece in pieces if piece.isalpha())  # the pieces inside words begin with "##"
