"""Promise 6: the token count of the prompt is the sum of its sections' counts, for the bundled encodings."""

from itertools import accumulate
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import Section
from cuecard.files.tokens import bundled_counter
from cuecard.pipeline.layout import lay_out
from cuecard.pipeline.segments import ShrinkingPrompt, count_pieces
from unit.agent.section_lists.test_boundary import framed

HARD = st.sampled_from(
    [
        " ",
        "\n",
        "\t",
        "\r",
        "/",
        "<",
        ">",
        "</x>",
        "'s",
        "a",
        "Z",
        "9",
        "ß",
        "漢",
        "🙂",
        "\u2028",
        "\x85",
        "-",
        " a",
        "\x1c",
        "\xa0",
        "e\u0301",
    ]
)
PIECES = st.lists(st.one_of(st.text(), st.lists(HARD).map("".join)), max_size=8)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@given(pieces=PIECES, endings=st.lists(st.sampled_from(["", "\n", "\n\n", " \n"]), min_size=8, max_size=8))
@example(pieces=["</x>", "/a/path"], endings=["\n", ""])  # o200k_base has a token for a line break and a slash
def test_pieces_add_up_to_the_whole(encoding: str, pieces: list[str], endings: list[str]) -> None:
    count = bundled_counter(encoding)
    texts = [piece + ending for piece, ending in zip(pieces, endings, strict=False)]

    counts = count_pieces(texts, count)
    assert list(accumulate(counts)) == [count(text) for text in accumulate(texts)]


GROUPS = st.sampled_from([(), (("g", "# G\n"),), (("g", "# G\n"), ("h", "## H"))])


@st.composite
def laid(draw: st.DrawFn) -> tuple[Layout, list[Section], list[str]]:
    bodies = draw(PIECES)
    boundary = draw(st.integers(0, len(bodies)))
    separator, marker = draw(st.sampled_from(["", "\n\n", "\n", " ", "/", "-"])), draw(st.sampled_from(["", "\n--\n"]))
    frames = [
        framed(f"{n}", draw(st.sampled_from(["", "# t\n", "t"])), stable=n < boundary, leads=draw(GROUPS))
        for n in range(len(bodies))
    ]
    return Layout(separator=separator, marker=marker), frames, bodies


ONE_TOKEN = Layout(separator=""), [framed(name, stable=False) for name in "abc"], ["intern", "ation", "al"]


@given(laid=laid(), order=st.randoms(use_true_random=False))
@example(laid=ONE_TOKEN, order=Random(4))  # noqa: S311 - the last is lost first
def test_a_prompt_that_loses_sections_has_exactly_the_tokens_of_the_others(
    laid: tuple[Layout, list[Section], list[str]], order: Random
) -> None:
    count, (layout, frames, written) = bundled_counter("o200k_base"), laid
    bodies = [*written]
    whole = "".join(lay_out(layout, frames, bodies))
    prompt = ShrinkingPrompt(layout, frames, tuple(bodies), count(whole), count)
    losing = [place for place, body in enumerate(bodies) if body]
    order.shuffle(losing)
    for place in losing:
        assert prompt.tokens == count("".join(lay_out(layout, frames, bodies)))
        prompt.drop(place)
        bodies[place] = ""

    assert prompt.tokens == 0


def test_of_pieces_without_a_line_between_only_what_changes_is_counted_again() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    pieces = [f"section {number} says what it says" for number in range(40)]
    count_pieces(pieces, count)
    known = set(asked)
    asked.clear()
    count_pieces(["another one", *pieces[1:]], count)

    assert {text for text in asked if text not in known} == {"another one", " onesection", " one"}
    assert max(map(len, known)) <= len(pieces[-1])
