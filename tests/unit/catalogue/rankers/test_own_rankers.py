"""Rankers of the host's: a function handed in, or one that an agent file names where code is allowed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cuecard import Engine, InputError, Problem, SpecError, ToolCard
from cuecard.types import Calibration, Diagnostic, Ranker
from unit.catalogue.rankers.agents import write_agent

QUERY = "send a letter"


def problem(error: pytest.ExceptionInfo[Any]) -> Problem:
    [only] = error.value.problems
    assert isinstance(only, Problem)
    return only


def mails(_query: str, _limit: int) -> list[tuple[str, float]]:
    return [("sing", 0.9), ("mail", 0.8)]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("host_rankers")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    made.rank = mails  # type: ignore[attr-defined] # a module that a test makes has what the test gives it
    made.number = 7  # type: ignore[attr-defined] # likewise
    return made


def test_a_function_that_the_file_names_ranks_where_code_is_allowed(tmp_path: Path, module: ModuleType) -> None:
    engine = Engine.open(write_agent(tmp_path, "{ranker: 'host_rankers:rank'}"), allow_code=True)

    assert engine.search_tools(QUERY).tools == ("sing", "mail")


def test_code_is_not_even_imported_where_it_is_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, "{ranker: 'loud:rank'}"))

    assert problem(error).code == "code-not-allowed"
    assert problem(error).name.endswith("agent.yaml")
    assert problem(error).span is not None
    assert problem(error).span.line == 6  # type: ignore[union-attr] # it is there, says the line before
    assert "allow_code=True" in problem(error).hint


def test_what_the_host_hands_in_goes_before_what_the_file_names(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path, "{ranker: 'nobody_has_this:rank'}"), ranker=mails)

    assert engine.search_tools(QUERY).tools == ("sing", "mail")
    assert engine.search_tools(QUERY).diagnostics == ()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nobody_has_this:rank", "there is no module `nobody_has_this`"),
        ("host_rankers:wrong", "the module `host_rankers` has no `wrong`"),
        ("host_rankers:number", "`host_rankers:number` is of type int, which cannot be called"),
        ("broken_ranker:rank", "`broken_ranker` cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_is_not_there_is_reported_when_the_agent_is_opened(
    tmp_path: Path, module: ModuleType, monkeypatch: pytest.MonkeyPatch, named: str, said: str
) -> None:
    (tmp_path / "broken_ranker.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, f"{{ranker: '{named}'}}"), allow_code=True)

    assert (problem(error).code, problem(error).message) == ("missing-ranker", said)
    assert problem(error).span is not None


def test_anything_but_a_ranker_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        Engine.open(write_agent(tmp_path), ranker="bm25")  # type: ignore[arg-type] # the mistake that is tested

    assert problem(error).code == "wrong-ranker"


@pytest.mark.parametrize("named", ["bm52", "", "rank", "a:b:c", "1a:b", "model2vec:", "model2vec: ", "os.path"])
def test_a_name_that_is_not_a_ranker_is_reported_with_its_place(tmp_path: Path, named: str) -> None:
    with pytest.raises(SpecError) as error:
        Engine.open(write_agent(tmp_path, f"{{ranker: '{named}'}}"), allow_code=True)

    assert problem(error).code == "unknown-ranker"
    assert problem(error).span is not None
    assert "my_package:rank" in problem(error).hint


def test_an_object_may_make_its_ranker_of_the_tools(tmp_path: Path) -> None:
    class Longest:
        def for_tools(self, cards: Sequence[ToolCard], /) -> Ranker:
            ranked = sorted(cards, key=lambda card: -len(card.description))
            return lambda _query, limit: [(card.name, 0.9) for card in ranked[:limit]]

    engine = Engine.open(write_agent(tmp_path), ranker=Longest())

    assert engine.search_tools(QUERY, 1).tools == ("weather",)
    more = engine.with_tools([ToolCard("long", "x" * 100)])
    assert more.search_tools(QUERY, 1).tools == ("long",)


async def later(_query: str, _limit: int) -> list[tuple[str, float]]:
    return [("mail", 0.9)]


def stumbles(_query: str, _limit: int) -> list[tuple[str, float]]:
    raise ValueError("no connection")


NO_LIST = ", not a list of names with scores"
UNUSABLE = "no part of its answer is usable: "
BROKEN: dict[str, tuple[Callable[..., object], str]] = {
    "raises": (stumbles, "ValueError: no connection"),
    "nothing": (lambda *_: None, f"its answer is of type NoneType{NO_LIST}"),
    "text": (lambda *_: "mail", f"its answer is of type str{NO_LIST}"),
    "mapping": (lambda *_: {"mail": 0.9}, f"its answer is of type dict{NO_LIST}"),
    "generator": (lambda *_: (hit for hit in [("mail", 0.9)]), f"its answer is of type generator{NO_LIST}"),
    "asynchronous": (later, "it is asynchronous; it must be a plain function"),
    "names": (lambda *_: ["go", 5], f"{UNUSABLE}`go` is not a name with a score"),
    "triples": (lambda *_: [("mail", 0.9, 1)], f"{UNUSABLE}`('mail', 0.9, 1)` is not a name with a score"),
    "only NaN": (lambda *_: [("mail", math.nan)], f"{UNUSABLE}the score of `mail` is `nan`, not a number"),
    "scores as text": (lambda *_: [("mail", "0.9")], f"{UNUSABLE}the score of `mail` is `0.9`, not a number"),
    "only unknown": (lambda *_: [("fly", 0.9)], f"{UNUSABLE}no tool is named `fly`"),
    "numbers for names": (lambda *_: [(3, 0.9)], f"{UNUSABLE}no tool is named `3`"),
    "wrong arguments": (list, "TypeError: list expected at most 1 argument, got 2"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_where_nothing_can_be_made_of_an_answer_bm25_answers_and_the_host_hears_why(tmp_path: Path, case: str) -> None:
    ranker, reason = BROKEN[case]
    plain = Engine.open(write_agent(tmp_path)).search_tools(QUERY)
    result = Engine.open(write_agent(tmp_path), ranker=ranker).search_tools(QUERY)  # type: ignore[arg-type] # on purpose

    assert result.hits == plain.hits != ()
    assert result.message == plain.message
    assert result.diagnostics == (
        Diagnostic("ranker_failed", f"the ranker failed, so BM25 answered instead: {reason}"),
    )
    assert "diagnostics" not in result.to_json()


def test_more_than_there_are_tools_is_not_read(tmp_path: Path) -> None:
    said = [("mail", 0.9), ("pay", 0.9), *[("sing", 0.8)] * 1_000_000]
    result = Engine.open(write_agent(tmp_path), ranker=lambda *_: said).search_tools(QUERY)

    assert result.tools == ("mail", "pay", "sing")
    assert result.diagnostics == (
        Diagnostic("ranker_mended", "part of the ranker's answer was ignored: `sing` is named twice, and 1 more"),
    )


def test_scores_on_another_scale_are_reported(tmp_path: Path) -> None:
    result = Engine.open(write_agent(tmp_path), ranker=lambda *_: [("pay", 3), ("mail", 12.5)]).search_tools(QUERY)
    rounded = Engine.open(write_agent(tmp_path), ranker=lambda *_: [("mail", 1.001)]).search_tools(QUERY)

    assert [(hit.tool, hit.score) for hit in result.hits] == [("pay", 1), ("mail", 1)]
    assert [each.message for each in result.diagnostics] == [
        "part of the ranker's answer was ignored: scores above 1, such as 12.5, which are treated as 1"
    ]
    assert (rounded.confidence, rounded.diagnostics) == (1, ())


def test_a_ranker_that_finds_nothing_has_answered(tmp_path: Path) -> None:
    result = Engine.open(write_agent(tmp_path), ranker=lambda *_: []).search_tools(QUERY)

    assert (result.tools, result.diagnostics) == ((), ())


def test_what_a_ranker_raises_is_reported_on_one_short_line(tmp_path: Path) -> None:
    class UnprintableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    for error, said in (
        (ValueError("a\nb" * 100_000), f"ValueError: {'a‹U+000A›b' * 66}a‹U+000A›..."),
        (ValueError("b" * 200), f"ValueError: {'b' * 200}"),
        (KeyError(), "KeyError"),
        (UnprintableError(), "UnprintableError: UnprintableError"),
    ):

        def raises(_query: str, _limit: int, error: Exception = error) -> list[tuple[str, float]]:
            raise error

        [told] = Engine.open(write_agent(tmp_path), ranker=raises).search_tools(QUERY).diagnostics
        assert told.message == f"the ranker failed, so BM25 answered instead: {said}"


def test_interrupts_are_not_swallowed(tmp_path: Path) -> None:
    def interrupted(_query: str, _limit: int) -> list[tuple[str, float]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Engine.open(write_agent(tmp_path), ranker=interrupted).search_tools(QUERY)


def test_an_object_whose_ranker_cannot_be_made_leaves_the_search_to_bm25(tmp_path: Path) -> None:
    class Stumbles:
        def for_tools(self, cards: Sequence[ToolCard], /) -> Ranker:
            raise RuntimeError(f"no model for {len(cards)} tools")

    result = Engine.open(write_agent(tmp_path), ranker=Stumbles()).search_tools(QUERY)

    assert result.tools[0] == "mail"
    assert [each.message for each in result.diagnostics] == [
        "the ranker cannot be created, so BM25 answers instead: RuntimeError: no model for 4 tools"
    ]


class Calibrated:
    """Scores that are small by nature, and says so."""

    calibration = Calibration(confidence=0.01, cut=0.9)

    def __call__(self, _query: str, _limit: int) -> list[tuple[str, float]]:
        return [("mail", 0.03), ("sing", 0.02)]


@pytest.mark.parametrize(
    ("search", "tools"),
    [("{}", ("mail",)), ("{cut: 0.5}", ("mail", "sing")), ("{confidence: 0.2}", ())],
)
def test_a_ranker_says_which_of_its_scores_count_and_the_file_may_say_otherwise(
    tmp_path: Path, search: str, tools: tuple[str, ...]
) -> None:
    assert Engine.open(write_agent(tmp_path, search), ranker=Calibrated()).search_tools(QUERY).tools == tools
