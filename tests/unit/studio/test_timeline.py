"""The Timeline says why the cache broke: what changed, where it stands, what was paid for again, and the way out."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard import Engine
from cuecard.config.transcript_file import read_transcript
from cuecard.studio.break_view import Piece
from cuecard.studio.screen import AddressBook
from cuecard.studio.timeline_view import TimelineView, more_rows, timeline, timeline_view
from cuecard.workbench.replay.report import BillingModels
from cuecard.workbench.replay.report import replay as replay_transcript
from unit.studio.timelines import CMS, MODEL, RECORDING, asking, at, lines, named, recorded, summaries, write_lines


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AddressBook]:
    with asking(tmp_path_factory.mktemp("home"), RECORDING) as found:
        yield found


def view(studio: AddressBook, title: str, step: str, **more: str) -> TimelineView:
    asked = at(studio, title, step, **more)
    assert asked.run
    return timeline_view(asked, asked.run)


def said(pieces: tuple[Piece, ...]) -> str:
    return "".join(each.text for each in pieces)


def test_it_says_why_the_cache_broke_in_turn_2(studio: AddressBook) -> None:
    found = view(studio, "blog-post · rewrite", "2.1")
    assert found.answer.question == "Why the cache broke in turn 2"
    assert said(found.answer.first) == (
        "The section working-memory changed, and 1,552 unchanged tokens behind it were paid for again."
    )
    place, way = map(said, found.answer.more)
    assert place == (
        "It stands in the system prompt, in front of everything that was said (agent.xml:47), and memory changed "
        "between the turns."
    )
    assert way == "Under append the same change goes behind the messages, and this step costs 642 instead of 2,406."
    (link,) = [each.href for each in found.answer.more[0] if each.href]
    assert link.endswith("/prompts/cms/agent.xml:47:1")
    assert (found.answer.way, found.next_break, found.breaks) == ("append", "2.3", "three other breaks")


def test_definitions_that_enter_in_front_of_everything_break_the_cache(studio: AddressBook) -> None:
    found = view(studio, "blog-post · rewrite", "2.3")
    assert found.answer.question == "Why the cache broke in step 2.3"
    assert said(found.answer.first).startswith(
        "The definitions of 2 tools entered in front of the system prompt, and 2,760 "
    )
    assert "a search found pexels_searchPhotos, pexels_downloadPhoto" in said(found.answer.more[0])
    assert "they come behind the search result that found them, and this step costs 1,068 instead of 5,340" in said(
        found.answer.more[1]
    )


def test_a_step_that_only_adds_says_what_it_cost(studio: AddressBook) -> None:
    found = view(studio, "blog-post · append", "2.1")
    assert (found.answer.edge, found.answer.question) == ("good", "What step 2.1 cost")
    told = "Nothing broke: 3,628 of 3,751 tokens were read from the cache, and 123 are new."
    assert said(found.answer.first) == told
    first = view(studio, "blog-post · append", "1.1")
    assert said(first.answer.first).startswith("The first request: all of its 1,544 tokens are new, and 1,544 were ")
    assert first.against is None


@pytest.mark.parametrize("model", [MODEL, "gpt-5.6", "gemini-3.8-flash"])
@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_its_figures_are_those_of_replay(studio: AddressBook, delivery: str, model: str) -> None:
    engine = Engine.open(CMS)
    transcript = read_transcript(RECORDING.read_text(encoding="utf-8"), RECORDING.name)
    report = replay_transcript(engine, transcript, BillingModels([engine.models.find(model)]))
    variant = report.variant(delivery)
    found = view(studio, f"blog-post · {delivery}", "4.2", model=model)
    rows = [row for turn in found.steps.turns for row in turn.rows]
    bill = report.bill(variant)
    assert [(row.tokens, row.cost) for row in rows] == [(row.input_tokens, row.cost) for row in bill.rows]
    assert [bool(row.broke) for row in rows] == [each is not None for each in variant.breaks]


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_the_parts_of_a_step_add_up_to_it(studio: AddressBook, delivery: str) -> None:
    asked = at(studio, f"blog-post · {delivery}")
    assert asked.run
    for number, sent in enumerate(asked.run.steps[1:], 1):
        found = view(studio, f"blog-post · {delivery}", sent.place)
        assert sum(tokens for _, _, tokens in found.split) == sent.billed.tokens
        assert found.against
        assert found.against.label == asked.run.steps[number - 1].place


def test_steps_are_grouped_by_turn_with_what_entered_and_was_called(studio: AddressBook) -> None:
    found = view(studio, "blog-post · rewrite", "2.1")
    assert [(turn.number, len(turn.rows)) for turn in found.steps.turns] == [(1, 5), (2, 6), (3, 3), (4, 2)]
    assert found.steps.turns[0].said == "Write a blog post about working from anywhere"
    third = found.steps.turns[0].rows[2]
    assert (third.calls, third.came, third.broke) == ("cms_listPosts", 8, "definitions")
    assert found.steps.turns[1].rows[1].calls == "tool_search × 2"
    assert [(row.place, row.mark) for turn in found.steps.turns for row in turn.rows if row.mark] == [
        ("1.5", "A"),
        ("2.1", "B"),
    ]


def test_money_is_told_only_at_a_price_that_the_visitor_gives(studio: AddressBook) -> None:
    assert view(studio, "blog-post · rewrite", "2.1").dollars is None
    found = view(studio, "blog-post · rewrite", "2.1", price="5").dollars
    assert found
    assert found.figure.startswith("$ 0.0")


def test_conversations_are_searched_by_name_and_by_what_the_user_wrote(studio: AddressBook) -> None:
    def titles(words: str) -> list[str]:
        return [each.title for each in timeline(at(studio, "blog-post · append", q=words))["listed"].found]

    assert titles("BLOG rewrite") == ["blog-post · rewrite"]
    assert len(titles("pexels")) == 3
    assert not titles("nothing like it")


def test_the_list_prices_conversations(studio: AddressBook) -> None:
    found = {each.delivery: (round(each.cost or 0), each.breaks) for each in summaries(studio)}
    assert found == {"append": (14707, 0), "rewrite": (25144, 4), "frozen": (29529, 0)}


def with_usage(tmp_path: Path, cached: int) -> Path:
    data = json.loads(RECORDING.read_text(encoding="utf-8"))
    data["turns"][1]["requests"][0]["usage"] = {"input_tokens": 3650, "cached_tokens": cached}
    path = tmp_path / "reported.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_what_the_provider_reported_wins_and_the_difference_is_shown(tmp_path: Path) -> None:
    with asking(tmp_path, with_usage(tmp_path, 1900)) as studio:
        found = view(studio, "reported · rewrite", "2.1")
        assert said(found.answer.first) == (
            "The section working-memory changed; the provider read 1,900 of 3,650 tokens from its cache, and not the "
            "other 1,750."
        )
        assert "Reckoned here were 2,044 of 3,705; the provider counts in tokens of its own." in map(
            said, found.answer.more
        )
        figures = {each.name: each.figure for each in found.facts}
        assert figures["read from the cache, as the provider reported"] == "1,900 (52.1 %)"
        assert figures["as reckoned here"] == "2,044 (55.2 %)"
        row = found.steps.turns[1].rows[0]
        assert row.bar.said == "the provider read 1,900 of 3,650 tokens"
        quiet = view(studio, "reported · append", "2.1")
        assert "The provider read 1,900 of 3,650 tokens" in said(quiet.answer.first)


def test_a_model_without_a_cache_gains_nothing(studio: AddressBook) -> None:
    found = view(studio, "blog-post · rewrite", "2.1", model="somebodys-model")
    assert said(found.answer.first).endswith("somebodys-model gains nothing from a cache: every token costs the same.")


def test_a_long_conversation_is_shown_in_pieces(tmp_path: Path) -> None:
    recorded(tmp_path / "long.jsonl", steps=450)
    with asking(tmp_path, tmp_path / "long.jsonl") as studio:
        title = "c-1 · append"
        found = view(studio, title, "60.1")
        assert (found.steps.first, found.steps.last, found.steps.total) == (195, 395, 450)
        assert any(row.current for turn in found.steps.turns for row in turn.rows)
        assert found.steps.earlier
        more = more_rows(at(studio, title), 395)["steps"]
        assert more.turns[0].rows[0].place == "80.1"
        assert (more.first, more.last) == (395, 445)
        assert view(studio, title, "").steps.last == 450


def test_an_address_of_a_conversation_holds_nothing_that_it_says(tmp_path: Path) -> None:
    recorded(tmp_path / "r.jsonl", conversation="jana@example.com")
    with asking(tmp_path, tmp_path / "r.jsonl") as studio:
        assert "jana" not in named(studio, "jana@example.com · append")


def test_a_place_that_is_no_file_of_the_agent_is_no_link(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, steps=2)
    records = [each for each in lines(path) if "manifest" in each]
    records[1]["manifest"]["sections"][1] |= {"sha256": "0" * 64, "source": "../nowhere/passwd:1"}
    write_lines(path, records)
    with asking(tmp_path, path) as studio:
        found = view(studio, "c-1 · append", "1.2")
    assert found.answer.edge == "bad"
    assert "../nowhere/passwd:1" in said(found.answer.more[0])
    assert not any(each.href for each in found.answer.more[0])
    assert said(found.answer.more[1]).startswith("What another delivery would cost is not known")
