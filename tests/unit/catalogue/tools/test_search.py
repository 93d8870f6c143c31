from __future__ import annotations

from collections.abc import Sequence

import pytest

from cuecard import InputError, ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.search import InstructedTools, SearchIndex
from cuecard.config.tools_spec import SearchSpec
from cuecard.types import ToolInstructions

CARDS = (
    ToolCard("send_mail", phrases=("send a mail", "write to somebody"), category="mail"),
    ToolCard("read_mail", phrases=("read the inbox",), category="mail"),
    ToolCard("list_files", phrases=("list files",), category="files"),
    ToolCard("draw_chart", category="charts"),
)


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(CARDS)


def test_tools_come_best_first_and_at_most_as_many_as_asked_for(index: SearchIndex) -> None:
    assert index.search("mail").tools == index.search("mail", 50).tools == ("send_mail", "read_mail")
    assert index.search("mail", 1).tools == ("send_mail",)


def test_hits_carry_their_scores_and_the_first_is_the_confidence(index: SearchIndex) -> None:
    result = index.search("send mail", spec=SearchSpec(cut=0))

    assert [hit.tool for hit in result.hits] == list(result.tools) == ["send_mail", "read_mail"]
    assert 1 >= result.hits[0].score == result.confidence > result.hits[1].score > 0


SCORED = (
    ToolCard(
        "send_mail",
        "Send a mail to people",
        phrases=("write to somebody", "send the newsletter"),
        category="mail",
        instructions=ToolInstructions("None", "Show the subject", "mcp__mail__read_inbox", "None"),
    ),
    ToolCard("mcp__mail__read_inbox", "Read the inbox of a mailbox", phrases=("is there new mail",)),
    ToolCard(
        "listFiles",
        f"List files {'of a folder ' * 40}by archive date",
        input_schema={"properties": {"folder": {"description": "where the archive is"}}},
    ),
    ToolCard("draw_chart", "Draw a chart"),
    ToolCard("draw_plot", "Draw a plot"),
    ToolCard("fix_color", "x", phrases=("charts in colour",)),
)


def test_what_is_found_and_how_sure_is_the_same_to_the_last_digit() -> None:
    rank = Bm25Ranker.build(SCORED)
    expected = {
        "mail mail": {"send_mail": 0.783437, "mcp__mail__read_inbox": 0.50503},
        "draw": {"draw_chart": 0.787404, "draw_plot": 0.787404},
        "read the inbox": {"mcp__mail__read_inbox": 1.0, "send_mail": 0.081971},
        "archive": {"listFiles": 0.356162},
        "charrt mail": {
            "send_mail": 0.613721,
            "mcp__mail__read_inbox": 0.395625,
            "draw_chart": 0.275534,
            "fix_color": 0.14593,
        },
        "mail pizza": {"send_mail": 0.531964, "mcp__mail__read_inbox": 0.342922},
        "send the pizza chart to somebody": {"send_mail": 0.821917, "draw_chart": 0.371829, "fix_color": 0.19693},
        "draw a chart or a plot": {"draw_plot": 0.918984, "draw_chart": 0.736327, "fix_color": 0.137215},
        "colar": {"fix_color": 0.402104},
        "chartt chart": {"draw_chart": 0.798798, "fix_color": 0.423065},
    }
    found = {query: {name: round(score, 6) for name, score in rank(query, 9)} for query in expected}

    assert found == expected
    assert [*map(list, found.values())] == [*map(list, expected.values())]  # best first


def test_what_scores_below_the_cut_is_left_out_and_0_switches_it_off() -> None:
    scores = [("send_mail", 0.8), ("read_mail", 0.4), ("list_files", 0.39), ("draw_chart", 0.0)]
    index = SearchIndex.build(CARDS, ranker=lambda _query, _limit: scores)

    assert index.search("plot").tools == ("send_mail", "read_mail")
    assert index.search("plot", spec=SearchSpec(cut=0.2)).tools == ("send_mail", "read_mail", "list_files")
    assert index.search("plot", spec=SearchSpec(cut=1)).tools == ("send_mail",)
    assert len(index.search("plot", spec=SearchSpec(cut=0)).tools) == 4


def test_a_sure_answer_ends_at_a_gap_and_an_unsure_one_does_not() -> None:
    def found(best: float) -> tuple[str, ...]:
        scores = [("send_mail", best), ("read_mail", 0.95 * best), ("list_files", 0.55 * best)]
        return SearchIndex.build(CARDS, ranker=lambda _query, _limit: scores).search("plot").tools

    assert found(0.9) == ("send_mail", "read_mail")
    assert found(0.89) == ("send_mail", "read_mail", "list_files")


def test_the_message_counts_the_tools_and_says_where_their_instructions_are(index: SearchIndex) -> None:
    two = "Found 2 tools. They are now active. Read their instructions in <tools> before you call them."
    one = "Found 1 tool. It is now active. Read its instructions in <tools> before you call it."

    told = InstructedTools("<tools>", {card.name for card in CARDS})

    assert index.search("mail", instructed=told).message == two
    assert index.search("chart", instructed=told).message == one
    assert index.search("chart").message == "Found 1 tool. It is now active."


