"""Does a catalog on three nodes outlive one of them?"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.faults import Outcome, measure


@pytest.mark.cluster
async def test_no_read_fails_and_no_acknowledged_write_is_lost_when_a_node_dies(tmp_path: Path) -> None:
    seen: list[Outcome] = []
    await measure(tmp_path, ["killed"], tools=200, seconds=4, tell=seen.append)
    (killed,) = seen
    assert killed.reads > 20
    assert killed.failed_after_settling == 0
    assert killed.writes > 2
    assert killed.lost_writes == 0
    assert killed.differences == 0
    assert killed.whole_again_s is not None
