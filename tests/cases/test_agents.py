"""Case folders: an agent, a turn, and what comes of it - the prompt, or the full text of the error.

`expected.txt` is golden: `make golden` writes it anew, and the difference is for people to read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard import CuecardError, Engine, Step
from cuecard.workbench.played import past_results, read_turn
from cuecard.workbench.step import step_from

FOLDER = Path(__file__).parent / "agents"


@pytest.mark.parametrize("case", sorted(path.name for path in FOLDER.iterdir()))
def test_case(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER / case)
    expected = Path("expected.txt")
    outcome = _outcome()
    if os.environ.get("CUECARD_GOLDEN"):
        expected.write_text(outcome, encoding="utf-8")

    assert outcome == expected.read_text(encoding="utf-8")


def _outcome() -> str:
    try:
        engine = Engine.open("agent.yaml")
        step = step_from(engine, discovered="", values=[], turn=Path("turn.yaml"))
    except CuecardError as error:
        return f"{type(error).__name__}\n\n{error}\n"
    assert Step.from_json(json.loads(json.dumps(step.to_json()))) == step
    warnings = "".join(f"{warning.picture()}\n\n" for warning in engine.warnings)
    return warnings + _prompt(step) + "".join(_results(engine))


def _results(engine: Engine) -> Iterator[str]:
    """The results of the turn as they are sent, where the agent says how."""
    for result in past_results(engine, read_turn(Path("turn.yaml")), None).results if engine.agent.results else ():
        made = engine.render_result(result)
        yield f"=== {made.call_id}: {made.tool}, told by {made.rule} ({made.source})\n{made.text}\n"
        yield f"--- left out: {made.left_out} of {made.whole} {made.unit}\n" if made.whole else ""
        yield "".join(f"--- neutralised: {what}: {number}\n" for what, number in made.trust.items())
        yield "".join(f"--- {each.code}: {each.message}\n" for each in made.diagnostics)


def _prompt(step: Step) -> str:
    manifest = step.manifest
    lines = [step.system]
    lines += [f"=== appended after {block.after_call_id}\n{block.text}" for block in step.appended]
    lines += ["=== manifest\n", f"active: {', '.join(step.active_tools)}\n"]
    lines += [f"{s.placement} {s.tier} {s.tokens:4} {s.id} ({s.source}): {s.reason}\n" for s in manifest.sections]
    lines += [f"protocol {p.tokens:4} {p.id} ({p.source}): {p.reason}\n" for p in manifest.protocols]
    lines += [f"left out: {cut.what}: {cut.reason} ({cut.tokens} tokens)\n" for cut in manifest.cuts]
    lines += [f"neutralised: {what}: {number}\n" for what, number in manifest.trust.items() if number]
    lines += [f"total {manifest.total_tokens}\n"]
    return "".join(lines)
