"""Every sentence of the tool instructions is held by a test, or is advice, with a reason; so must every new one be."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from unit.cms.claims.claims import Sentence, sentences

HERE = Path(__file__).parent
SAID = frozenset(sentences())


def held() -> set[Sentence]:
    """What the tests of this folder hold."""
    modules = [import_module(f"unit.cms.claims.{file.stem}") for file in sorted(HERE.glob("test_*.py"))]
    return {claim for module in modules for test in vars(module).values() for claim in getattr(test, "claims", [])}


def advice() -> set[Sentence]:
    """What no call can try."""
    groups = YAML(typ="safe").load(HERE / "advice.yaml")
    tools = {tool for tool, _ in SAID}
    told = {(tool, text) for group in groups.values() for tool, texts in group.items() for text in texts}
    anybody = {(tool, text) for any_tool, text in told if any_tool == "*" for tool in tools} & SAID
    return {sentence for sentence in told if sentence[0] != "*"} | anybody


HELD, ADVICE = held(), advice()


@pytest.mark.parametrize("sentence", sorted(SAID), ids=": ".join)
def test_a_sentence_is_held_by_a_test_or_is_advice(sentence: Sentence) -> None:
    assert (sentence in HELD) != (sentence in ADVICE), "put `@holds` above a test, or the sentence into advice.yaml"


def test_nothing_is_held_that_nobody_says() -> None:
    assert HELD <= SAID
    assert ADVICE <= SAID


def test_most_sentences_can_be_tested() -> None:
    assert len(HELD) > 3 * len(ADVICE)
