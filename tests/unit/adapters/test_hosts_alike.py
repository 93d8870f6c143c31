"""What every framework's host can rely on: its errors, its tools' own words, its files while they change."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import sleep
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from cuecard import Conversation, Engine, InputError, Pins, ToolCard, ToolResult, Turn, watch
from cuecard.adapters import pydantic_ai
from cuecard.adapters.conversations import anew, found_so_far, in_doubt, search
from cuecard.adapters.host import EngineDoor, HostTool
from cuecard.types import Diagnostic, SearchResult
from unit.adapters.alike import HOSTS, Host, LangChain, LiteLlm, PydanticAi, shop
from unit.adapters.model_server import Calls
from unit.reload.demo import QUICK

SECRET = "postgres://user:s3cret@db/prod"  # noqa: S105 - of nobody
RUNNING = [each for each in HOSTS if each.handles_errors]
"""The frameworks that run tools themselves; a host of LiteLLM does that, and nobody stands between."""


def boom() -> str:
    """Do something dangerous."""
    raise KeyError(SECRET)


def causes(error: BaseException | None) -> list[BaseException]:
    return [error, *causes(error.__cause__)] if error else []


@pytest.mark.parametrize("framework", RUNNING)
@pytest.mark.parametrize("entry", [True, False])
def test_what_a_tool_raises_is_the_hosts_as_without_cuecard(
    framework: type[Host],
    entry: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    path = shop(tmp_path, *(["boom"] if entry else []), core="tool_search, boom" if entry else "tool_search")
    host = framework(Engine.open(path), [boom], [[("boom", {})]])

    with pytest.raises(Exception, match="s3cret") as raised:
        host.say("hello")

    assert KeyError in map(type, causes(raised.value))
    assert SECRET not in str(host.results)


HANDLINGS: list[Any] = [
    (True, "KeyError"),
    ("Try later.", "Try later."),
    (lambda error: type(error).__name__ + "!", "KeyError!"),
]


@pytest.mark.parametrize(
    ("framework", "handling", "told"),
    [(framework, *HANDLINGS[(number + 1) % 3]) for number, framework in enumerate(RUNNING)],
)
def test_a_host_may_have_the_model_read_of_it(framework: type[Host], handling: Any, told: str, tmp_path: Path) -> None:
    host = framework(Engine.open(shop(tmp_path)), [boom], [[("boom", {})]], {"handle_tool_errors": handling})

    host.say("hello")

    ((tool, result),) = host.results[1]
    assert tool == "boom"
    assert told in result
    assert SECRET not in str(host.results)


def test_only_a_wrong_limit_is_told_as_one(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path, "refund_order"))
    chat = engine.conversation()
    chat.user()
    shop(tmp_path, "refund_order", "cancel_order")

    for limit in (0, 51):
        told = f"a search cannot return {limit} tools: ask for 1 to 50 tools; 8 are usual"
        assert search(engine, chat, "refund", limit) == told
    with pytest.raises(InputError) as raised:
        search(Engine.open(tmp_path), chat, "refund", None)
    assert [problem.code for problem in raised.value.problems] == ["stale-call"]


def test_a_search_knows_what_was_found_and_which_tools_are_here(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path, "refund_order", "cancel_order", "refund_all"))
    chat, left = engine.conversation(), engine.words.search.nothing_left
    chat.user(Turn(tools=("refund_order", "cancel_order", "tool_search")))

    def found(**here: Any) -> tuple[tuple[str, ...], bool]:
        result = search(engine, chat, "order", **{"limit": None, **here})
        assert isinstance(result, SearchResult)
        return result.tools, result.message.endswith(left)

    assert found_so_far(chat.call, None) == found_so_far(None, None) == ()
    assert found() == (("refund_order", "cancel_order"), False)
    assert found(limit=1) == (("refund_order",), False)
    assert found(here={"cancel_order", "refund_all"}) == (("cancel_order",), False)
    told = {"tools": ["refund_order"]}
    chat.step(
        [
            ToolResult("tool_search", told, "c1"),
            ToolResult("tool_search", {"tools": ["cancel_order"]}, "c2", is_error=True),
        ]
    )
    assert found() == (("refund_order", "cancel_order"), False)
    assert found_so_far(chat.call, chat.step()) == ("refund_order",)
    assert found(here={"refund_order"}) == (("refund_order",), True)
    chat.step([ToolResult("tool_search", {"tools": ["cancel_order", "refund_order"]}, "c3")])
    assert found() == (("refund_order", "cancel_order"), True)
    assert found_so_far(chat.call, chat.step()) == ("refund_order", "cancel_order")


def test_a_conversation_that_is_lost_begins_anew_with_what_it_had_found(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path, "refund_order", "cancel_order"))
    said = Turn(discovered=("cancel_order",), diagnostics=(Diagnostic("own", "said"),))
    lost = "the conversation so far is not known here: its prompt is made anew, with what it had found"

    assert anew(said, ["refund_order", "gone"], engine) == Turn(
        discovered=("cancel_order", "refund_order"),
        diagnostics=(Diagnostic("own", "said"), Diagnostic("conversation_lost", lost)),
    )
    assert in_doubt("tool_search", engine) is in_doubt("nobody", engine) is None
    assert in_doubt("refund_order", engine) == (
        "`refund_order` was not called: its instructions may have changed. "
        "Read them, and call it again if that is right."
    )


def handover(reason: str = "") -> str:
    """Hand the chat over to a human."""
    return "ok"


@pytest.mark.parametrize("framework", HOSTS)
@pytest.mark.parametrize("query", ["human", "reason"])
def test_a_tool_is_found_by_what_its_docstring_and_its_parameters_say(
    framework: type[Host], query: str, tmp_path: Path
) -> None:
    host = framework(Engine.open(shop(tmp_path, "handover")), [handover], [[("tool_search", {"query": query})]])

    host.say("hello")

    assert "handover" in found(host)
    assert host.steps[-1].active_tools == ("tool_search", "handover")


class Parcel(BaseModel):
    """What is sent."""

    weight: int = Field(0, description="The kilograms")


def ship(place: Annotated[str, Field(description="The harbour to call at")] = "", parcel: Parcel | None = None) -> str:
    """Send goods."""
    return "ok"


@pytest.mark.parametrize("framework", HOSTS)
def test_a_tool_is_found_by_what_is_said_of_a_parameter(framework: type[Host], tmp_path: Path) -> None:
    host = framework(Engine.open(shop(tmp_path, "ship")), [ship], [[("tool_search", {"query": "harbour"})]])

    host.say("hello")

    assert host.steps[-1].active_tools == ("tool_search", "ship")


def test_what_an_entry_says_of_itself_stands(tmp_path: Path) -> None:
    path = shop(tmp_path, "handover")
    entries = path.with_name("tools.yaml")
    entries.write_text(entries.read_text().replace("handover:\n", "handover:\n    description: Ring the bell.\n"))
    asked = [[("tool_search", {"query": "human"})], [("tool_search", {"query": "bell"})]]
    host = PydanticAi(Engine.open(path), [handover], asked)

    host.say("hello")

    first, second = host.results[2]
    assert "handover" not in first[1].split("categories")[0]
    assert "handover" in second[1]


def found(host: Host) -> str:
    ((tool, result),) = host.results[1]
    assert tool == "tool_search"
    return result


class Edited:
    """An agent whose files are watched, and an edit of its role that has arrived when it returns."""

    def __init__(self, folder: Path, policy: str) -> None:
        self.path = shop(folder, "handover", more=f"reload: {policy}\n")
        self.watcher = watch(self.path, states=folder / "states", pace=QUICK)

    def edit(self) -> str:
        """Change the files."""
        seen = self.watcher.status.number
        self.path.write_text(self.path.read_text().replace("You help in", "You work in"))
        while self.watcher.status.number == seen:
            sleep(0.01)
        return "edited"


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[..., tuple[Edited, Any]]]:
    made: list[Edited] = []

    def begin(policy: str, *, pins: bool = False) -> tuple[Edited, Any]:
        made.append(Edited(tmp_path, policy))
        return made[0], Pins(made[0].watcher) if pins else made[0].watcher

    yield begin
    for each in made:
        each.watcher.stop()


FIND: Calls = [("tool_search", {"query": "human"})]


POLICIES = ("next-conversation", "next-call", "now")
FOLLOWED = [
    (framework, policy, (number + place) % 2 == 0)
    for (number, framework), (place, policy) in product(enumerate(HOSTS), enumerate(POLICIES))
]
"""Each framework with each policy: between two messages with the watcher or its pins, within a run with the other."""


@pytest.mark.parametrize(("framework", "policy", "pins"), FOLLOWED)
def test_an_edit_between_two_messages_arrives_by_the_policy(
    framework: type[Host], policy: str, follow: Any, *, pins: bool
) -> None:
    changes = policy != "next-conversation"
    agent, source = follow(policy, pins=pins)
    host = framework(source, [handover], [FIND, [("handover", {})]])

    host.say("hello")
    agent.edit()
    host.say("and now?")

    first, last = host.systems[0], host.systems[-1]
    assert "You help in" in first
    assert ("You work in" in last) is changes
    assert (first == last) is not changes
    assert host.steps[-1].manifest.configuration.reload == policy
    assert "handover" in host.steps[-1].active_tools
    assert str(host.steps[-1].manifest.to_json()).count("configuration_changed") == (1 if changes else 0)


@pytest.mark.parametrize(("framework", "policy", "pins"), FOLLOWED)
def test_an_edit_within_a_run_arrives_by_the_policy_and_searches_and_calls_go_on(
    framework: type[Host], policy: str, follow: Any, *, pins: bool
) -> None:
    agent, source = follow(policy, pins=not pins)

    def edit() -> str:
        """Change the files."""
        return str(agent.edit())

    host = framework(source, [handover, edit], [[("edit", {})], FIND, [("handover", {})]])

    host.say("hello")
    host.say("and now?")

    run = host.systems[:4]
    assert ["You work in" in system for system in run] == [False, *[policy == "now"] * 3]
    told = [any("within a run" in each.message for each in step.manifest.diagnostics) for step in host.steps]
    assert told == [False, *[policy == "now"] * 3, False]
    assert ("You work in" in host.systems[4]) is (policy != "next-conversation")
    assert [step.call.turn for step in host.steps if step.call] == [0, 0, 0, 0, 1]
    assert host.results[3][-1] == host.results[4][-1]
    assert "ok" in host.results[3][-1][1]


def test_an_approval_that_waited_through_an_edit_still_counts(follow: Any) -> None:
    agent, source = follow("next-conversation", pins=False)
    asks = [ToolCallPart("tool_search", {"query": "human"}, "c1"), ToolCallPart("handover", {}, "c2")]
    answers: Iterator[Any] = iter([*asks, TextPart("done")])

    def made(chat: Conversation) -> Agent[None, str | DeferredToolRequests]:
        return Agent(
            FunctionModel(lambda *_: ModelResponse([next(answers)])),
            output_type=[str, DeferredToolRequests],
            tools=[Tool(handover, requires_approval=True)],
            capabilities=[pydantic_ai.Cuecard(engine=source, conversation=chat)],
        )

    chat = source.current.conversation()
    waiting = asyncio.run(made(chat).run("hello")).all_messages()
    stored = source.current.dump(chat)
    agent.edit()
    approved = DeferredToolResults(approvals={"c2": True})
    resumed = made(source.current.load(stored)).run(message_history=waiting, deferred_tool_results=approved)

    request = asyncio.run(resumed).all_messages()[-2]
    assert [part.content for part in request.parts if isinstance(part, ToolReturnPart)] == ["ok"]


def refund_order(amount: float) -> str:
    """Refund an order."""
    return f"refunded {amount}"


def talk(host: Host) -> None:
    host.say("hello")
    host.say("and now?")


@pytest.mark.parametrize("framework", HOSTS)
def test_an_entry_without_a_tool_and_a_tool_without_an_entry_are_told_once(
    framework: type[Host], tmp_path: Path
) -> None:
    host = framework(Engine.open(shop(tmp_path, "handover", "refund_oder")), [handover, refund_order], [])

    with pytest.warns(UserWarning, match="entry `refund_oder` has no tool; did you mean `refund_order`") as warned:
        talk(host)

    diagnostics = [diagnostic for step in host.steps for diagnostic in step.manifest.diagnostics]
    (told,) = {each.message for each in diagnostics if each.code == "unmatched_tools"}
    assert told == "entry `refund_oder` has no tool; did you mean `refund_order`?; no entry for the tool `refund_order`"
    assert [str(each.message) for each in warned] == [f"agent `shop`: {told}"]


LEFT_OVER = [
    (["refund_order"], 0),
    (["handover", "refund_order", "cancel_post"], 0),
    (["handover", "refund_order", "refund_oder"], 1),
]


@pytest.mark.parametrize(
    ("framework", "entries", "slips"),
    [(framework, *left_over) for framework, left_over in zip((PydanticAi, LangChain, LiteLlm), LEFT_OVER, strict=True)],
)
def test_one_kind_alone_is_told_only_where_it_looks_like_a_slip(
    framework: type[Host], entries: list[str], slips: int, tmp_path: Path
) -> None:
    host = framework(Engine.open(shop(tmp_path, *entries)), [handover, refund_order], [])

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        talk(host)

    told = [each.message for each in host.steps[0].manifest.diagnostics if each.code == "unmatched_tools"]
    assert len(told) == 1
    assert len([each for each in warned if "has no tool" in str(each.message)]) == slips
    assert ("did you mean `refund_order`?" in told[0]) is bool(slips)


@pytest.mark.parametrize(
    ("framework", "entries"),
    [(PydanticAi, ["refund_order"]), (LiteLlm, ["handover", "refund_order", "cancel_post"])],
)
def test_one_kind_alone_is_refused_too(framework: type[Host], entries: list[str], tmp_path: Path) -> None:
    host = framework(Engine.open(shop(tmp_path, *entries, tools=", unmatched: refuse")), [handover, refund_order], [])

    with pytest.raises(Exception, match=r"has no tool|no entry for the tool `handover`"):
        host.say("hello")

    assert not host.systems


@pytest.mark.parametrize("framework", HOSTS)
def test_an_agent_file_may_refuse_them(framework: type[Host], tmp_path: Path) -> None:
    path = shop(tmp_path, "handover", "refund_oder", tools=", unmatched: refuse")
    host = framework(Engine.open(path), [handover, refund_order], [])

    with pytest.raises(Exception, match="entry `refund_oder` has no tool") as refused:
        host.say("hello")

    (error,) = [each for each in causes(refused.value) if isinstance(each, InputError)]
    assert str(error) == (
        "tools: error[unmatched-tool]: entry `refund_oder` has no tool; did you mean `refund_order`?; "
        "no entry for the tool `refund_order`\n"
        "  = give both one name; or write `unmatched: warn` under `tools` in the agent file"
    )
    assert not host.systems


def test_near_misses_are_named_first_and_no_more_than_five_names(tmp_path: Path) -> None:
    entries = [f"cancel_{letter * 9}" for letter in "abcdefgh"]
    engine = Engine.open(shop(tmp_path, *entries, "refund_oder"))
    door = EngineDoor(engine)
    others = [HostTool(f"zip_{letter * 9}") for letter in "klmnopqr"]

    def told(more: int) -> str:
        known = map(HostTool, entries[4 + more :])
        turn = door.choose(tools=[*others[: 4 + more], HostTool("refund_order"), *known]).turn
        with pytest.warns(UserWarning, match="refund_oder") as warned:
            turn(Turn())
        return str(warned[0].message)

    first, five, six = map(told, (4, 0, 1))
    assert first == (
        "agent `shop`: entry `refund_oder` has no tool; did you mean `refund_order`?; "
        "entry `cancel_aaaaaaaaa` has no tool; entry `cancel_bbbbbbbbb` has no tool; "
        "entry `cancel_ccccccccc` has no tool; entry `cancel_ddddddddd` has no tool; 4 more entries have no tool; "
        "no entry for the tools `refund_order`, `zip_kkkkkkkkk`, `zip_lllllllll`, `zip_mmmmmmmmm`, `zip_nnnnnnnnn` "
        "and 4 more"
    )
    assert five == first.replace(" 4 more entries have no tool;", "").replace(" and 4 more", "")
    assert six == first.replace("4 more", "1 more")


def test_what_is_only_missing_is_in_the_manifest_without_a_warning(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path, "handover", "refund_order"))
    door, known = EngineDoor(engine), [HostTool("handover")]

    told = door.choose(tools=known).turn(Turn(diagnostics=(Diagnostic("own", "said"),))).diagnostics

    missing = Diagnostic("unmatched_tools", "entry `refund_order` has no tool")
    assert told == (Diagnostic("own", "said"), missing)
    for turn in (Turn(tools=("handover",)), Turn(tools=())):
        assert door.choose(tools=known).turn(turn) == turn
    assert door.choose(tools=known, whole=False).turn(Turn()) == Turn()
    assert door.choose(tools=known, previous=engine.conversation().user()).turn(Turn()) == Turn()
    assert door.choose().turn(Turn()) == Turn()
    assert door.choose(tools=[*known, HostTool("refund_order"), HostTool("tool_search")]).turn(Turn()) == Turn()


def test_an_entry_and_a_tool_that_belong_to_nothing_are_warned_of_together(tmp_path: Path) -> None:
    door = EngineDoor(Engine.open(shop(tmp_path, "handover")))
    chosen = door.choose(tools=[HostTool("weigh")])

    with pytest.warns(UserWarning, match="entry `handover` has no tool; no entry for the tool `weigh`$") as warned:
        first, second = chosen.turn(Turn()), chosen.turn(Turn())

    assert (len(warned), first.diagnostics) == (1, second.diagnostics)


def test_what_hosts_say_of_a_tool_is_read_in_searches_and_kept_for_the_newest_lists(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path, "handover", "refund_order"))
    door = EngineDoor(engine)
    schema = {
        "properties": {"to": {"description": "Whom to ring"}},
        "$defs": {"Desk": {"title": "The counter"}, "x": 7},
    }
    told = HostTool.of("handover", "Give it away", schema)
    bare = HostTool.of("refund_order", None, {"properties": 7})

    assert (told.name, told.description, [name for name, _ in told.parameters]) == (
        "handover",
        "Give it away",
        ["to", "Desk", "x"],
    )
    assert bare == HostTool("refund_order") == HostTool.of("refund_order", "", None)
    assert told.card == ToolCard(
        "handover",
        "Give it away",
        {
            "type": "object",
            "properties": {"to": {"description": "Whom to ring"}, "Desk": {"description": "The counter"}, "x": {}},
        },
    )
    assert bare.card == ToolCard("refund_order", "", {})
    knowing = door.choose(tools=[bare, told]).engine
    assert [knowing.search_tools(words).tools for words in ("ring", "counter", "away")] == [("handover",)] * 3
    assert engine.search_tools("ring").tools == ()
    assert door.choose(tools=[told, bare]).engine is knowing
    assert door.choose(tools=[bare, HostTool("weigh", "Weigh it")]).engine is engine
    others = [door.choose(tools=[HostTool("handover", f"{number}")]).engine for number in range(31)]
    assert door.choose(tools=[told]).engine is knowing
    door.choose(tools=[HostTool("handover", "31")])
    assert door.choose(tools=[told]).engine is knowing
    assert door.choose(tools=[HostTool("handover", "1")]).engine is others[1]
    assert door.choose(tools=[HostTool("handover", "0")]).engine is not others[0]


@pytest.mark.parametrize("policy", ["next-call", "now"])
def test_the_message_history_of_pydantic_ai_loses_the_blocks_of_a_state_that_has_gone(follow: Any, policy: str) -> None:
    agent, source = follow(policy, pins=policy == "now")
    host = PydanticAi(source, [handover], [FIND, [("handover", {})], [], []])

    host.say("hello")
    assert "Ask for a clear yes." in str(host.history)
    entries = agent.path.with_name("tools.yaml")
    entries.write_text(entries.read_text().replace("Ask for a clear yes.", "Ask twice."))
    agent.edit()
    host.say("and now?")

    held = [part for message in host.history for part in message.parts if part.part_kind == "system-prompt"]
    assert "Ask for a clear yes." not in str(held)
    assert str(held).count("Ask twice.") == 1


@pytest.mark.parametrize("framework", HOSTS)
def test_an_agent_that_searches_ahead_gets_the_words_of_each_message(framework: type[Host], tmp_path: Path) -> None:
    """Nobody has to pass them: the host knows what the user has said."""
    path = shop(tmp_path, "handover", "ship", tools=", ahead: {confidence: 0.0}")
    host = framework(Engine.open(path), [handover, ship], [])

    host.say("hand this chat over to a human")
    host.say("send goods to the harbour")

    first, second = host.steps
    assert first.active_tools == ("tool_search", "handover")
    assert set(second.active_tools) == {"tool_search", "handover", "ship"}
    assert not any(d.code == "nothing_ahead" for step in host.steps for d in step.manifest.diagnostics)
    assert first.manifest.delivery.name == "append"


@pytest.mark.parametrize("framework", HOSTS)
def test_without_a_search_ahead_the_words_are_nobodys(framework: type[Host], tmp_path: Path) -> None:
    path = shop(tmp_path, "handover")
    host = framework(Engine.open(path), [handover], [])

    host.say("hand this chat over to a human")

    assert host.steps[0].active_tools == ("tool_search",)
    assert host.steps[0].call is None or not host.steps[0].call.tools.ahead


@pytest.mark.parametrize("framework", HOSTS)
def test_a_search_knows_what_earlier_ones_have_taken_of_the_room(framework: type[Host], tmp_path: Path) -> None:
    path = shop(tmp_path, "handover", "refund_order", more="budget: {protocols: 60}\n")
    searches: list[Calls] = [FIND, [("tool_search", {"query": "refund an order"})]]
    host = framework(Engine.open(path), [handover, refund_order], searches)

    host.say("hello")

    first, second = host.results[2]
    assert "Found 1 tool. It is now active." in first[1]
    assert "Not active, because there is no room left for their instructions: refund_order." in second[1]
    assert host.steps[-1].active_tools == ("tool_search", "handover")
