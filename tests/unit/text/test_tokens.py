from __future__ import annotations

import pytest

from repertory.text.fold import fold
from repertory.text.tokens import compact, query_words, short_names, spaced, stem, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café", "cafe"),
        ("ＡＢＣ", "abc"),
        ("Straße", "strasse"),
        ("й", "й"),
        ("Їжак", "їжак"),
        ("が", "が"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_fold_removes_accents_but_no_letters(text: str, expected: str) -> None:
    assert fold(text) == expected


@pytest.mark.parametrize("identifier", ["webSearchExa", "web_search_exa", "web-search-exa", "web.search.exa", "WebSearchExa"])
def test_identifiers_give_their_parts_and_stay_whole(identifier: str) -> None:
    found = words(identifier)
    assert found[:3] == ["web", "search", "exa"]
    assert "websearchexa" in found
    assert identifier.lower() in found


def test_acronyms_split_before_the_next_word() -> None:
    assert words("HTTPServerError")[:3] == ["http", "server", "error"]


def test_identifiers_with_digits_stay_one_word() -> None:
    assert "1z999aa10123456784" in words("1Z999AA10123456784")
    assert "e0308" in words("error E0308.")
    assert "v1.2.3" in words("since v1.2.3,")


def test_contractions_and_possessives_leave_no_debris() -> None:
    assert words("don't lose the user's file") == ["lose", "user", "file"]


def test_spaceless_scripts_give_bigrams() -> None:
    assert {"東京", "京都", "天気"} <= set(words("東京都の天気"))
    assert {"공휴", "휴일"} <= set(words("공휴일을"))


def test_stems_follow_the_script() -> None:
    assert stem("scheduling") == stem("schedules") == "schedul"
    assert stem("сповіщення") == stem("сповіщень"[:7] + "ня")
    assert stem("東京") == "東京"


def test_terms_are_stemmed_words() -> None:
    assert terms("Scheduling meetings") == ["schedul", "meet"]


def test_short_tokens_count_in_documents_only_as_names() -> None:
    assert words("to go on S3 with AI in Go") == ["s3", "ai", "go"]
    assert short_names("to go on S3 with AI in C#") == {"s3", "ai", "c#"}


def test_short_tokens_count_in_queries_only_where_the_catalog_knows_them() -> None:
    assert query_words("upload to s3") == ["upload"]
    assert query_words("upload to s3", {"s3"}) == ["upload", "s3"]


def test_query_words_come_once() -> None:
    assert query_words("meeting, Meeting and MEETING") == ["meeting"]


@pytest.mark.parametrize("spelling", ["github/create-issue", "GitHub create_issue", "githubCreateIssue", "github.create.issue"])
def test_compact_ignores_case_and_separators(spelling: str) -> None:
    assert compact(spelling) == "githubcreateissue"


def test_spaced_reads_an_identifier_as_words() -> None:
    assert spaced("getHTTPStatus_of.page") == "get HTTP Status of page"
