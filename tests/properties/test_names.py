"""Is an exact name always first?"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.names import misses

from repertory.evaluate.sets import load

HARBOR = Path(__file__).parents[2] / "examples" / "labelled" / "harbor"


@pytest.mark.parametrize("folder", [HARBOR], ids=lambda folder: folder.name)
async def test_C09_every_name_is_first_in_every_spelling(folder: Path, tmp_path: Path) -> None:
    asked, missed = await misses(load(folder), tmp_path)
    assert asked > 100
    assert missed == []
