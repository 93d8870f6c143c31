"""Lines of tool servers: the same however they come in pieces, never more kept than a bound, messages mended."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.adapters import mcp_lines
from cuecard.adapters.mcp_lines import LastWords, Lines, TooLong, UnreadableError, read_message


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_lines_are_the_same_however_they_come_in_pieces(data: bytes, cuts: list[int]) -> None:
    lines, places = Lines(), sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})

    found = [line for first, last in pairwise(places) for line in lines.feed(data[first:last])]

    assert found == data.split(b"\n")[:-1]


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=30))
def test_no_more_is_kept_than_the_bound_and_a_long_line_is_reported_once(pieces: list[tuple[int, bool]]) -> None:
    bound = 40
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mcp_lines, "MAX_LINE", bound)
        lines = Lines()
        found: list[bytes | TooLong] = []
        for size, ends in pieces:
            found += lines.feed(b"x" * size + b"\n" * ends)
            assert sum(map(len, lines._pieces)) <= bound

    whole = b"".join(b"x" * size + b"\n" * ends for size, ends in pieces).split(b"\n")
    wanted = [line if len(line) <= bound else None for line in whole[:-1]]
    wanted += [None] * (len(whole[-1]) > bound)
    assert [None if isinstance(line, TooLong) else line for line in found] == wanted


def test_of_what_is_said_the_end_is_kept() -> None:
    said = LastWords()
    for _ in range(100):
        said.add(b"x" * 65_536)
    said.add(b"\n\nlast\xff\n")

    assert said.lines()[-1] == "last\ufffd"
    assert len(said._kept) == mcp_lines.MAX_STDERR


def message(value: str) -> bytes:
    return b'{"jsonrpc": "2.0", "id": 1, "result": {"a": %b, "b": "[{\\"7"}}' % value.encode()


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ('"a\\ud800b"', "ab"),
        ('"\\udc00\\uD83D\\uDE00\\ud83d"', "😀"),
        ('"\\\\ud800"', "\\ud800"),
        ('"\\u00e9\\ud800 ] } \\" [ {"', 'é ] } " [ {'),
    ],
)
def test_halves_of_surrogate_pairs_are_left_out_and_nothing_else_is(spelled: str, value: str) -> None:
    read = read_message(message(spelled))

    assert read is not None
    assert read["result"] == {"a": value, "b": '[{"7'}


@pytest.mark.parametrize("spelled", ['{"x":' * 600 + "[1]" + "}" * 600, "[" * 5_000 + "]" * 5_000, "9" * 5_000])
def test_what_no_reader_takes_is_cut_out_and_is_not_a_value_of_json(spelled: str) -> None:
    read = read_message(message(spelled))

    assert read is not None
    assert read["result"]["b"] == '[{"7'
    assert "NaN" in json.dumps(read)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"jsonrpc": "\xff"}', "bytes that are not UTF-8"),
        (b'{"jsonrpc": ', "output that is not JSON"),
        (b'{"jsonrpc": "\\"', "output that is not JSON"),
        (b'{"jsonrpc": [' + b"," * 1_000_001, "a message of more than 1,000,000 values"),
        (TooLong(b""), "a line of more than 8,388,608 bytes"),
    ],
)
def test_a_message_that_nobody_can_read_says_why(line: bytes | TooLong, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read_message(line)


@pytest.mark.parametrize("line", [b"", b"Traceback", b"{'a': 1}", b'["jsonrpc"]', b'INFO {"jsonrpc": 1}'])
def test_a_line_for_people_is_not_a_message(line: bytes) -> None:
    assert read_message(line) is None
