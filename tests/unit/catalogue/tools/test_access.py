"""Roles fail closed: names in gates that belong to nothing are errors, and a tool that is taken away stays away."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Call, Engine, Gates, InputError, SpecError, Step, ToolCard, Turn
from cuecard.workbench.testing.turns import run_file

TOOLS = """category: users
described:
  tool_search: {description: Find tools}
  delete_user: {description: Delete a user}
  delete_comment: {description: Delete a comment}
  update_user: {description: Change a user}
"""
VISIBILITY = "{flags: {admin: delete_user}, harness: {users: [], nightly: [update_user]}, secrets: {delete_user: KEY}}"
ACCESS = """
access:
  editor: {hide: ["delete_*"]}
  reader: {allowed: [tool_search, "*_comment"]}
  guest: {flags: {admin: false}, harness: [nightly]}
"""


def opened(folder: Path, more: str = "", visibility: str = "{}", tools: str = TOOLS) -> Engine:
    (folder / "tools.yaml").write_text(tools, encoding="utf-8")
    (folder / "agent.yaml").write_text(
        f"agent: a\ntools: {{instructions: tools.yaml, core: [tool_search], visibility: {visibility}}}\n{more}"
        "sections: [{id: role, text: You help.}, {id: i, text: '{{{activeProtocols}}}'}]\n",
        encoding="utf-8",
    )
    return Engine.open(folder)


def there(engine: Engine, turn: Turn) -> set[str]:
    return {*engine.prepare_call(turn).tools.available} - {"tool_search"}


ALL = {"delete_user", "delete_comment", "update_user"}
LATE = "delete_everything"


@pytest.mark.parametrize(
    ("gates", "wrong"),
    [
        (Gates(blocked=("delete_usr",)), {"turn.gates.blocked[0]"}),
        (Gates(allowed=("update_user", "delete_usr")), {"turn.gates.allowed[1]"}),
        (Gates(enabled=("delete_*",)), set()),  # no tool has such a name, and none is taken away by mistake
        (Gates(flags={"admn": False, "admin": True}), {"turn.gates.flags.admn"}),
        (Gates(harness=("users", "nightlie")), {"turn.gates.harness[1]"}),
        (Gates(secrets=("ANY", "name")), set()),
        (
            Gates(blocked=("x",), flags={"y": False}, harness=("z",)),
            {"turn.gates.blocked[0]", "turn.gates.flags.y", "turn.gates.harness[0]"},
        ),
    ],
)
def test_a_name_in_gates_that_nothing_has_is_an_error(tmp_path: Path, gates: Gates, wrong: set[str]) -> None:
    engine = opened(tmp_path, visibility=VISIBILITY)
    if not wrong:
        engine.prepare_call(Turn(gates=gates))
        return
    with pytest.raises(InputError) as caught:
        engine.conversation().user(Turn(gates=gates))

    assert {problem.name for problem in caught.value.problems} == wrong


def test_a_tool_that_the_turn_or_a_server_brings_may_stand_in_gates(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    engine.prepare_call(Turn(tools=("hosts_own",), gates=Gates(blocked=("hosts_own",))))
    engine.with_tools([ToolCard("late")]).prepare_call(Turn(gates=Gates(blocked=("late",))))

    with pytest.raises(InputError, match="late"):
        engine.prepare_call(Turn(gates=Gates(blocked=("late",))))


@pytest.mark.parametrize(
    ("visibility", "told"),
    [
        ("{flags: {admin: [delete_usr]}}", "delete_usr"),
        ("{flags: {admin: user}}", "no tool or category is called `user`"),
        ("{harness: {nightly: [updat_user]}}", "updat_user"),
        ("{harness: {nightlies: []}}", "no tool has the category `nightlies`"),
        ("{secrets: {delete_usr: KEY}}", "delete_usr"),
        ("{meta: [tol_search]}", "tol_search"),
    ],
)
def test_a_rule_about_a_tool_that_does_not_exist_is_an_error_of_the_file(
    tmp_path: Path, visibility: str, told: str
) -> None:
    with pytest.raises(SpecError, match=told) as caught:
        opened(tmp_path, visibility=visibility)

    assert [(p.code, p.span.line if p.span else 0) for p in caught.value.problems] == [("unknown-tool", 2)]


def test_an_agent_without_tool_files_may_have_rules_for_what_its_host_may_bring(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ntools: {visibility: {flags: {admin: delete_user}}}\nsections: [{id: role, text: You help.}]\n",
        encoding="utf-8",
    )
    engine, off = Engine.open(tmp_path), Turn(gates=Gates(flags={"admin": False}))

    assert there(engine.with_tools([ToolCard("delete_user"), ToolCard("get")]), off) == {"get"}
    assert there(engine.with_tools([ToolCard("get")]), off) == {"get"}


@pytest.mark.parametrize(
    ("access", "gates", "expected"),
    [
        ("", Gates(), {"delete_user", "delete_comment", LATE}),
        ("editor", Gates(), set[str]()),
        ("editor", Gates(harness=("nightly",)), {"update_user"}),
        ("reader", Gates(), {"delete_comment"}),
        ("reader", Gates(blocked=("delete_comment",)), set[str]()),
        ("guest", Gates(), {"delete_comment", "update_user", LATE}),
        ("guest", Gates(flags={"admin": True}), {"delete_comment", "update_user", LATE}),
    ],
)
def test_a_tool_has_to_pass_the_access_and_the_gates_also_one_that_a_server_brings(
    tmp_path: Path, access: str, gates: Gates, expected: set[str]
) -> None:
    visibility = "{flags: {admin: [delete_user]}, harness: {nightly: [update_user]}}"

    engine = opened(tmp_path, ACCESS, visibility).with_tools([ToolCard(LATE)])

    assert there(engine, Turn(access=access, gates=gates)) == expected


def test_a_turn_that_names_no_access_has_the_default_one_and_one_that_does_not_exist_is_an_error(
    tmp_path: Path,
) -> None:
    engine = opened(tmp_path, 'access: {default: {hide: "delete_*"}, admin: {}}\n')

    assert there(engine, Turn()) == {"update_user"}
    assert there(engine, Turn(access="admin")) == ALL
    assert engine.access == ("default", "admin")
    with pytest.raises(InputError, match="did you mean `admin`") as caught:
        engine.prepare_call(Turn(access="admn"))
    assert [(problem.code, problem.name) for problem in caught.value.problems] == [("unknown-selection", "turn.access")]


@pytest.mark.parametrize(
    ("access", "severities"),
    [
        ("{hide: delete_usr}", ["error"]),
        ("{hide: 'delte_*'}", ["warning"]),
        ("{flags: {admn: false}}", ["error"]),
        ("{harness: [nights]}", ["error"]),
        ("{allowed: [a, b], enabled: c}", ["error"] * 3),
    ],
)
def test_names_in_an_access_are_checked_with_its_file(tmp_path: Path, access: str, severities: list[str]) -> None:
    more = f"access:\n  editor: {access}\n"
    try:
        found = opened(tmp_path, more).warnings
    except SpecError as error:
        found = error.problems

    assert [problem.severity for problem in found] == severities
    assert {problem.span.line for problem in found if problem.span} == {4}


def test_the_refusal_of_a_tool_that_is_taken_away_sends_nobody_searching(tmp_path: Path) -> None:
    engine = opened(tmp_path, "access: {editor: {hide: delete_user}}\n")
    chat = engine.conversation()
    for turn in (Turn(access="editor"), Turn(gates=Gates(blocked=("delete_user",)))):
        chat.user(turn)
        step = chat.step()
        told = step.refusal("delete_user") or ""

        assert "not for this user" in told
        assert "tool_search" not in told
        assert "Call `tool_search`" in (step.refusal("update_user") or "")
        assert "delete_user" not in chat.search_tools("delete a user").message

    chat.user(Turn())

    assert "Call `tool_search`" in (chat.step().refusal("delete_user") or "")


def test_the_manifest_shows_the_access_and_what_it_takes_away_and_old_calls_load(tmp_path: Path) -> None:
    engine = opened(tmp_path, "access: {editor: {hide: delete_user}}\n")
    call = engine.prepare_call(Turn(access="editor"))
    manifest = engine.prepare_step(call).manifest

    assert manifest.configuration.access == "editor"
    assert ("tool delete_user", "the user's access: it is blocked") in [(c.what, c.reason) for c in manifest.cuts]
    assert Step.from_json(engine.prepare_step(call).to_json()).manifest == manifest
    assert Call.from_json(call.to_json()) == call

    plain = engine.prepare_call().to_json()

    assert "denied" not in plain["tools"]
    assert "access" not in plain["configuration"]
    assert manifest.sha256 != engine.prepare_step(engine.prepare_call()).manifest.sha256


def test_a_turn_file_is_told_where_its_gates_are_wrong(tmp_path: Path) -> None:
    engine = opened(tmp_path, ACCESS, VISIBILITY)
    file = tmp_path / "turn.yaml"
    file.write_text("gates: {flags: {admn: false}}\naccess: edtor\n", encoding="utf-8")
    (outcome,) = run_file(engine, file)

    assert {(p.code, p.span.line if p.span else 0) for p in outcome.problems} == {
        ("unknown-gate", 1),
        ("unknown-selection", 2),
    }


def test_memory_and_results_warn_of_names_but_not_of_patterns(tmp_path: Path) -> None:
    more = """memory: {types: {"*Late*": a, delete_usr: user}, forget: {"gone_*": {at: id}, drop_user: {at: id}}}
results: {"late_*": "{{{content}}}", updat_user: "{{{content}}}"}
"""
    lines = more.splitlines()
    told = [(p.code, p.severity, p.source[p.span.column - 1 :][:6]) for p in opened(tmp_path, more).warnings if p.span]

    assert {each.source for each in opened(tmp_path, more).warnings} == {*lines}
    assert told == [("unknown-tool", "warning", name) for name in ("drop_u", "delete", "updat_")]
