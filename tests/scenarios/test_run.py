"""`cuecard run` from end to end: real processes, as people run it."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from rich.console import Console

from cms.seed import open_site
from cms.snapshot import snapshot
from cuecard import Engine, InputError
from cuecard.types import ToolServerError
from cuecard.workbench.run.assistant_file import read_assistant
from cuecard.workbench.run.chat import chat
from cuecard.workbench.run.command import run
from cuecard.workbench.run.events import ContentChange, ContentChanges, Event, TurnEnd
from cuecard.workbench.run.play import changes
from cuecard.workbench.run.view import View

ROOT = Path(__file__).parents[2]
ASSISTANT = ROOT / "examples" / "cms" / "assistant.yaml"
QUICK_SERVER = ROOT / "tests" / "unit" / "workbench" / "run" / "quick_server.py"
NOW = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    code: int
    out: str
    folder: Path

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == kind]


def captured(assistant: Path, folder: Path, **options: Any) -> Ran:
    out = io.StringIO()
    with redirect_stdout(out):
        code = run(assistant, **options)
    return Ran(code, out.getvalue(), folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Three scenarios, as `make run` plays all of them; `test_scenarios.py` plays the others without processes."""
    folder = tmp_path_factory.mktemp("run")
    chosen = ["about-page", "blog-post", "delete-page"]
    return captured(
        ASSISTANT, folder, scenarios=chosen, json=True, manifests=folder / "manifests", data=folder / "data"
    )


def test_scenarios_play_without_a_question_asked(whole: Ran) -> None:
    assert whole.code == 0
    assert whole.of("finished") == [{"event": "finished", "scenarios": 3, "failed": []}]


def test_the_totals_say_what_the_prompts_cost(whole: Ran) -> None:
    for totals in whole.of("totals"):
        steps = [step for step in whole.of("step") if step["scenario"] == totals["scenario"]]

        assert totals["problems"] == []
        assert totals["requests"] == len(steps)
        assert (totals["first"], totals["last"]) == (steps[0]["tokens"], steps[-1]["tokens"])
        assert totals["sent"] == sum(step["tokens"] for step in steps) < 0.5 * totals["everything"]


def test_a_step_tells_what_it_discovered_and_what_changed(whole: Ran) -> None:
    first, second, third, *_ = whole.of("step")

    assert [call["tool"] for call in first["calls"]] == ["acknowledge"]
    assert second["discovered"] == second["entered"] == second["changed"] == []
    assert "cms_createPageWithContent" in third["discovered"]
    assert third["tokens_more"] == third["appended_tokens"] == third["tokens"] - second["tokens"] > 0
    assert [section.rpartition("-")[0] for section in third["entered"]] == ["tool-usage-instructions"]


def test_there_is_one_manifest_per_step_numbered_through(whole: Ran) -> None:
    files = sorted((whole.folder / "manifests").glob("*.json"))
    steps = whole.of("step")

    assert [file.name for file in files] == [
        f"{number:02}-{step['scenario']}-t{step['turn']}-s{step['step']}.json" for number, step in enumerate(steps, 1)
    ]
    for file, step in zip(files, steps, strict=True):
        manifest = json.loads(file.read_text(encoding="utf-8"))
        assert (manifest["sha256"], manifest["total_tokens"]) == (step["manifest"], step["tokens"])
    records = (whole.folder / "manifests" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["manifest"]["sha256"] for line in records] == [step["manifest"] for step in steps]
    assert all("<identity>" in json.loads(line)["texts"]["system"][1]["text"] for line in records)


def test_the_changes_of_each_turn_are_what_the_kept_data_holds(whole: Ran) -> None:
    told = {(line["scenario"], line["turn"]): line["changes"] for line in whole.of("changes")}
    paths = {place: [change["path"] for change in found] for place, found in told.items()}

    assert paths["about-page", 1] == ["pages.page-4", "sections.sec-9"]
    assert paths["delete-page", 1] == paths["delete-page", 3] == ["pages.page-4", "sections.sec-9"]
    assert paths["delete-page", 2] == []
    assert paths["blog-post", 4] == ["posts.post-5.status", "posts.post-5.publishedAt"]
    site = open_site(whole.folder / "data" / "about-page", clock=lambda: NOW)
    assert snapshot(site)["pages"]["page-4"]["slug"] == "about"
    site.connection.close()


def test_data_that_was_used_before_is_refused(whole: Ran) -> None:
    with pytest.raises(InputError) as caught:
        run(ASSISTANT, scenarios=["about-page"], data=whole.folder / "data")

    assert str(caught.value) == (
        f"--data: error[used-data]: `{whole.folder / 'data' / 'about-page'}` already exists\n"
        "  = scenarios start from fresh data: remove it, or name another folder"
    )


def test_every_unknown_scenario_is_named() -> None:
    with pytest.raises(InputError) as caught:
        run(ASSISTANT, scenarios=["abuot-page", "x"])

    assert str(caught.value) == (
        "--scenario: error[unknown-scenario]: there is no scenario `abuot-page`\n"
        "  = did you mean `about-page`?\n\n"
        "--scenario: error[unknown-scenario]: there is no scenario `x`\n"
        "  = known here: `about-page`, `blog-post`, `delete-page`, `every-tool-of-images`, "
        "`every-tool-of-navigation`, `every-tool-of-pages`, `every-tool-of-posts`, `every-tool-of-sections`, "
        "`slug-taken`"
    )


