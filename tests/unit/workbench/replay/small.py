"""A small agent and its recorded conversation, for tests of the replay."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from cuecard import Engine
from cuecard.config.transcript_file import TranscriptFile, read_transcript
from cuecard.files.content import read_models
from cuecard.types import ModelProfile
from cuecard.workbench.replay.recommend import Recommendation, recommend
from cuecard.workbench.replay.report import BillingModels, ReplayReport, replay

CASES = Path(__file__).parents[3] / "cases"
PAGES = CASES / "transcripts" / "pages.json"


@cache
def engine() -> Engine:
    return Engine.open(CASES / "agents" / "discovered_append")


def pages() -> TranscriptFile:
    return read_transcript(PAGES.read_text(encoding="utf-8"), PAGES.name)


def profile(name: str = "small-marked") -> ModelProfile:
    return read_models(CASES / "transcripts" / "models.yaml").find(name)


@cache
def report() -> ReplayReport:
    """The conversation of both kinds of models."""
    return replay(engine(), pages(), BillingModels([profile(), profile("small-automatic")]), name="pages.json")


@cache
def advice() -> Recommendation:
    """What the report leads to, which takes a second to find."""
    return recommend(report(), engine(), pages())


def conversation(*turns: dict[str, Any], **more: Any) -> TranscriptFile:
    return TranscriptFile.model_validate({"turns": list(turns), **more})


def search(*names: str, call_id: str = "") -> dict[str, Any]:
    """A request whose answer was a search that found these tools."""
    return {"calls": [{"tool": "tool_search", "id": call_id, "result": {"tools": list(names), "message": "ok"}}]}
