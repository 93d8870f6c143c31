"""The promises in the conversations that hosts really have, drawn by one machine whose rules are what hosts do.

`CUECARD_CONVERSATIONS=1000` draws so many conversations; the suite draws a few.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from cuecard import Call, ConversationState, Engine, Entity, Memory, Message, Step, ToolResult, Turn
from cuecard.adapters.bodies import reminder
from cuecard.types import Diagnostic, ToolCall
from property.engines import opened
from property.hosts import Json, serialized, shapes

TOOLS = ("t_1", "t_2", "t_3", "t_4", "t_5")
CORE = ("tool_search", "final_answer")
SHAPES = shapes((*TOOLS[::-1], *CORE))
START = datetime(2026, 11, 20, 20, tzinfo=UTC)
TEMPLATE = """\
<agent>
<role>
Role {role}.
</role>
<memory>
{{{{{{workingMemory}}}}}}
</memory>
<today>
{{{{currentDate}}}}
</today>
<usage>
{{{{{{activeProtocols}}}}}}
</usage>
</agent>
"""
HISTORIES: tuple[Json, ...] = (
    {},
    {},
    {"history": {"policy": "last", "limit": 6}},
    {"history": {"policy": "blocks", "limit": 8, "block": 4, "summarize": "never"}},
    {"history": {"policy": "window", "load": 8, "keep": 6, "on_overflow": 4, "summarize": "never"}},
)

NAMES = st.lists(st.sampled_from(("t_1", "t_2", *TOOLS)), min_size=1, max_size=3)
SEARCHES = st.lists(st.tuples(NAMES, st.sampled_from(["names", "mcp", "text", "error"])), min_size=1, max_size=11)
GONE = st.sampled_from([set[str](), {"t_1"}, {"t_2"}, {"t_1", "t_2"}, {"t_4", "t_5"}])


@cache
def engine_of(role: int, variants: tuple[int, ...], delivery: str, policy: str, history: str) -> Engine:
    """The engine of one state of the files; a tool of variant 0 has no instructions."""
    told = {n: _instructions(n, v) for n, v in zip((*TOOLS, *CORE), (*variants, 1, 1), strict=True) if v}
    described = {name: {"description": name} for name in TOOLS if name not in told}
    tools = {"instructions": "t.yaml", "core": [*CORE]}
    spec = {"agent": "a", "template": "a.xml", "tools": tools, "delivery": delivery, "reload": policy}
    texts = {
        "agent.yaml": json.dumps(spec | json.loads(history)),
        "a.xml": TEMPLATE.format(role=role),
        "t.yaml": json.dumps({"tools": told, "described": described}),
    }
    return opened(texts)


def _instructions(name: str, variant: int) -> Json:
    return {"before": "None required", "after": f"Say {variant} of {name}", "next": "none", "gotcha": "none"}


class Conversations(RuleBasedStateMachine):
    """One conversation, its requests in every provider's form, and what a reader of the promises expects of them."""

    @initialize(
        delivery=st.sampled_from(["append", "append", "append", "frozen", "auto"]),
        history=st.sampled_from(HISTORIES),
        policy=st.sampled_from(["next-call", "next-call", "next-call", "now"]),
        ids=st.sampled_from([True, True, False]),
    )
    def begin(self, delivery: str, history: Json, policy: str, *, ids: bool) -> None:
        self.files: dict[str, Any] = {"role": 0, "variants": (1, 1, 1, 1, 0)}
        self.fixed: dict[str, Any] = {"delivery": delivery, "policy": policy, "history": json.dumps(history)}
        self.hands_over = bool(history)
        self.policy = policy
        self.engine = self.newest()
        self.chat = self.engine.conversation()
        self.now, self.messages, self.run = START, list[Message](), list[Message]()
        self.history, self.untold = list[ToolResult](), list[ToolResult]()
        self.step: Step | None = None
        self.call: Call | None = None
        self.sent: dict[str, str] = {}
        self.gone: set[str] = set()
        self.found, self.told = set[str](), set[str]()
        self.kept: int | None = None
        self.ids = 0
        self.names_calls = ids
        self.fresh = list[ToolResult]()
        self.asks = True

    def newest(self) -> Engine:
        return engine_of(**self.files, **self.fixed)

    # What hosts do.

    @rule(
        words=st.sampled_from(["hello", "go on", "yes", "PASTE", "PASTE BLOCK", "PASTE"]),
        pages=st.lists(st.sampled_from([Entity("page", f"p{n}", f"Page {n}") for n in range(3)]), max_size=2),
        gone=GONE,
        hours=st.sampled_from([0, 0, 1, 5]),
        stored=st.booleans(),
        model=st.sampled_from(["", "claude-opus-4-8", "claude-sonnet-5", "gpt-5", "qwen3-32b", "nobody-knows-it"]),
        ahead=st.sampled_from([(), (), ("t_2",), ("t_5", "t_3")]),
    )
    @precondition(lambda self: self.asks)
    def user_speaks(
        self,
        words: str,
        pages: list[Entity],
        gone: set[str],
        hours: int,
        model: str,
        ahead: tuple[str, ...],
        *,
        stored: bool,
    ) -> None:
        self.now += timedelta(hours=hours)
        self.engine = self.newest()
        state = self.chat.state
        if stored:
            state = ConversationState.from_json(json.loads(json.dumps(self.chat.to_json())))
        self.chat = self.engine.conversation(state)
        self.gone, self.asks = gone, False
        said = Message("user", self._words(words))
        turn = Turn(memory=Memory(tuple(pages)), now=self.now, tools=self._there(), model=model, ahead=ahead)
        if self.hands_over:
            turn = replace(turn, messages=tuple(self.messages), message=said)
        self.before = state, list(self.history), self.untold
        self.turn, self.resumed = turn, self.kept
        self._prepare(turn)
        if self.call and self.call.delivery.name == "append":  # under `frozen` nothing is left to find
            self.found.update({*ahead} & {*self._there()})
        self.messages.append(said)
        self.run_from = len(self.messages)
        self.kept = None
        self._ask(new=True)

    @rule(searches=SEARCHES)
    @precondition(lambda self: self.step and not self.asks)
    def model_searches(self, searches: list[tuple[list[str], str]]) -> None:
        self._answered([self._search(names, how) for names, how in searches])
        self._ask()

    @rule(count=st.integers(1, 11), fails=st.booleans())
    @precondition(lambda self: self.step and not self.asks)
    def model_calls_tools(self, count: int, fails: bool) -> None:  # noqa: FBT001 - Hypothesis passes by name
        self._answered([ToolResult("t_1", {"ok": True}, self._id(), is_error=fails and not n) for n in range(count)])
        self._ask()

    @rule()
    @precondition(lambda self: self.step and not self.asks)
    def model_answers(self) -> None:
        self.messages.append(Message("assistant", "done"))
        self.asks = True

    @rule(search=st.booleans())
    @precondition(lambda self: self.step and not self.asks)
    def model_ends_with_a_tool(self, search: bool) -> None:  # noqa: FBT001 - Hypothesis passes by name
        """The turn ends with a result that no request has held; some hosts put the next words into its message."""
        more = [self._search(["t_2"], "names")] if search else []
        self._answered([*more, ToolResult("final_answer", "done", self._id())])
        self.untold += self.fresh
        self.fresh = []
        self.told |= self.found & set(self._there())  # discovered while they existed: told behind their result
        self.asks = True

    @rule(role=st.integers(0, 1), variants=st.tuples(*[st.sampled_from([1, 1, 2, 0])] * 5))
    @precondition(lambda self: self.step)
    def somebody_edits_the_files(self, role: int, variants: tuple[int, ...]) -> None:
        self.files = {"role": role, "variants": variants}
        if self.policy != "now" or self.asks or self.newest() is self.engine:
            return
        self.engine = self.newest()
        state, history, self.untold = self.before
        self.chat = self.engine.conversation(state)
        told = Diagnostic("configuration_changed", "now: another configuration within a run")
        self.turn = replace(self.turn, diagnostics=(told,))
        later, self.history, self.kept = self.history[len(history) :], [*history], self.resumed
        self._prepare(self.turn)
        self.kept = None
        self.history += later
        self._ask(new=True, results=later)

    @rule()
    @precondition(lambda self: self.asks and self.step and not self.hands_over)
    def host_compacts(self) -> None:
        self.messages = [Message("user", "What was said so far: much."), Message("assistant", "I see.")]
        self.chat.compacted(kept=1)
        self.kept = 1

    # How they do it.

    def _words(self, words: str) -> str:
        """What the user says: sometimes what a block says, word by word."""
        if not words.startswith("PASTE") or self.step is None or not self.step.appended:
            return words
        block = self.step.appended[-1 - len(self.messages) % 2 % len(self.step.appended)].text
        return block if words == "PASTE BLOCK" else reminder(block)

    def _there(self) -> tuple[str, ...]:
        return tuple(name for name in self.engine.tools if name not in self.gone)

    def _id(self) -> str:
        self.ids += 1
        return f"call-{self.ids}"

    def _search(self, names: list[str], how: str) -> ToolResult:
        text = json.dumps({"tools": names})
        found: Any = {"mcp": [{"type": "text", "text": text}], "text": text}.get(how, {"tools": names})
        if how != "error":
            self.found.update(names)
        return ToolResult("tool_search", found, self._id(), is_error=how == "error")

    def _answered(self, results: list[ToolResult]) -> None:
        calls = tuple(ToolCall(r.call_id or "", r.tool) for r in results)
        self.messages.append(Message("assistant", "", calls))
        self.messages += [Message("tool", json.dumps(r.result), tool_call_id=r.call_id) for r in results]
        if not self.names_calls:  # the provider has ids, and the host does not pass them on
            results = [replace(result, call_id=None) for result in results]
        self.history += results
        self.fresh += results

    def _prepare(self, turn: Turn) -> None:
        previous, remembered = self.chat.call, self.chat.memory
        self.call = self.chat.user(turn, self.untold)
        again = self.engine.prepare_call(
            turn if turn.memory.entities else replace(turn, memory=remembered),
            self.history,
            previous=previous and Call.from_json(previous.to_json()),
            compacted=self.kept is not None,
            kept=self.kept or 0,
        )
        assert self.call == again  # same inputs, same bytes: rebuilt from plain history
        self.untold = []

    def _ask(self, *, new: bool = False, results: list[ToolResult] | None = None) -> None:
        """The next request."""
        assert self.call is not None
        step = self.chat.step(results or (self.history if self.names_calls else self.fresh))
        self.fresh = []
        assert step == self.engine.prepare_step(self.call, self.history)
        handed = [m for m in step.messages if m.persist] if self.hands_over else self.messages[: self.run_from]
        conversation = [*handed, *self.messages[self.run_from :]]
        cuts = [cut for cut in step.manifest.cuts if cut.what == "baseline"]
        self._is_append_only(step, conversation, recorded=new and any(cut.reason for cut in cuts))
        self._is_all_and_only_what_was_discovered(step, baseline=new and bool(cuts or self.step is None))
        _adds_up(step, self.engine)
        self.step = step

    # What holds.

    def _is_append_only(self, step: Step, conversation: list[Message], *, recorded: bool) -> None:
        """Promise 5, and that blocks stand once, however often they are placed.

        Where results have no call ids, nothing tells the places of blocks: only the system prompt has to stay, and all
        of them to be there.
        """
        assert recorded or self.step is None or step.system == self.step.system
        blocks = [json.dumps(block.text)[1:-1] for block in step.appended]
        said = [json.dumps(message.content)[1:-1] for message in conversation if message.role == "user"]
        forms = {form: form(conversation) for form in {shape.form for shape in SHAPES}}
        for shape in SHAPES:
            body = shape.request(step, forms[shape.form])
            text = serialized(body)
            assert recorded or not self.names_calls or text.startswith(self.sent.get(shape.name, "")), shape.name
            assert not self.names_calls or shape.again(step, body) == body, shape.name
            assert all(block in text for block in blocks), shape.name
            assert all(words in text for words in said), shape.name
            self.sent[shape.name] = text

    def _is_all_and_only_what_was_discovered(self, step: Step, *, baseline: bool) -> None:
        """Promise 1: a section for each tool that is shown, whether it was withdrawn since or not, and for no other."""
        there, protocols = set(self._there()), self.engine.agent.protocols
        frozen = step.manifest.delivery.name == "frozen"
        shown = there if frozen else {*CORE, *self.found} & there
        if baseline:  # there is a search only where an available tool is not active
            assert step.offers_search is bool(there - shown)
        shown = shown if step.offers_search else shown - {"tool_search"}
        assert set(step.active_tools) == shown
        self.told = shown if baseline else self.told | shown
        text = step.system + "".join(block.text for block in step.appended)
        said = {name for name in TOOLS if f"<{name}>\n" in text}
        assert {name for name in shown if name in protocols and name in TOOLS} <= said <= self.told
        cut = {cut.what for cut in step.manifest.cuts}
        assert self.found - there - {*TOOLS}.intersection(step.active_tools) <= cut  # no silent cut


def _adds_up(step: Step, engine: Engine) -> None:
    """Promise 6."""
    manifest = step.manifest
    assert engine.count(step.system) == manifest.tokens.system == sum(s.tokens for s in step.segments)
    assert manifest.tokens.appended == sum(engine.count(block.text) for block in step.appended)
    assert manifest.total_tokens == manifest.tokens.system + manifest.tokens.messages + manifest.tokens.appended


TestConversations = Conversations.TestCase
TestConversations.settings = settings(
    max_examples=int(os.environ.get("CUECARD_CONVERSATIONS", settings().max_examples)), stateful_step_count=20
)


def test_a_tool_that_was_withdrawn_at_a_baseline_is_defined_with_the_message_that_brings_it_back() -> None:
    talk = Conversations()
    usual: dict[str, Any] = {"hours": 0, "model": "", "pages": [], "stored": False, "words": "hello"}
    talk.begin(delivery="append", history={}, policy="next-call", ids=True)
    for ahead, gone in (((), set()), (("t_2",), set()), ((), {"t_2"}), ((), set())):
        if ahead or gone:
            talk.host_compacts()
        talk.user_speaks(ahead=ahead, gone=gone, **usual)
        talk.model_answers()