def test_a_model_that_does_not_exist_is_an_error_before_anything_runs() -> None:
    with pytest.raises(InputError, match=r"--model: error\[wrong-model\]: `nobody:nothing`"):
        run(ASSISTANT, model="nobody:nothing")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An assistant with a small server and two scenarios, of which one expects what does not come."""
    file = tmp_path / "assistant.yaml"
    server = f'command: ["{{python}}", "{QUICK_SERVER}"]\n  snapshot: ["{{python}}", -c, "print(\'{{\\"a\\": 1}}\')"]'
    agent = ROOT / "prompts" / "cms" / "agent.yaml"
    file.write_text(f"agent: {agent}\nscenarios: plays\nserver:\n  {server}\n", encoding="utf-8")
    (tmp_path / "plays").mkdir()
    (tmp_path / "plays" / "bad.yaml").write_text(BAD, encoding="utf-8")
    (tmp_path / "plays" / "good.yaml").write_text(GOOD, encoding="utf-8")
    return file


BAD = """\
title: It expects too much
now: "2026-11-20T09:00:00+00:00"
turns:
  - {user: Hello, answer: Hi.}
expect:
  a: 2
"""
GOOD = """\
title: A tool breaks
now: "2026-11-20T09:00:00+00:00"
turns:
  - user: Break something
    steps:
      - calls:
          - {tool: acknowledge, args: {message: Gladly.}}
          - {tool: tool_search, args: {query: boom, limit: 1}}
      - calls: [{tool: boom, fails: the tool broke}]
    answer: It broke.
"""


def test_a_scenario_that_does_not_go_as_it_says_fails_the_run_and_the_others_continue(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    ran = captured(Path("assistant.yaml"), small.parent)

    assert ran.code == 1
    assert ran.out.endswith("\n1 of 2 scenarios did not go as expected: bad\n")
    assert ("plays/bad.yaml:6:6: error[other-end]: `a` is 1 at the end, not 2\n  6 |   a: 2\n    |      ^\n") in ran.out
    assert "\x1b" not in ran.out


def test_a_server_that_dies_in_a_scenario_ends_the_run_with_its_last_words(small: Path) -> None:
    text = GOOD.replace("boom", "die").replace(", fails: the tool broke", "")
    (small.parent / "plays" / "good.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(ToolServerError, match="it said: out of memory"):
        captured(small, small.parent, scenarios=["good"])


def test_a_server_command_that_does_not_exist_is_named_with_the_file(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    text = small.read_text(encoding="utf-8").replace('command: ["{python}", ', "command: [no-such-server, ")
    small.write_text(text.replace("  snapshot", "  # snapshot"), encoding="utf-8")

    with pytest.raises(ToolServerError) as caught:
        run(Path("assistant.yaml"), scenarios=["good"])

    assert str(caught.value) == (
        "assistant.yaml: error[server-start]: the tool server cannot be started:"
        " `no-such-server`: no such file or directory\n"
        "  = install the command, or change `server.command`"
    )


def test_a_chat_keeps_the_history_and_ends_when_nothing_more_is_announced(small: Path, tmp_path: Path) -> None:
    asked: list[list[str]] = []
    events: list[Event] = []
    says = iter(["Hello", "  ", "And again", "Go on for ever", None])

    async def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        prompts = [p for m in messages for p in m.parts if isinstance(p, UserPromptPart)]
        asked.append([str(prompt.content) for prompt in prompts])
        if asked[-1][-1] == "Go on for ever":
            return ModelResponse([ToolCallPart("acknowledge", {"message": "Yes."})])
        return ModelResponse([TextPart(f"answer {len(asked)}")])

    assistant = read_assistant(small)
    engine = Engine.open(assistant.agent)
    asyncio.run(chat(assistant, engine, FunctionModel(decide), tmp_path, lambda: next(says), events.append))

    assert asked[:2] == [["Hello"], ["Hello", "And again"]]
    assert [(event.answer, event.stopped) for event in events if isinstance(event, TurnEnd)] == [
        ("answer 1", ""),
        ("answer 2", ""),
        ("", "no answer within 15 model requests"),
    ]
    assert len(asked) == 2 + 15


def test_what_came_went_and_changed_is_reported_at_the_first_place_where_it_shows() -> None:
    before = {"pages": {"p1": {"title": "A", "tags": ["x"]}, "p2": {"title": "B"}}, "posts": {}}
    after = {"pages": {"p1": {"title": "A!", "tags": ["x", "y"]}, "p3": {"title": "C"}}, "posts": {}}

    assert list(changes(before, after)) == [
        ContentChange("pages.p1.title", "A", "A!"),
        ContentChange("pages.p1.tags", ["x"], ["x", "y"]),
        ContentChange("pages.p2", {"title": "B"}, None),
        ContentChange("pages.p3", None, {"title": "C"}),
    ]


@pytest.mark.parametrize(
    "event", [TurnEnd("s", 1, "\x1b[2Jhi"), ContentChanges("s", 1, (ContentChange("\x1b[2J", 1, 2),))]
)
def test_nothing_that_is_shown_can_take_over_the_terminal(event: Event) -> None:
    out = io.StringIO()

    View(Console(file=out, force_terminal=True, color_system=None))(event)

    assert "\x1b[2J" not in out.getvalue()
    assert "‹U+001B›[2J" in out.getvalue()


def test_colours_are_for_terminals_and_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown() -> str:
        out = io.StringIO()
        View(Console(file=out, force_terminal=True))(TurnEnd("s", 1, "hi"))
        return out.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = shown()
    monkeypatch.setenv("NO_COLOR", "1")

    assert "\x1b[36m" in coloured
    assert "\x1b[36m" not in shown()
