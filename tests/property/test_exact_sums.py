"""Promise 6: the token count of the prompt is the sum of its sections' counts, for the bundled encodings."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cuecard.files.tokens import bundled_counter
from cuecard.pipeline.segments import count_pieces

HARD = st.sampled_from(
    [" ", "\n", "\t", "\r", "/", "<", ">", "</x>", "'s", "a", "Z", "9", "ß", "漢", "🙂", "\u2028", "\x85", "-"]
)
PIECES = st.lists(st.one_of(st.text(), st.lists(HARD).map("".join)), max_size=8)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@given(pieces=PIECES, endings=st.lists(st.sampled_from(["", "\n", "\n\n", " \n"]), min_size=8, max_size=8))
@example(pieces=["</x>", "/a/path"], endings=["\n", ""])  # o200k_base has a token for a line break and a slash
def test_pieces_add_up_to_the_whole(encoding: str, pieces: list[str], endings: list[str]) -> None:
    count = bundled_counter(encoding)
    texts = [piece + ending for piece, ending in zip(pieces, endings, strict=False)]

    assert sum(count_pieces(texts, count)) == count("".join(texts))
