"""A model that plays a scenario: it decides what the scenario says, and everything else is real.

It behaves as a model must: it calls only tools that are shown to it in this step, and it knows earlier results only
from the messages it is sent. Where the conversation does not go as written, the play stops with an error that points
into the scenario file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.config.documents.document import Path
from cuecard.config.scenario_file import CallEntry, Scenario, UnresolvedError, resolve, resolved_at
from cuecard.errors import SpecError, did_you_mean
from cuecard.model import Json, ToolResult
from cuecard.workbench.run.assistant import FINAL_ANSWER

PROFILE = ModelProfile(supports_inline_system_prompts=True, tool_addition_mode="with_definitions")
"""System messages and tools in the middle of a conversation are taken as they are, as the larger models of today do."""


def scripted_model(scenario: Scenario, turn: int) -> FunctionModel:
    """The model that plays one turn of a scenario, counted from 0; it keeps nothing between its steps."""
    return FunctionModel(Script(scenario, turn).decide, model_name=f"scripted:{scenario.name}", profile=PROFILE)


@dataclass(frozen=True, slots=True)
class Script:
    """One turn of a scenario, as decisions."""

    scenario: Scenario
    turn: int

    async def decide(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """What the model does next.

        Raises:
            SpecError: when the scenario calls a tool that is not shown, uses a value that is not there, or expects
                another outcome of an earlier call.
        """
        results = tool_results(messages)
        check_outcomes(self.scenario, results)
        saved = saved_values(self.scenario, results)
        shown = shown_names(info)
        turn, run_id = self.scenario.file.turns[self.turn], messages[-1].run_id
        number = sum(isinstance(message, ModelResponse) and message.run_id == run_id for message in messages)
        if number >= len(turn.steps):
            path: Path = ("turns", self.turn, "answer")
            answer = resolve_at(self.scenario, path, turn.answer, saved)
            if all(tool.name != FINAL_ANSWER for tool in info.output_tools):
                return ModelResponse([TextPart(str(answer))])
            return ModelResponse([ToolCallPart(FINAL_ANSWER, {"answer": answer}, f"t{self.turn + 1}-answer")])
        self._check_read(number, messages, info)
        step, path = turn.steps[number], ("turns", self.turn, "steps", number, "calls")
        calls = [self._call((*path, index), call, saved, shown) for index, call in enumerate(step.calls)]
        return ModelResponse([*([ThinkingPart(step.think)] if step.think else []), *calls])

    def _check_read(self, number: int, messages: Sequence[ModelMessage], info: AgentInfo) -> None:
        """Hold what the model was sent against what the scenario says that it reads.

        Raises:
            SpecError: with every text that is in no message.
        """
        sent = [
            info.instructions or "",
            *(str(getattr(part, "content", "")) for each in messages for part in each.parts),
        ]
        problems = [
            self.scenario.document.problem(
                ("turns", self.turn, "steps", number, "reads", at), "not-read", f"the model was not sent `{text}`"
            )
            for at, text in enumerate(self.scenario.file.turns[self.turn].steps[number].reads)
            if not any(text in each for each in sent)
        ]
        if problems:
            raise SpecError(problems)

    def _call(self, path: Path, call: CallEntry, saved: Mapping[str, Json], shown: Collection[str]) -> ToolCallPart:
        if call.tool not in shown:
            message = f"`{call.tool}` is not shown to the model in this step"
            hint = f"{did_you_mean(call.tool, shown)}\nlet an earlier step find it with the search tool"
            problem = self.scenario.document.problem((*path, "tool"), "hidden-tool", message, hint)
            raise SpecError(problem)
        arguments = resolve_at(self.scenario, (*path, "args"), call.args, saved)
        return ToolCallPart(call.tool, arguments, call_id(path))


def shown_names(info: AgentInfo) -> list[str]:
    """The tools that a request shows: in its list, or in its messages where they were found."""
    asked = info.model_request_parameters
    shown = {"visible", "via_history"}
    found = [tool.name for tool in asked.function_tools if asked.visibility_of(tool.name) in shown]
    return [*found, *(tool.name for tool in info.output_tools)]


def check_outcomes(scenario: Scenario, results: Iterable[ToolResult]) -> None:
    """Hold what happened against what the scenario says.

    Raises:
        SpecError: with every call that failed unexpectedly, and every one that was meant to fail and did not.
    """
    problems = [
        scenario.document.problem((*path, "fails" if call.fails else "tool"), "other-outcome", message)
        for path, call, result in _played(scenario, results)
        if (message := _surprise(call, result))
    ]
    if problems:
        raise SpecError(problems)


def saved_values(scenario: Scenario, results: Iterable[ToolResult]) -> dict[str, Json]:
    """What the calls have saved so far, by name.

    Raises:
        SpecError: when a result does not hold what the scenario saves of it.
    """
    saved: dict[str, Json] = {}
    for path, call, result in _played(scenario, results):
        for name, place in call.save.items():
            try:
                saved[name] = resolved_at(_parsed(result.result), place)
            except UnresolvedError as error:
                raise _unresolved(scenario, (*path, "save", name), error) from None
    return saved


def resolve_at(scenario: Scenario, path: Path, value: Json, saved: Mapping[str, Json]) -> Json:
    """The value, written at this path of the scenario, with its references replaced.

    Raises:
        SpecError: when a reference stands for nothing.
    """
    try:
        return resolve(value, saved)
    except UnresolvedError as error:
        raise _unresolved(scenario, path, error) from None


def call_id(path: Path) -> str:
    """The id of the call written at this path: `t1-s2-c1` is the first call of the second step of the first turn."""
    turn, step, call = (part + 1 for part in path if isinstance(part, int))
    return f"t{turn}-s{step}-c{call}"


def _played(scenario: Scenario, results: Iterable[ToolResult]) -> Iterator[tuple[Path, CallEntry, ToolResult]]:
    by_id = {result.call_id: result for result in results}
    for number, turn in enumerate(scenario.file.turns):
        for place, step in enumerate(turn.steps):
            for index, call in enumerate(step.calls):
                path: Path = ("turns", number, "steps", place, "calls", index)
                if result := by_id.get(call_id(path)):
                    yield path, call, result


def _surprise(call: CallEntry, result: ToolResult) -> str:
    said = result.result if isinstance(result.result, str) else json.dumps(result.result, ensure_ascii=False)
    if result.is_error and not call.fails:
        return f"`{call.tool}` failed: {said}"
    if call.fails and not result.is_error:
        return f"`{call.tool}` should have failed, but returned {said}"
    return f"`{call.tool}` failed with a different error: {said}" if call.fails not in said else ""


def _parsed(result: Json) -> Json:
    """Errors come as text that may hold JSON."""
    try:
        return json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return result


def _unresolved(scenario: Scenario, path: Path, error: UnresolvedError) -> SpecError:
    return SpecError(scenario.document.problem(path, "unresolved-value", str(error), error.hint))
