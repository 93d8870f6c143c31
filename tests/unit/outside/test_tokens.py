import base64
import hashlib
import inspect

import pytest
import tiktoken_ext.openai_public as published

from cuecard import CuecardError
from cuecard.files.tokens import PATTERNS, bundled_counter, read_table

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


def test_an_unknown_encoding_is_refused_with_a_suggestion() -> None:
    with pytest.raises(CuecardError) as caught:
        bundled_counter("o200k_bas")

    assert str(caught.value) == (
        "error[unknown-encoding]: no token table is bundled for `o200k_bas`\n  = did you mean `o200k_base`?"
    )
