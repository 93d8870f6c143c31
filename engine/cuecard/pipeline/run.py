"""What a run may still do: its limits, what counts against them, and what they refuse."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from cuecard.config.agent_file import RunSpec
from cuecard.config.values import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import Problem
from cuecard.model import CallRun, ResultRecord, RunLimits, ToolResult
from cuecard.records import dataclass, replace


def limits_of(spec: RunSpec, over: RunLimits) -> RunLimits:
    """The limits of an agent file, overridden by those of a turn."""
    return RunLimits(
        steps=_first(over.steps, spec.steps),
        retries=_first(over.retries, spec.retries),
        failures=_first(over.failures, spec.failures),
        kept_tools=_first(over.kept_tools, spec.kept_tools),
        first_tool=_first(over.first_tool, spec.first_tool) or None,
        force_first=_first(over.force_first, spec.force_first) or None,
        always=_first(over.always, spec.always) or None,
    )


def _first(over: Any, own: Any) -> Any:
    return own if over is None else over


def not_forced(model: str, tool: str, place: str) -> Problem:
    """The problem of a model that cannot be forced to call a tool."""
    told = f"`{model}` cannot be forced to call `{tool}`: it refuses such a `tool_choice`"
    hint = "write `force_first: false` under `run`: other calls are refused until then all the same"
    return Problem("forced-tool", told, hint, place)


def last_call_id(results: Sequence[ToolResult | ResultRecord]) -> str | None:
    """The call id of the last result that has one."""
    return next((result.call_id for result in reversed(results) if result.call_id is not None), None)


@dataclass(frozen=True)
class Tally:
    """What the results of a conversation count against the limits of a run.

    Attributes:
        run: where the run begins.
        results: how many results there were in all.
        failures: how many of them have failed.
        requests: how many requests the run's results have answered.
        batch: what its last results have in common; None if nothing is known.
        failed: how often each tool has failed in the run.
        called: the tools that have a result in the run.
        begun: whether results of the run, or the one before it, were read.
    """

    run: CallRun = field(default_factory=CallRun)
    results: int = 0
    failures: int = 0
    requests: int = 0
    batch: str | None = None
    failed: Mapping[str, int] = field(default_factory=dict)
    called: frozenset[str] = frozenset()
    begun: bool = False

    @classmethod
    def before(cls, run: CallRun) -> Tally:
        """The tally as a run begins, to which all results are added, those before it among them, or only its own."""
        return cls(run, run.results, run.failures)

    def earlier(self, results: Sequence[ResultRecord]) -> int:
        """How many of these results came before the run: none where earlier ones were added before."""
        run = self.run
        if self.begun or not run.results:
            return 0
        if len(results) >= run.results and last_call_id(results[: run.results]) == run.since:
            return run.results
        if run.since is None:
            return 0
        return next((at for at in range(len(results), 0, -1) if results[at - 1].call_id == run.since), 0)

    def more(self, results: Sequence[ResultRecord], earlier: int) -> Tally:
        """The tally with later results, of which so many came before the run."""
        new = results[earlier:]
        if not new:
            return replace(self, begun=True) if results and not self.begun else self
        requests, batch, failed = self.requests, self.batch, dict(self.failed)
        for result in new:
            together = result.beside or (result.batch is not None and result.batch == batch)
            requests, batch = requests + (not together), result.batch
            if result.is_error:
                failed[result.tool] = failed.get(result.tool, 0) + 1
        return Tally(
            self.run,
            results=self.results + len(new),
            failures=self.failures + sum([result.is_error for result in new]),
            requests=requests,
            batch=batch,
            failed=failed,
            called=self.called.union([result.tool for result in new]),
            begun=True,
        )


NO_TALLY = Tally()


class Verdict(NamedTuple):
    """What the limits of a run say of its next request.

    Attributes:
        stopped: why it must not be sent; empty if it may.
        forced: the tool that it must force the model to call; empty for none.
        limited: the answers to calls of tools that have failed too often.
        others: the answer to calls of all others, where those are refused; empty where they are not.
        first: the tool that has to be called before those.
        always: tools that are never refused.
    """

    stopped: str
    forced: str
    limited: Mapping[str, str]
    others: str
    first: str
    always: tuple[str, ...]


NO_LIMITS = RunLimits()


def verdict_of(limits: RunLimits, tally: Tally, active: Collection[str], words: WordsSpec) -> Verdict:
    """What the limits say of the next request.

    Args:
        limits: the limits of the run.
        tally: what counts against them.
        active: the tools that are active.
        words: the engine's texts.
    """
    steps, said = limits.steps, words.tools
    spent = limits.failures is not None and tally.failures >= limits.failures
    first = limits.first_tool if limits.first_tool in active and limits.first_tool not in tally.called else None
    others = ""
    if spent:
        others = fill(said.spent, {"count": str(tally.failures)})
    elif first:
        others = fill(said.first, {"first": words.quoted(first)})
    return Verdict(
        stopped=f"run.steps: {steps}" if steps is not None and tally.requests >= steps else "",
        forced=first if first and limits.force_first and not tally.requests and not spent else "",
        limited={
            tool: fill(said.failed, {"tool": words.quoted(tool), "count": str(count)})
            for tool, count in tally.failed.items()
            if limits.retries is not None and count > limits.retries
        },
        others=others,
        first=first if first and not spent else "",
        always=limits.always or (),
    )
