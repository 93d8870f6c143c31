"""Results that come to a conversation: each counts once, and only what is open is remembered."""

from __future__ import annotations

from pathlib import Path

from cuecard import Engine, ToolResult
from unit.agent.section_lists.agents import TOOLS, opened, search

TEXT = """\
agent: a
tools: {instructions: t.yaml, core: [tool_search]}
sections: [{id: a, text: VERSION}, {id: p, text: "{{{activeProtocols}}}"}]
"""


def version(folder: Path, number: int) -> Engine:
    return opened(folder / str(number), TEXT.replace("VERSION", f"Version {number}."), t_yaml=TOOLS, delivery="append")


def test_one_result_that_comes_twice_at_once_counts_once(tmp_path: Path) -> None:
    conversation = version(tmp_path, 0).conversation()
    conversation.user()
    conversation.step([ToolResult("put_page", {}, "call-1")])
    step = conversation.step([search("get_page"), search("get_page")])

    assert [record.tool for record in conversation.state.results] == ["put_page", "tool_search"]
    assert "get_page" in step.active_tools, "the same id with another tool is another result"


def test_a_call_waits_until_it_is_answered_and_no_longer(tmp_path: Path) -> None:
    conversation = version(tmp_path, 0).conversation()
    conversation.user()
    conversation.step([], calls={"1": "get_page", "2": "put_page"})
    assert conversation.state.calls == {"1": "get_page", "2": "put_page"}

    for _ in range(2):  # the second time, the name is that of the result that is known
        conversation.step([ToolResult("", {"ok": True}, "1")])
        assert conversation.state.calls == {"2": "put_page"}
        assert [(record.call_id, record.tool) for record in conversation.state.results] == [("1", "get_page")]


def test_after_a_change_of_the_files_the_conversation_continues_with_the_new_ones(tmp_path: Path) -> None:
    old, new = version(tmp_path, 0), version(tmp_path, 1)
    first = old.conversation()
    first.user()
    conversation = new.conversation(first.state)
    calls = [conversation.user(), conversation.user()]

    assert ["baseline" in {cut.what for cut in call.record.cuts} for call in calls] == [True, False]


def test_a_compaction_makes_one_new_baseline_and_not_a_second(tmp_path: Path) -> None:
    conversation = version(tmp_path, 0).conversation()
    conversation.user()
    conversation.step([search("get_page")])
    conversation.compacted()
    calls = [conversation.user(), conversation.user()]
    reasons = [[cut.reason for cut in call.record.cuts if cut.what == "baseline"] for call in calls]

    assert [[reason.partition(":")[0] for reason in each] for each in reasons] == [["compacted"], []]
    assert calls[0].prompt.segments == calls[1].prompt.segments