def test_the_message_sends_nobody_to_instructions_that_a_tool_does_not_have(index: SearchIndex) -> None:
    some = "Found 2 tools. They are now active. Before a call, read the instructions of read_mail in <tools>."

    assert index.search("mail", instructed=InstructedTools("<tools>", {"read_mail"})).message == some
    assert index.search("chart", instructed=InstructedTools("<tools>", {"read_mail"})).message.endswith("now active.")


def test_when_nothing_is_found_the_message_says_what_to_try(index: SearchIndex) -> None:
    result = index.search("weather in Paris")

    assert (result.tools, result.confidence) == ((), 0.0)
    assert result.message == (
        'No tool found for "weather in Paris". Search with a few words for what the tool should do '
        '(a verb and a noun), not for the topic; for example "send a mail", "list files".'
    )


def test_an_answer_below_the_threshold_is_empty_but_tells_its_confidence(index: SearchIndex) -> None:
    unsure = index.search("mail my aunt the jam recipe of her cousin", spec=SearchSpec(confidence=0.9))

    assert unsure.tools == ()
    assert 0 < unsure.confidence < 0.9
    assert index.search("mail my aunt the jam recipe of her cousin", spec=SearchSpec(confidence=0.1)).tools != ()


@pytest.mark.parametrize("query", ["", "  \n\t"])
def test_an_empty_query_is_answered_with_advice(index: SearchIndex, query: str) -> None:
    result = index.search(query)

    assert result.tools == ()
    assert result.confidence == 0
    assert result.message.startswith("The query is empty. Search with a few words")


def test_stop_words_alone_are_answered_with_advice(index: SearchIndex) -> None:
    assert index.search("what can you do").message.startswith('No tool found for "what can you do". Search with')


def test_a_query_of_a_whole_document_is_not_ranked(index: SearchIndex) -> None:
    result = index.search("send mail " * 1000)

    assert result.tools == ()
    assert result.message.startswith("The query is longer than 2000 characters.")
    assert index.search("send mail ".ljust(2000)).tools


def test_the_message_repeats_a_query_on_one_short_visible_line(index: SearchIndex) -> None:
    message = index.search("forecast\n\u202efor " + "tomorrow " * 50).message

    assert "\n" not in message
    assert message.startswith('No tool found for "forecast ‹U+202E›for tomorrow')
    assert len(message) < 350


@pytest.mark.parametrize("limit", [0, -1, 51])
def test_a_limit_out_of_range_is_an_error_with_the_way_out(index: SearchIndex, limit: int) -> None:
    with pytest.raises(InputError) as error:
        index.search("mail", limit)

    assert str(error.value) == (
        f"limit: error[search-limit]: a search cannot return {limit} tools\n  = ask for 1 to 50 tools; 8 is the default"
    )


@pytest.mark.parametrize(("score", "confidence"), [(17.5, 1.0), (-3.0, 0.0)])
def test_confidence_stays_between_0_and_1_whatever_a_ranker_says(score: float, confidence: float) -> None:
    index = SearchIndex.build(CARDS, ranker=lambda _query, _limit: [("send_mail", score)])

    result = index.search("plot")

    over = f"part of the ranker's answer was ignored: scores above 1, such as {score:.3g}, which are treated as 1"
    assert result.confidence == confidence
    assert [each.message for each in result.diagnostics] == [over] * (score > 1)


def test_an_empty_catalogue_answers_with_advice() -> None:
    result = SearchIndex.build([]).search("send mail")

    assert result.message == (
        'No tool found for "send mail". Search with a few words for what the tool should do (a verb and a noun), '
        "not for the topic."
    )


def test_a_ranker_of_the_host_is_asked_once_and_what_is_wrong_in_its_answer_is_left_out() -> None:
    asked: list[tuple[str, int]] = []
    said = [("made_up", 0.9), ("draw_chart", float("nan")), ("send_mail", 0.4), ("read_mail", 0.5), ("send_mail", 0.8)]

    def rank(query: str, limit: int) -> Sequence[tuple[str, float]]:
        asked.append((query, limit))
        return said * 100

    result = SearchIndex.build(CARDS, ranker=rank).search("plot", 2)

    assert asked == [("plot", 2)]
    assert [(hit.tool, hit.score) for hit in result.hits] == [("read_mail", 0.5), ("send_mail", 0.4)]
    assert [each.message for each in result.diagnostics] == [
        "part of the ranker's answer was ignored: no tool is named `made_up`, and 2 more"
    ]


MANY_WORDS = " ".join(f"wrd{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(280))[:2000]


@pytest.mark.parametrize(
    "query", [MANY_WORDS, "\x00\x01", "🦄" * 500, "\u202e" * 99, "_" * 2000, "a" * 2000, "图" * 2000, "\u064e" * 2000]
)
def test_any_query_is_answered(index: SearchIndex, query: str) -> None:
    assert index.search(query).tools == ()
    assert "\n" not in index.search(query).message


def test_empty_descriptions_and_empty_names_harm_nobody() -> None:
    cards = [ToolCard("a.b"), ToolCard("__"), ToolCard("x__"), ToolCard("::"), ToolCard(""), *CARDS]

    assert SearchIndex.build(cards).search("send mail").tools == ("send_mail",)
