"""Events as JSON: one object per line for machines, and one manifest file per step."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from itertools import count
from pathlib import Path

from cuecard.files.clock import utc_now
from cuecard.model import Json
from cuecard.recording.records import head, record_id, texts_json, written
from cuecard.workbench.output import json_text, output_folder, write_output
from cuecard.workbench.run.events import (
    ContentChanges,
    Emit,
    Event,
    RunEnd,
    ScenarioEnd,
    ScenarioStart,
    StepEvent,
    TurnEnd,
    UserMessage,
)

_KINDS: Mapping[type[Event], str] = {
    ScenarioStart: "scenario",
    UserMessage: "user",
    StepEvent: "step",
    TurnEnd: "turn",
    ContentChanges: "changes",
    ScenarioEnd: "totals",
    RunEnd: "finished",
}


def print_line(event: Event) -> None:
    """Print an event as one line of JSON, at once."""
    sys.stdout.write(json_text(as_json(event), None) + "\n")
    sys.stdout.flush()


def as_json(event: Event) -> dict[str, Json]:
    """The event as plain JSON; `event` says which kind it is."""
    facts = _step(event) if isinstance(event, StepEvent) else asdict(event)
    return {"event": _KINDS[type(event)], **facts}


def _step(event: StepEvent) -> dict[str, Json]:
    return {
        "scenario": event.scenario,
        "turn": event.turn,
        "step": event.number,
        "thought": event.thought,
        "calls": [asdict(call) for call in event.calls],
        "discovered": event.discovered,
        "entered": event.entered,
        "changed": event.changed,
        "tokens": event.manifest.total_tokens,
        "system_tokens": event.manifest.tokens.system,
        "appended_tokens": event.manifest.tokens.appended,
        "tokens_more": event.tokens_more,
        "tokens_with_all_protocols": event.everything,
        "manifest": event.manifest.sha256,
    }


def manifest_writer(folder: Path) -> Emit:
    """Writes each step's manifest as `NN-scenario-tT-sS.json`, numbered consecutively, and all of them into
    `records.jsonl`.
    """
    output_folder(folder, "--manifests")
    numbers = count(1)
    write_output(folder / "records.jsonl", "", "--manifests")

    def write(event: Event) -> None:
        if isinstance(event, StepEvent):
            name = f"{next(numbers):02}-{event.scenario}-t{event.turn}-s{event.number}.json"
            text = json.dumps(event.manifest.to_json(), indent=2, ensure_ascii=False)
            write_output(folder / name, text + "\n", "--manifests")
            write_output(folder / "records.jsonl", written(_record(event)).decode(), "--manifests", more=True)

    return write


def _record(event: StepEvent) -> dict[str, Json]:
    """The record (docs/records.md), which has the calls that followed."""
    manifest, calls = event.manifest, [asdict(call) for call in event.calls]
    identity = record_id("request", event.scenario, event.turn, event.number, manifest.sha256)
    told = head(identity, manifest.configuration.agent, event.scenario, utc_now())
    texts = texts_json(event.step)
    return {**told, "turn": event.turn - 1, "manifest": manifest.to_json(), "calls": calls, "texts": texts}


def together(*emitters: Emit) -> Emit:
    """Passes an event to several handlers."""

    def emit(event: Event) -> None:
        for tell in emitters:
            tell(event)

    return emit
