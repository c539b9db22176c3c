"""Which model answers, and which is on its way?

C07: when the settings name another model than the one that the catalog was searched by, the former goes on answering from its own index
until every text has a vector of the new one; then an index of those is built beside it and takes over as a whole. The catalog remembers
who answers, how to make that model again, and where its index is, in one fact: writing it is the moment of the change. Killed before, the
next process goes on; killed after, it finds the change done.

What is added meanwhile is embedded with both: by its words alone it would stand behind all that has a vector.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from repertory.embedders.base import Embedder
from repertory.embedders.choose import Recipe, make_again, recipe
from repertory.errors import IndexUnavailable
from repertory.indexes.base import Index
from repertory.model import Diagnostic
from repertory.settings import Settings
from repertory.store import Store

FACT = "answering"
FOLDERS = ("index", "index-2")  # one that answers, and one to build its successor in


@dataclass(frozen=True, slots=True)
class Answering:
    """How to make the model that answers, and the folder of its index."""

    recipe: Recipe
    folder: str = FOLDERS[0]

    @property
    def other_folder(self) -> str:
        """Where a successor is built."""
        return FOLDERS[1 - FOLDERS.index(self.folder)]


@dataclass(slots=True)
class Change:
    """A model that takes over from another when every text has a vector of it."""

    old: Embedder
    new: Embedder
    texts: int
    left: int  # texts without a vector of the new one, as last seen

    def note(self) -> Diagnostic:
        """What to tell whoever searches meanwhile."""
        done = f"{max(self.texts - self.left, 0):,} of {self.texts:,} texts have vectors of {self.new.model}"
        return Diagnostic("model_changing", f"{done}; {self.old.model} answers until all have.")

    def as_json(self) -> dict[str, Any]:
        """For surfaces."""
        return {"from": self.old.model, "to": self.new.model, "texts": self.texts, "left": self.left}


def recall(store: Store) -> Answering:
    """Who answers, as the catalog remembers it; a catalog that does not was made with the default."""
    fact = store.fact(FACT)
    return Answering(**json.loads(fact)) if fact else Answering(recipe(Settings.model_validate({})))


def remember(store: Store, answering: Answering) -> None:
    """From here on, this one answers."""
    store.put_fact(FACT, json.dumps(asdict(answering)))


def settle(store: Store, model: str, known: Answering, settings: Settings) -> None:
    """The chosen model answers. When all texts have its vectors, those of others are not needed any more."""
    now = replace(known, recipe=recipe(settings))
    if now != known or store.fact(FACT) is None:
        remember(store, now)
        if not store.count_pending(model):
            store.prune_embeddings({model})


def under_way(store: Store, wanted: Embedder | None, settings: Settings) -> Change | None:
    """The change to the wanted model; None where it can answer at once.

    That is so where it has as many vectors as the former already, and where the former cannot be made any more.
    """
    kept = recall(store).recipe
    if wanted is None or kept == recipe(settings):
        return None
    made = make_again(kept, settings)
    if made is None or made.model == wanted.model or store.count_pending(made.model) >= (left := store.count_pending(wanted.model)):
        return None
    return Change(made, wanted, store.count_texts(), left)


def tidy(other: Index) -> None:
    """Remove the index that does not answer: left by a change that is done, or by one that was killed while building."""
    with contextlib.suppress(IndexUnavailable):  # the next one who opens the catalog tries again
        other.discard()
    other.close()
