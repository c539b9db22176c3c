"""What do the contracts of indexes share?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.qdrants import Cluster, qdrant


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One Qdrant."""
    with qdrant(tmp_path_factory.mktemp("qdrant")) as started:
        yield started


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes of a Qdrant."""
    with qdrant(tmp_path_factory.mktemp("cluster"), nodes=3) as started:
        yield started
