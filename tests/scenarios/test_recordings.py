"""The scenarios of the CMS, recorded and replayed: what their own runs would cost under each delivery."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cms_agent import cms
from cuecard.config.transcript_file import TranscriptFile
from cuecard.workbench.replay.play import play
from cuecard.workbench.replay.report import BillingModels, ReplayReport, replay
from cuecard.workbench.transcripts.formats import read_conversation
from scenarios.recording import SCENARIOS, Recording, as_text, record, transcript_of
from shipped import read_models

SHIPPED = Path(__file__).parents[2] / "examples" / "cms" / "recordings"
MODEL = read_models().find("claude-sonnet-5")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    return {name: record(scenario, tmp_path_factory.mktemp(name)) for name, scenario in SCENARIOS.items()}


@pytest.fixture(scope="module")
def transcripts(recordings: dict[str, Recording]) -> dict[str, TranscriptFile]:
    return {name: transcript_of(recording) for name, recording in recordings.items()}


@pytest.fixture(scope="module")
def reports(transcripts: dict[str, TranscriptFile]) -> dict[str, ReplayReport]:
    return {name: replay(cms(), transcript, BillingModels([MODEL])) for name, transcript in transcripts.items()}


def test_the_shipped_recording_is_what_the_scenario_plays(transcripts: dict[str, TranscriptFile]) -> None:
    path = SHIPPED / "blog-post.json"
    if os.environ.get("CUECARD_GOLDEN"):
        path.write_text(as_text(transcripts["blog-post"]), encoding="utf-8")

    assert path.read_text(encoding="utf-8") == as_text(transcripts["blog-post"])


def test_a_recording_has_a_request_for_each_decision_of_the_script(transcripts: dict[str, TranscriptFile]) -> None:
    for name, transcript in transcripts.items():
        planned = [len(turn.steps) + 1 for turn in SCENARIOS[name].file.turns]

        assert [len(turn.requests) for turn in transcript.turns] == planned


def test_under_append_no_request_of_any_scenario_changes_what_was_sent_before(reports: dict[str, ReplayReport]) -> None:
    assert [report.bill(report.variant("append")).rewrites for report in reports.values()] == [0] * len(reports)


def test_under_append_every_scenario_costs_least(reports: dict[str, ReplayReport]) -> None:
    for report in reports.values():
        costs = {variant.name: report.bill(variant).cost for variant in report.variants}

        assert min(costs, key=costs.__getitem__) == "append"


def test_every_break_under_rewrite_names_a_discovery_or_the_memory(reports: dict[str, ReplayReport]) -> None:
    breaks = [broken for report in reports.values() for broken in report.variant("rewrite").breaks if broken]

    assert {broken.id.partition("/")[0] for broken in breaks} == {"tools", "system"}
    assert {broken.cause.partition(" ")[0] for broken in breaks} == {"discovery", "memory"}


def test_the_replay_sends_the_prompts_of_the_run(recordings: dict[str, Recording]) -> None:
    """The manifests of a replay name the same sections, tools and tokens as those of the run that was recorded."""
    recording = recordings["about-page"]
    transcript = read_conversation(recording.as_json, "about-page").transcript
    last = play(cms(), transcript, "append")[-1].manifest
    found = [d.tool for d in last.discovered]
    blocks = [part.content for m in recording.messages for part in m.parts if part.part_kind == "system-prompt"]

    assert last.tokens.appended == sum(cms().count(str(block)) for block in blocks)
    assert found[:1] == ["cms_createPageWithContent"]
