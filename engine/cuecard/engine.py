"""The pipeline on one screen: open, prepare a call, prepare its steps, search for tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from cuecard.agent import Agent, build_agent
from cuecard.budget import fit
from cuecard.conversation import continue_conversation
from cuecard.delivery import deliver
from cuecard.errors import Problem
from cuecard.inputs import check_inputs
from cuecard.manifest import make_manifest
from cuecard.model import Call, Clock, Delivery, History, Memory, SearchResult, Step, ToolCard, Turn
from cuecard.outside.clock import utc_now
from cuecard.outside.folder import read_agent
from cuecard.outside.tokens import TokenCounter, bundled_counter
from cuecard.plan import discover_more, plan_tools
from cuecard.render import make_segments, render_sections
from cuecard.sections.entities import remember
from cuecard.tools import SearchIndex


@dataclass(frozen=True)
class Engine:
    """An immutable snapshot of one agent: safe to share between threads and tasks. It keeps nothing between calls."""

    agent: Agent
    delivery: Delivery
    count: TokenCounter
    clock: Clock

    @classmethod
    def open(cls, path: str | Path, *, delivery: Delivery | None = None, clock: Clock = utc_now) -> Engine:
        """Read and check the agent at `path`: its YAML file, or a folder with `agent.yaml`.

        Args:
            path: the agent file.
            delivery: overrides the agent file's `delivery`.
            clock: asked for the time when a turn does not say.

        Raises:
            SpecError: with every problem of every file of the agent.
        """
        agent = build_agent(read_agent(path))
        return cls(agent, delivery or agent.spec.delivery, bundled_counter(agent.spec.tokens.encoding), clock)

    @property
    def tools(self) -> Mapping[str, ToolCard]:
        """The catalogue: every tool the agent could use, by name."""
        return self.agent.catalogue

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What the check of the files found and let pass."""
        return self.agent.warnings

    def with_tools(self, cards: Iterable[ToolCard]) -> Engine:
        """The same engine, knowing what a tool server says about its tools (descriptions, input schemas)."""
        return replace(self, agent=self.agent.with_catalogue(self.agent.catalogue.merged(cards)))

    def prepare_call(self, turn: Turn | None = None, history: History = (), *, previous: Call | None = None) -> Call:
        """The prompt of one run for one user message, as plain data that travels with the host.

        Args:
            turn: what the host knows of this call.
            history: tool results of the conversation so far, oldest first.
            previous: the conversation's call before this one. With it, `append` delivery keeps the system prompt of
                the first call and sends what changed as a block; without it, the call begins anew.

        Raises:
            InputError: with every missing, unknown or wrong input.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        turn = turn or Turn()
        values = check_inputs(self.agent, turn, turn.now or self.clock())
        before = previous.discovered if previous else ()
        plan = plan_tools(self.agent, turn, history, before, frozen=self.delivery == "frozen")
        texts = render_sections(self.agent, self.agent.sections, values.values, plan.initial)
        segments = make_segments(self.agent.sections, texts, self.count)
        call = Call(
            agent=self.agent.spec.agent,
            spec_sha256=self.agent.sha256,
            delivery=self.delivery,
            segments=segments,
            values=values.values,
            tools=plan.tools,
            initial=plan.initial,
            discovered=plan.discovered,
            cuts=(*values.cuts, *plan.cuts),
            trust=values.trust,
            tokens=self.count.source,
            reload=turn.reload,
            shown={segment.id: segment.text for segment in segments},
        )
        if previous is None or self.delivery == "rewrite":
            return call
        return continue_conversation(self.agent, call, previous, history, self.count)

    def prepare_step(self, call: Call, history: History = ()) -> Step:
        """The whole desired state of the next model request: a pure function of its arguments.

        Args:
            call: what `prepare_call` gave.
            history: tool results so far, oldest first: of this run, or of the whole conversation.
        """
        discovered, dropped = discover_more(self.agent, call.tools, call.initial, history, call.discovered)
        give = partial(deliver, self.agent, call, count=self.count)
        budget, protocols = self.agent.spec.budget, self.agent.protocols
        delivered, shown, cuts = fit(discovered, give, budget, protocols, self.count, sent=call.sent_tools)
        manifest = make_manifest(self.agent, call, delivered, shown, discovered, (*dropped, *cuts), self.count)
        system = "".join(segment.text for segment in delivered.segments)
        return Step(system, delivered.segments, delivered.appended, manifest.active_tools, manifest)

    def search_tools(self, query: str, limit: int | None = None) -> SearchResult:
        """The tools that fit a capability, best first; none when nothing fits well enough.

        Raises:
            InputError: when `limit` is out of range.
        """
        search = self.agent.spec.tools.search
        hint = f"Read their instructions in {self.agent.protocol_place} before you call them."
        wanted = search.limit if limit is None else limit
        return self._index.search(query, wanted, threshold=search.confidence, found_hint=hint)

    def remember(self, memory: Memory, results: History) -> Memory:
        """The working memory after these tool results, by the agent file's `memory.extract` rules."""
        return remember(memory, results, self.agent.spec.memory)

    @cached_property
    def _index(self) -> SearchIndex:
        core = self.agent.spec.tools.core
        return SearchIndex.build([card for name, card in self.agent.catalogue.items() if name not in core])
