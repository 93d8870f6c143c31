"""What a source says of its tools, cleaned, and the lock that keeps it for the next import."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cuecard import SpecError, ToolCard
from cuecard.config.tool_listing import Listing, lock_text, usable, with_authors_words
from cuecard.config.tool_lock import Lock, LockedTool, Operation, RemovedTool, read_lock
from cuecard.types import ToolInstructions

OPERATION = {"method": "get", "path": "/x/{id}/y", "id": "op", "arguments": {"q": {"in": "query"}}}
LISTING = Listing(
    "mini",
    (ToolCard("a", "A", {"type": "object"}), ToolCard("b", "B")),
    (),
    "Say",
    meta={"a": {"m": 1}},
    operations={"b": Operation.model_validate(OPERATION)},
    lines={"a": "line"},
)


def test_a_lock_holds_all_that_a_source_says_and_what_authors_decided() -> None:
    text = lock_text(LISTING, "src", "p_", ["b"], {"x": True, "y": False})
    first = {"name": "a", "description": "A", "inputSchema": {"type": "object"}, "_meta": {"m": 1}}
    second = {"name": "b", "description": "B", "inputSchema": {}, "operation": OPERATION, "left_out": True}
    whole = {
        "version": 2,
        "source": "src",
        "prefix": "p_",
        "instructions": "Say",
        "tools": [first, second],
        "gone": [{"name": "x", "kept": True}, {"name": "y"}],
    }

    assert text == json.dumps(whole, indent=1) + "\n"
    assert lock_text(Listing("mini", (), ()), "src") == '{\n "version": 2,\n "source": "src",\n "tools": []\n}\n'
    assert read_lock(text, "a.lock.json") == Lock(
        version=2,
        source="src",
        prefix="p_",
        instructions="Say",
        tools=[LockedTool.model_validate(first), LockedTool.model_validate(second)],
        gone=[RemovedTool(name="x", kept=True), RemovedTool(name="y")],
    )
    assert read_lock(text, "a.lock.json").tools[0].card == LISTING.cards[0]
    assert LISTING.operations["b"].key == ("GET", "/x/{}/y")


def test_other_names_are_those_of_all_that_is_said_but_of_a_tool_that_was_dropped() -> None:
    renamed = replace(LISTING, meta={**LISTING.meta, "z": {"m": 2}}).renamed({"a": "z", "b": "y"})

    assert renamed == replace(
        LISTING,
        cards=(ToolCard("z", "A", {"type": "object"}), ToolCard("y", "B")),
        meta={"z": {"m": 1}},
        operations={"y": LISTING.operations["b"]},
        lines={"z": "line"},
    )


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("[]", "l.json: error[wrong-value]: this is not a file of `cuecard tools import`", "restore"),
        ('{"version": 2}', "l.json: error[wrong-value]: this is not a file of `cuecard tools import`", "restore"),
        (
            '{"tools": [], "version": 3}',
            "l.json: error[wrong-value]: written by a later version of cuecard (format 3; this one knows up to 2)",
            "upgrade cuecard; nothing was changed",
        ),
        ('{"tools": [], "version": "3"}', "l.json:1:26: error[wrong-value]: `version` should be a whole number", ""),
        (
            json.dumps({"tools": [{"name": name} for name in "abcdefabcdef"]}),
            "l.json:1:1: error[wrong-value]: `the file` names a tool twice under `tools`: a, b, c, d, e",
            "",
        ),
        (
            json.dumps({"tools": [], "gone": [{"name": name} for name in "bab"]}),
            "l.json:1:1: error[wrong-value]: `the file` names a tool twice under `gone`: b",
            "",
        ),
    ],
    ids=["list", "no tools", "later", "text", "twice", "gone twice"],
)
def test_what_is_no_lock_is_told_at_its_place(text: str, told: str, hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_lock(text, "l.json")

    (problem,) = caught.value.problems
    restore = "restore it from version control; without it, what authors left out on purpose would come back"
    assert problem.picture().splitlines()[0] == told
    assert problem.hint == (restore if hint == "restore" else hint)


def test_a_lock_of_the_first_format_lacks_much_and_what_it_needs_is_told() -> None:
    request = {"method": "GET", "path": "/", "arguments": {"q": {"in": "query"}}}
    least = {"tools": [{"name": "a"}, {"name": "b", "operation": request}], "gone": [{"name": "c"}]}
    tool = {"description": "", "input_schema": {}, "meta": {}, "left_out": False}
    made = {**request, "id": "", "tags": [], "arguments": {"q": {"place": "query", "name": None}}}

    assert read_lock(json.dumps(least), "l.json").model_dump() == {
        **dict.fromkeys(("source", "prefix", "instructions"), ""),
        "version": 1,
        "tools": [{"name": "a", **tool, "operation": None}, {"name": "b", **tool, "operation": made}],
        "gone": [{"name": "c", "kept": False}],
    }
    with pytest.raises(SpecError) as caught:
        read_lock('{"tools": [{"operation": {"arguments": {"q": {}}}}], "gone": [{}], "version": 0}', "l.json")
    assert [(each.message, each.hint) for each in caught.value.problems] == [
        ("`name` is missing", "add `name:` - its name"),
        ("`method` is missing", "add `method:` - its method, such as GET"),
        ("`path` is missing", "add `path:` - its path, with parameters in braces"),
        ("`in` is missing", "add `in:` - path, query, header, formData or body"),
        ("`name` is missing", "add `name:` - its name"),
        ("`version` should be greater than or equal to 1", ""),
    ]


def test_tools_are_cleaned_and_what_cannot_be_used_is_told() -> None:
    cards = (
        ToolCard("a", "Does \x1b[2Ja.\r\n", {"type": "object", "p\u200b": 1}),
        ToolCard("b c\u202e" + "d" * 80, source="api"),
        ToolCard("d", "y" * 8_192),
        ToolCard("f", "", {"k": 1, "k\u200b": 2}, source="api"),
        ToolCard("e", f" {'y' * 8_191}  zz"),
    )
    found = usable("mini", cards)

    assert found.name == "mini"
    assert found.cards == (
        ToolCard("a", "Does [2Ja.", {"type": "object", "p": 1}),
        cards[2],
        ToolCard("e", "y" * 8_191),
    )
    assert {(each.code, each.severity) for each in found.dropped} == {("server-tool", "warning")}
    assert [(each.message, each.hint, each.name) for each in found.dropped] == [
        (
            f"`b c‹U+202E›{'d' * 53}` is not a valid tool name",
            "the tool is skipped: names are 1 to 128 ASCII letters, digits, `_`, `-`, `.`, `:` or `/`",
            "api",
        ),
        (
            "`a`: 2 invisible or control characters were removed",
            "people cannot see them, but models read them: review the rest of the text as well",
            "",
        ),
        (
            "`f`: two keys of `[1]` are both `k` once invisible characters are removed",
            "the tool is skipped",
            "api",
        ),
        ("`e`: its description has 8,196 characters", "it is truncated after 8,192", ""),
    ]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, ToolCard("a", "A", {})),
        ({"cuecard/instructions": "all"}, ToolCard("a", "A", {})),
        ({"cuecard/instructions": {"before": 7, "after": " \x07", "phrases": ["x"]}}, ToolCard("a", "A", {})),
        (
            {"cuecard/instructions": {"before": " Ask\u200b ", "next": "b", "phrases": ["x\x07", 7, "y"]}},
            ToolCard("a", "A", {}, ("x", "y"), instructions=ToolInstructions(before="Ask", next="b")),
        ),
        (
            {"cuecard/instructions": {"gotcha": "Slow", "phrases": "x"}},
            ToolCard("a", "A", {}, instructions=ToolInstructions(gotcha="Slow")),
        ),
    ],
)
def test_the_words_of_a_trusted_server_are_its_tools_instructions(said: dict[str, object], expected: ToolCard) -> None:
    card, other = ToolCard("a", "A", {}), ToolCard("b", phrases=("kept",))
    words = {"a": said, "b": {"cuecard/instructions": {"after": "Tell", "phrases": ["not"]}}}
    made = with_authors_words(Listing("mini", (card, other, ToolCard("c")), (), meta=words))  # type: ignore[arg-type] # JSON

    told = replace(other, instructions=ToolInstructions(after="Tell"))
    assert made.cards == (expected, told, ToolCard("c"))
