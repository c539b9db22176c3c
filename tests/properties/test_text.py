"""What holds for every text?"""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from repertory.indexes.encode import bm25_probe, keyword_probe, pivot
from repertory.indexes.features import PREFIX, dimension
from repertory.indexes.read import BM25_WEIGHTS, KEYWORD_BOOSTS, NAMING, TOOL_BOOST, pack, read, unpack
from repertory.model import Bucket, Entity, Field, Kind, Status
from repertory.text.fold import fold
from repertory.text.tokens import compact, grams, plain_words, query_words, short_names, terms, words


@given(st.text(max_size=200))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=200))
def test_tokens_never_hold_spaces_or_capitals(text: str) -> None:
    for word in words(text) + terms(text) + query_words(text):
        assert word
        assert not any(character.isspace() or (character.isupper() and character.lower() != character) for character in word)


@given(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=1, max_size=4))
def test_a_name_is_found_in_any_notation(parts: list[str]) -> None:
    snake, kebab, dotted = "_".join(parts), "-".join(parts), ".".join(parts)
    camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
    assert compact(snake) == compact(kebab) == compact(dotted) == compact(camel)
    for name in (snake, kebab, dotted, camel):
        assert set(query_words(" ".join(parts))) <= set(words(name)) | set(query_words(name)) or len(parts) == 1


@given(st.lists(st.text(min_size=1, max_size=10), max_size=20))
def test_probes_are_sorted_and_without_doubles(found: list[str]) -> None:
    for probe in (bm25_probe(found), keyword_probe(found)):
        assert probe.indices == sorted(set(probe.indices))
        assert len(probe.values) == len(probe.indices)


@given(st.floats(0, 1e6))
def test_a_pivot_is_near_its_mean(mean: float) -> None:
    assert max(mean, 1) / 1.2 <= pivot(mean) <= max(mean, 1) * 1.2


NAMES = st.frozensets(st.text(max_size=8), max_size=4)


@given(st.builds(Bucket, st.sampled_from(Kind), st.sampled_from(Status), st.booleans(), NAMES, NAMES, st.booleans()))
def test_bucket_keys_come_back_as_they_were(bucket: Bucket) -> None:
    assert Bucket.from_key(bucket.key) == bucket


@given(
    st.builds(
        Entity,
        kind=st.sampled_from(Kind),
        path=st.text(min_size=1, max_size=20),
        name=st.text(max_size=20),
        description=st.text(max_size=50),
        tags=st.lists(st.text(max_size=5), max_size=3).map(tuple),
        modified=st.one_of(st.none(), st.datetimes()),
    )
)
def test_entities_survive_json(entity: Entity) -> None:
    assert Entity.from_json(entity.as_json()) == entity


@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from("S3 Go C# c++ don't user's getUserById node.js v1.2 東京都の天気 Ünïcode a it's".split())).map(" ".join),
    )
)
def test_a_reading_holds_the_words_of_the_text(text: str) -> None:
    for field in (Field.NAME, Field.DESCRIPTION):
        (reading,), naming = read([{field: text}]), field in NAMING
        expected = Counter(map(dimension, terms(text, naming=naming)))
        counted = zip(reading.terms.dimensions.tolist(), reading.terms.values.tolist(), strict=True)
        assert list(counted) == sorted((term, times * BM25_WEIGHTS[field]) for term, times in expected.items())
        assert set(reading.grams.dimensions.tolist()) == set(map(dimension, grams(words(text, naming=naming))))
        assert set(map(dimension, words(text, naming=naming))) <= set(reading.keyword.dimensions.tolist())
        assert reading.short_names == short_names(text, naming=naming)
        assert reading.plain == plain_words(text)


SOME = st.lists(st.sampled_from("S3 go user's getUserById tools\n東京都 Ünï a".split(" "))).map(" ".join)
FIELDS = st.dictionaries(st.sampled_from(Field), SOME)


@given(st.lists(FIELDS, max_size=6))
def test_documents_are_read_together_as_each_alone(documents: list[dict[Field, str]]) -> None:
    together = list(read(documents))
    packed = list(unpack(pack(together)))
    assert len(together) == len(packed) == len(documents)
    for fields, *readings in zip(documents, together, packed, strict=True):
        (alone,) = read([fields])
        for one in readings:
            assert (one.short_names, one.plain) == (alone.short_names, alone.plain)
            for mine, theirs in ((one.terms, alone.terms), (one.grams, alone.grams), (one.keyword, alone.keyword)):
                assert mine.dimensions.tolist() == theirs.dimensions.tolist()
                assert mine.values.tolist() == theirs.values.tolist()
        assert dict(zip(alone.keyword.dimensions.tolist(), alone.keyword.values.tolist(), strict=True)) == _boosts(fields)


def _boosts(fields: dict[Field, str]) -> dict[int, float]:
    """A04, step by step: each boost once for every beginning of a word in its fields, and once for each line of tools."""
    groups: list[tuple[float, set[int]]] = []
    for boost in sorted(set(KEYWORD_BOOSTS.values())):
        several = [(field, text) for field, text in fields.items() if KEYWORD_BOOSTS.get(field) == boost]
        groups.append((boost, {one for field, text in several for one in _beginnings(text, naming=field in NAMING)}))
    groups += [(TOOL_BOOST, _beginnings(line, naming=False)) for line in fields.get(Field.TOOLS, "").splitlines()]
    total: Counter[int] = Counter()
    for boost, found in groups:
        total.update(dict.fromkeys(found, boost))
    return dict(total)


def _beginnings(text: str, *, naming: bool) -> set[int]:
    return {dimension(word[:end]) for word in words(text, naming=naming) for end in (*range(PREFIX, len(word)), len(word))}
