"""The published outputs of Pioneer's compiler come out of `prompts/pioneer`, byte for byte.

`CUECARD_DATA` names a folder whose `pioneer/*.expected.txt` are those outputs. Their sentences are not ours: an agent
file laid over ours takes identity, safety, policy, hint and suffix from the outputs themselves, and nothing else. Form,
order and conditions are those of `prompts/pioneer`. Without the folder, this is skipped by name;
`tests/cases/systems/pioneer/` has the same cases in our own words.
"""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path

import pytest

from command_line import main
from cuecard import Engine
from cuecard.types import Json

DATA = Path(os.environ.get("CUECARD_DATA", "")) / "pioneer"
PIONEER = Path(__file__).parents[3] / "prompts" / "pioneer" / "agent.yaml"
MARKER = "\n<!-- PIONEER_PROMT_CACHE_BOUNDARY -->\n"

needs_data = pytest.mark.skipif(not os.environ.get("CUECARD_DATA"), reason="Pioneer's outputs: set CUECARD_DATA")

FILES: dict[str, Json] = {
    "SOUL.md": "Voice: direct and concise",
    "IDENTITY.md": "Name: Pioneer",
    "USER.md": "Name: Alex",
}
SKILLS = "[Skills]\n- sample.skill"
FULL: dict[str, Json] = {
    "skills_prompt": SKILLS,
    "retry_instruction": "retry with corrected arguments",
    "continue_generation_hint": True,
    "dynamic_context": "session dynamic context",
    "extra_system": "extra runtime system",
}
MINIMAL: dict[str, Json] = {"skills_prompt": SKILLS, "dynamic_context": "session dynamic context"}
LONG: dict[str, Json] = {"SOUL.md": "B" * 120, "IDENTITY.md": "C" * 120, "USER.md": "D" * 120}

TURNS: dict[str, tuple[str, dict[str, Json], dict[str, Json]]] = {
    "assistant_full": ("full", FILES, FULL),
    "assistant_minimal": ("minimal", FILES, MINIMAL),
    "assistant_none": ("none", FILES, FULL),
    "truncation_full": ("full", LONG, {}),
}
"""Output to the profile, the files and the inputs that it was made with (the folder's README)."""


def published(case: str) -> str:
    return (DATA / f"{case}.expected.txt").read_bytes().decode()


def bodies(text: str) -> dict[str, str]:
    """What stands below each heading."""
    parts = re.split(r"^## (.+)\n", text.replace(MARKER, "\n"), flags=re.MULTILINE)
    return {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def write_agent(folder: Path, **limits: int) -> Path:
    """Pioneer with the words of the outputs."""
    said = bodies(published("assistant_full"))
    texts = {
        "identity_base": "Identity",
        "assistant_safety": "Safety",
        "tool_recovery_policy": "Tool Recovery Policy",
        "recovery_continuation": "Recovery Continuation",
    }
    entries = {
        "soul_core": {"path": "SOUL.md", "suffix": said["Soul Core"].rpartition("\n")[2]},
        "identity_core": {"path": "IDENTITY.md", "suffix": said["Identity Core"].rpartition("\n")[2]},
        "user_persona": {"path": "USER.md", "keep_empty": False},
    }
    sections = [
        *({"id": name, "text": said[title]} for name, title in texts.items()),
        *({"id": name, "files": {"entries": [entry], **limits}} for name, entry in entries.items()),
    ]
    agent = folder / "agent.yaml"
    overlay = {"agent": "vectors", "extends": os.path.relpath(PIONEER, folder), "sections": sections}
    agent.write_text(json.dumps(overlay), encoding="utf-8")
    return agent


def compile_case(case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Json:
    """What `cuecard render --compiled` prints for a case."""
    profile, files, inputs = TURNS[case]
    limits = {"per_file": 40, "total": 50} if case == "truncation_full" else {}
    workspace = f"/tmp/pioneer_promt_snapshot_{case.removeprefix('assistant_').removesuffix('_full')}"  # noqa: S108 - a name
    turn = {"profile": profile, "files": files, "inputs": {"workspace": workspace, **inputs}, "tools": []}
    (folder / "turn.yaml").write_text(json.dumps(turn), encoding="utf-8")
    agent = write_agent(folder, **limits)
    monkeypatch.setattr(
        "sys.argv", ["cuecard", "render", str(agent), "--turn", str(folder / "turn.yaml"), "--compiled"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert not ended.value.code, shown.err
    return json.loads(shown.out)


@needs_data
@pytest.mark.parametrize("case", TURNS)
def test_a_published_output_comes_out_byte_for_byte(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, expected = compile_case(case, tmp_path, monkeypatch, capsys), published(case)

    assert made["full_text"].encode() == expected.encode()
    assert made["full_sha256"] == sha256(expected.encode()).hexdigest()
    stable, boundary, dynamic = expected.partition(MARKER)
    assert (made["stable_text"], made["boundary"], made["dynamic_text"]) == (stable, boundary, dynamic)
    assert made["stable_sha256"] == sha256(stable.encode()).hexdigest()
    assert made["dynamic_sha256"] == sha256(dynamic.encode()).hexdigest()


@needs_data
def test_its_truncation_has_the_five_diagnostics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = compile_case("truncation_full", tmp_path, monkeypatch, capsys)

    assert [(each["code"], re.findall(r"\w+\.md", each["message"])[0]) for each in made["diagnostics"]] == [
        ("file_truncated", "SOUL.md"),
        ("file_truncated", "IDENTITY.md"),
        ("total_budget_truncated", "IDENTITY.md"),
        ("file_truncated", "USER.md"),
        ("total_budget_truncated", "USER.md"),
    ]
    assert "user_persona" not in made["stable_sections"]


@needs_data
def test_profile_none_has_no_dynamic_text_no_diagnostics_and_no_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = compile_case("assistant_none", tmp_path, monkeypatch, capsys)

    assert (made["stable_sections"], made["dynamic_text"]) == (["identity_base"], "")
    assert (made["diagnostics"], made["sources"]) == ([], [])


@needs_data
def test_only_words_and_limits_are_laid_over_the_shipped_agent(tmp_path: Path) -> None:
    ours, theirs = Engine.open(PIONEER).agent.spec, Engine.open(write_agent(tmp_path)).agent.spec

    assert (theirs.layout, theirs.profiles, theirs.inputs) == (ours.layout, ours.profiles, ours.inputs)
    for mine, other in zip(ours.sections, theirs.sections, strict=True):
        assert (mine.id, mine.title, mine.when) == (other.id, other.title, other.when)
        if mine.files and other.files:
            assert (mine.files.item, mine.files.per_file, mine.files.total, mine.files.pool) == (
                other.files.item,
                other.files.per_file,
                other.files.total,
                other.files.pool,
            )
