"""What texts of one turn cost: the price that `replay` gives is that of the bodies that adapters make."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine
from cuecard.config.transcript_file import RecordedCall, RecordedRequest, RecordedTurn, TranscriptFile
from cuecard.workbench.bill import Prices
from cuecard.workbench.replay.play import play
from cuecard.workbench.replay.report import text_price

AGENT = """\
agent: shop
inputs: {event: {default: "", lifetime: turn}}
sections:
  - {id: identity, text: "You answer for a shop."}
  - {id: event, text: "{{{event}}}"}
"""
EVENT = "An order has come in, and everything about it stands here. " * 30
ANSWER = "Everything is in stock, and the parcel leaves tomorrow. " * 20
PRICES = Prices(read=0.1, write=1.25, minimum=1, look_back=20)


def engine(tmp_path: Path) -> Engine:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return Engine.open(tmp_path)


def transcript(requests: int) -> TranscriptFile:
    """A turn with an event and so many requests, and one without."""
    calls = [RecordedCall(tool="stock", result=ANSWER)]
    asked = [RecordedRequest(calls=calls) for _ in range(requests - 1)]
    first = RecordedTurn(user="What now?", inputs={"event": EVENT}, requests=[*asked, RecordedRequest(text=ANSWER)])
    second = RecordedTurn(user="And now?", requests=[RecordedRequest(text="Nothing.")])
    return TranscriptFile(turns=[first, second])


@pytest.mark.parametrize("requests", [1, 2, 5])
def test_staying_and_moving_cost_what_the_factors_say(tmp_path: Path, requests: int) -> None:
    """T tokens in k requests, with M tokens behind them in the last: 1.25T + .1T(k-1) + 1.15M, and Tk."""
    sent = play(engine(tmp_path), transcript(requests), "append")
    price = text_price(sent, PRICES)
    *_, last, _ = sent
    (tokens,) = last.own
    at = next(at for at, block in enumerate(last.request.blocks) if block.label.startswith("appended/"))
    behind = sum(block.tokens for block in last.request.blocks[at + 1 :])

    assert price
    assert price.tokens == tokens
    assert price.moving == pytest.approx(tokens * requests, rel=0.01)
    assert price.staying == pytest.approx(1.25 * tokens + 0.1 * tokens * (requests - 1) + 1.15 * behind, rel=0.01)


def test_a_conversation_without_such_texts_has_no_price(tmp_path: Path) -> None:
    turns = [turn.model_copy(update={"inputs": {}}) for turn in transcript(2).turns]

    assert text_price(play(engine(tmp_path), TranscriptFile(turns=turns), "append"), PRICES) is None
