from __future__ import annotations

from tests.catalogs import tool

from repertory.app import Repertory
from repertory.model import Filter
from repertory.search.adapt import inverse_frequency, known_share
from repertory.search.reading import Reading, read
from repertory.text.query import understand


async def test_a_query_is_read_by_the_words_of_the_catalog(rep: Repertory) -> None:
    await rep.put("tools", [tool(f"box/lamp{n}", "light" if n < 50 else "dark") for n in range(100)])

    def reading(query: str) -> Reading:
        return read(understand(query, ()), rep._engine._place(Filter()), correct=True)

    found = reading("light Zeppelin")
    assert found.known == known_share([50, 0], 100)
    assert found.idf == inverse_frequency(50, 100) + inverse_frequency(0, 100)
    assert found.terms == 2
    assert reading("ligth").corrected == {"ligth": "light"}
    assert reading("ligth").known == known_share([50], 100)
