from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from cuecard import ToolCard
from cuecard.catalogue.explanation import RankedTool, RankerReasons
from cuecard.catalogue.search import SearchIndex
from cuecard.config.tools_spec import SearchSpec
from cuecard.types import QueryWord, Reasons, ToolInstructions

CARDS = {
    card.name: card
    for card in (
        ToolCard("sendMail", "Send a mail", phrases=("write to somebody",), category="mail"),
        ToolCard("read_mail", instructions=ToolInstructions("None", "Show the subject", "sendMail", "None")),
        ToolCard("list_files", input_schema={"properties": {"folder": {"description": "where the archive is"}}}),
        ToolCard("draw_chart"),
    )
}


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(CARDS.values())


def test_an_explanation_returns_what_the_search_returns(index: SearchIndex) -> None:
    for query in (
        "mail",
        "send mail",
        "folder",
        "what is this",
        "",
        "weather",
        "mail " * 1000,
        "send mail".ljust(2000),
    ):
        for spec in (SearchSpec(), SearchSpec(cut=0), SearchSpec(confidence=1), SearchSpec(limit=1)):
            found, told = index.search(query, spec=spec), index.explain(query, CARDS, spec=spec)

            assert tuple(each.tool for each in told.ranked if each.returned) == found.tools
            assert (told.message, told.confidence) == (found.message, found.confidence)


def test_it_tells_the_words_as_they_were_written_and_how_many_tools_have_them(index: SearchIndex) -> None:
    told = index.explain("Sending caht, charrt and MAILS", CARDS)

    assert told.words == (
        QueryWord("Sending", 2),
        QueryWord("caht", 0),
        QueryWord("charrt", 1, ("chart",)),
        QueryWord("MAILS", 2),
    )


def test_it_tells_fields_and_parts_of_each_word_and_the_nearest_phrase(index: SearchIndex) -> None:
    first = index.explain("write a mail to somebody", CARDS).ranked[0]

    assert first.tool == "sendMail"
    assert {match.word: match.fields for match in first.reasons.matches} == {
        "write": ("phrases",),
        "somebody": ("phrases",),
        "mail": ("name", "description", "category"),
    }
    assert sum(match.part for match in first.reasons.matches) == pytest.approx(1)
    assert first.reasons.nearest == "write to somebody"
    assert first.reasons.nearness == pytest.approx(0.8)
    for query, field in (("archive", "parameters"), ("sendmail", "name")):
        found = index.explain(query, CARDS, spec=SearchSpec(confidence=0)).ranked[0]
        assert found.reasons.matches[0].fields[0] == field


@pytest.mark.parametrize(
    ("scores", "spec", "end"),
    [
        ([0.1], SearchSpec(), "confidence"),
        ([0.8, 0.3], SearchSpec(), "cut"),
        ([1.0, 0.9, 0.53], SearchSpec(), "gap"),
        ([1.0, 0.9, 0.8], SearchSpec(limit=2), "limit"),
        ([1.0, 0.9, 0.8], SearchSpec(), "end"),
        ([], SearchSpec(), "end"),
    ],
)
def test_it_tells_what_ended_the_list(scores: list[float], spec: SearchSpec, end: str) -> None:
    hits = list(zip(CARDS, scores, strict=False))
    told = SearchIndex.build(CARDS.values(), ranker=lambda _query, limit: hits[:limit]).explain(
        "plot", CARDS, spec=spec
    )

    assert told.end == end


def test_a_ranker_without_explanations_has_scores_and_no_reasons() -> None:
    told = SearchIndex.build(CARDS.values(), ranker=lambda *_: [("draw_chart", 0.7)]).explain("plot", CARDS)

    assert told.words == ()
    assert told.ranked == (RankedTool("draw_chart", 0.7, 1.0, True, Reasons()),)  # noqa: FBT003 - as it is told


def test_a_score_of_nothing_is_no_share_of_it() -> None:
    index = SearchIndex.build(CARDS.values(), ranker=lambda *_: [("draw_chart", 0.0), ("sendMail", 0.0)])

    told = index.explain("plot", CARDS, spec=SearchSpec(confidence=0)).ranked
    assert [(each.tool, each.share, each.returned) for each in told] == [
        ("draw_chart", 0.0, True),
        ("sendMail", 0.0, True),
    ]


def test_a_ranker_of_the_host_may_tell_its_reasons() -> None:
    class Rank:
        def __call__(self, query: str, limit: int) -> Sequence[tuple[str, float]]:
            return [("draw_chart", 0.7)][:limit] if query else []

        def explain(self, query: str, cards: Sequence[ToolCard]) -> RankerReasons:
            return RankerReasons((QueryWord(query, 1),), tuple(Reasons(nearest=card.name) for card in cards))

    told = SearchIndex.build(CARDS.values(), ranker=Rank()).explain("plot", CARDS)

    assert told.words == (QueryWord("plot", 1),)
    assert told.ranked[0].reasons.nearest == "draw_chart"


def test_it_is_json_with_what_the_model_reads_first(index: SearchIndex) -> None:
    told = json.loads(json.dumps(index.explain("send_mail to read charrt mails", CARDS).to_json()))

    def match(word: str, part: float, *fields: str) -> dict[str, object]:
        return {"word": word, "fields": [*fields], "part": part}

    def ranked(
        tool: str, score: float, told: str, nearest: str, nearness: float, *matches: object
    ) -> dict[str, object]:
        returned, named = "returned" in told, "named" in told
        reasons = {"matches": [*matches], "nearest": nearest, "nearness": nearness}
        return {"tool": tool, "score": score, "share": score, "returned": returned, "reasons": reasons, "named": named}

    assert list(told)[:2] == ["tools", "message"]
    assert told == {
        "tools": ["sendMail", "read_mail"],
        "message": "Found 2 tools. They are now active.",
        "query": "send_mail to read charrt mails",
        "words": [
            {"word": "send", "tools": 2, "taken_for": []},
            {"word": "mail", "tools": 2, "taken_for": []},
            {"word": "read", "tools": 1, "taken_for": []},
            {"word": "charrt", "tools": 1, "taken_for": ["chart"]},
        ],
        "ranked": [
            ranked(
                *("sendMail", 1.0, "returned, named", "sendMail", 0.667),
                match("mail", 0.511, "name", "description", "category"),
                match("send", 0.489, "name", "description"),
            ),
            ranked(
                *("read_mail", 0.912, "returned", "read_mail", 0.667),
                match("read", 0.588, "name"),
                match("mail", 0.349, "name", "instructions"),
                match("send", 0.064, "instructions"),
            ),
            ranked("draw_chart", 0.214, "", "", 0.0, match("charrt", 1.0, "name")),
        ],
        "confidence": 1.0,
        "needed": 0.2,
        "cut": 0.5,
        "limit": 8,
        "end": "cut",
        "diagnostics": [],
        "categories": [],
    }
