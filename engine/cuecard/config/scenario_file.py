"""Scenario files: a conversation written down, played by a scripted model against the real tools.

A scenario states what the user writes and what the model decides. The answers of tools are never written down: a call
names the part of the answer to keep (`save`), and later calls use it as `${name.key}` (see
`cuecard.config.values.references`).
"""

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.documents.yaml_text import Document, Path
from cuecard.config.values.moment import Moment
from cuecard.config.values.names import Name, ToolName
from cuecard.config.values.references import names_used
from cuecard.errors import Problem, did_you_mean
from cuecard.model import Json
from cuecard.records import dataclass


class CallEntry(FileModel):
    """One tool call that the model decides on."""

    tool: ToolName = Field(description="the tool's name; it must be shown to the model in this step")
    args: dict[str, Json] = Field(default_factory=dict, description="its arguments; `${name.key}` is a saved value")
    save: dict[Name, str] = Field(
        default_factory=dict, description="name to the path of a value in the result, such as `page` or `data.0.id`"
    )
    fails: str = Field("", description="a text that the error contains, for a call that is expected to fail")


class StepEntry(FileModel):
    """One decision of the model: a thought, and one or more parallel calls."""

    think: str = Field("", description="the model's reasoning before it acts")
    calls: list[CallEntry] = Field(min_length=1, description="the tools it calls, all at once")


class TurnEntry(FileModel):
    """One message of the user, and everything the assistant does about it."""

    user: str = Field(description="what the user writes")
    steps: list[StepEntry] = Field(default_factory=list, description="the model's decisions, step by step")
    answer: str = Field(description="the assistant's final answer; `${name.key}` is a saved value")


class ScenarioFile(FileModel):
    """One conversation."""

    title: str = Field(description="what happens, in a few words")
    now: Moment = Field(description="the time, ISO 8601 with a zone")
    turns: list[TurnEntry] = Field(min_length=1, description="the conversation, turn by turn")
    expect: dict[str, Json] = Field(
        default_factory=dict,
        description="path in the server's snapshot to the expected value at the end; null if there is none",
    )


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario with its name (the file's, without the ending) and its text, so that errors can point into it."""

    name: str
    file: ScenarioFile
    document: Document


def unsaved_names(scenario: Scenario) -> list[Problem]:
    """An error for each reference to a name that no earlier step has saved."""
    problems: list[Problem] = []
    saved: list[str] = []
    for number, turn in enumerate(scenario.file.turns):
        for place, step in enumerate(turn.steps):
            path: Path = ("turns", number, "steps", place, "calls")
            for index, call in enumerate(step.calls):
                problems += _unsaved(scenario, call.args, (*path, index, "args"), saved)
            saved += [name for call in step.calls for name in call.save]
        problems += _unsaved(scenario, turn.answer, ("turns", number, "answer"), saved)
    return [*problems, *_unsaved(scenario, scenario.file.expect, ("expect",), saved)]


def _unsaved(scenario: Scenario, value: Json, path: Path, saved: list[str]) -> list[Problem]:
    hint = "save it in an earlier step: `save: {name: path.in.the.result}`"
    return [
        scenario.document.problem(
            (*path, *inner), "unsaved-name", f"no earlier step saves `{name}`", did_you_mean(name, saved) or hint
        )
        for inner, name in names_used(value)
        if name not in saved
    ]
