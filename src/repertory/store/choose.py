"""Which database do the settings mean?"""

from __future__ import annotations

from repertory.settings import Settings
from repertory.store.catalog import Store


def open_store(settings: Settings) -> Store:
    """The truth of a catalog."""
    return Store(settings.database.get_secret_value()) if settings.database else Store.at(settings.catalog)
