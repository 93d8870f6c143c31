import base64
import hashlib
import inspect
import tracemalloc
from functools import partial

import pytest
import tiktoken_ext.openai_public as published
from hypothesis import given
from hypothesis import strategies as st

from cuecard import CuecardError
from cuecard.files.tokens import MAX_REMEMBERED, PATTERNS, RecentCounts, bundled_counter, read_table
from cuecard.model.prompt import least_tokens, most_tokens

PUBLISHED = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""SHA-256 of the files that tiktoken downloads, as tiktoken itself checks them."""


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_the_bundled_table_is_the_published_file(encoding: str) -> None:
    table = read_table(encoding)
    rebuilt = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in table.items())

    assert hashlib.sha256(rebuilt).hexdigest() == PUBLISHED[encoding]


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_texts_are_split_as_tiktoken_splits_them(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "load_tiktoken_bpe", lambda *_, **__: {})

    assert PATTERNS[encoding] == getattr(published, encoding)()["pat_str"]
    assert "expected_hash" in inspect.getsource(getattr(published, encoding))


def test_a_count_is_exact_and_says_where_it_came_from() -> None:
    counter = bundled_counter("o200k_base")

    assert counter("Hello world") == 2
    assert counter("<|endoftext|>") == 7
    assert (counter.source.encoding, counter.source.source, counter.source.exact) == ("o200k_base", "bundled", True)


@given(st.sampled_from(sorted(PUBLISHED)), st.one_of(st.text(), st.text(" \n\r\t'/.s1aT\u0301\u00a0é")))
def test_what_is_known_of_a_count_without_a_table_holds(encoding: str, text: str) -> None:
    assert least_tokens(text) <= bundled_counter(encoding)(text) <= most_tokens(text)


def test_of_a_sentence_the_fewest_tokens_are_most_of_them() -> None:
    assert least_tokens("Ask the user first, and say which page is meant.") == 9


def noted(asked: list[str], text: str) -> int:
    asked.append(text)
    return len(text)


def test_engines_of_an_encoding_share_what_they_have_counted() -> None:
    assert bundled_counter("o200k_base") == bundled_counter("o200k_base")
    assert bundled_counter("o200k_base") != bundled_counter("cl100k_base")


def test_what_is_remembered_is_bounded_in_bytes_however_long_texts_are() -> None:
    counts, few, page = RecentCounts(len), RecentCounts(len, MAX_REMEMBERED // 8), "x" * 40_000
    tracemalloc.start()
    for number in range(1_000):
        assert counts[f"{number}{page}"] == len(page) + len(str(number))
    held, _ = tracemalloc.get_traced_memory()
    counts.clear()
    del counts
    for number in range(25_000):
        few[str(number)]
    held_short, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert MAX_REMEMBERED / 4 < held < MAX_REMEMBERED
    assert MAX_REMEMBERED / 4 < held_short * 8 < MAX_REMEMBERED


def test_what_is_read_again_stays_remembered() -> None:
    asked: list[str] = []
    counts = RecentCounts(partial(noted, asked), most=20_000)
    for number in range(1_000):
        assert counts["a section of every prompt"] == 25
        assert counts[f"{number}" * 10] == len(f"{number}" * 10)

    assert asked.count("a section of every prompt") == 1
    assert len(asked) == 1_001


def test_a_text_longer_than_all_that_is_remembered_is_counted_each_time() -> None:
    asked: list[str] = []
    counts = RecentCounts(partial(noted, asked), most=1_000)
    counts["short"]
    for _ in range(2):
        assert counts["x" * 1_000] == 1_000
    counts["short"]

    assert [len(text) for text in asked] == [5, 1_000, 1_000]


def test_an_unknown_encoding_is_refused_with_a_suggestion() -> None:
    with pytest.raises(CuecardError) as caught:
        bundled_counter("o200k_bas")

    assert str(caught.value) == (
        "error[unknown-encoding]: no token table is bundled for `o200k_bas`\n  = did you mean `o200k_base`?"
    )
