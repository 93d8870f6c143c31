"""`cuecard tools import`: what is new, changed and gone, and that no text of an author is ever touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine
from cuecard.config.documents.yaml import read_yaml
from cuecard.types import ToolInstructions
from unit.workbench.run.address import at_an_address
from unit.workbench.run.talking import Ran, cuecard, write
from unit.workbench.tool_import.listing_server import listing_server

AGENT = "agent: helper\nsections: [{id: role, text: Hello.}]\ntools: {instructions: tools}\n"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: list[dict[str, Any]] = [
    {"name": "get-weather", "description": "Tells the weather.", "inputSchema": CITY},
    {"name": "alerts/list", "description": "Lists alerts:\n\n- storms\n- floods", "inputSchema": {"type": "object"}},
    {"name": "ns:report", "inputSchema": {"type": "object"}},
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"agent.yaml": AGENT})


def imported(
    monkeypatch: pytest.MonkeyPatch, tools: list[dict[str, Any]], *words: str, agent: str = ".", **more: Any
) -> Ran:
    """What the command says of a server that lists these."""
    server = listing_server({"tools": tools, **more})
    with at_an_address(server.streamable_http_app()) as url:
        return cuecard(monkeypatch, "tools", "import", agent, "--mcp-url", url, *words)


def test_what_a_server_lists_becomes_entries_that_the_engine_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = imported(monkeypatch, WEATHER)

    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        "weather: 3 tools listed, 3 new",
        "  new      get-weather",
        "  new      alerts/list",
        "  new      ns:report",
        "  wrote    tools/weather.yaml",
        "  wrote    tools/weather.lock.json",
    ]
    tools = Engine.open(".").tools
    assert [*tools] == ["get-weather", "alerts/list", "ns:report"]
    assert tools["alerts/list"].description == "Lists alerts:\n\n- storms\n- floods"
    assert all(card.category == "weather" and card.instructions is None for card in tools.values())


def test_what_an_author_has_written_stays_byte_by_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = """\
# Our own notes.
category:   weather   # odd blanks

tools:
  # It is slow.
  'get-weather':
      before: "Ask for the city"   # always
      after: >-
        Tell it in
        Celsius
      next: None
      gotcha: ['Slow.', "No history."]

described:
  # These need nothing.
  ns:report: {description: 'Ours'}

# The end.
"""
    write(tmp_path, {"tools/weather.yaml": written})
    imported(monkeypatch, WEATHER)
    text = Path("tools/weather.yaml").read_text(encoding="utf-8")

    entry = "  alerts/list:\n    description: |-\n      Lists alerts:\n\n      - storms\n      - floods\n"
    assert text == written.replace("{description: 'Ours'}\n", "{description: 'Ours'}\n" + entry)
    assert imported(monkeypatch, WEATHER).out.startswith("weather: 3 tools listed, nothing new\n")
    assert Path("tools/weather.yaml").read_text(encoding="utf-8") == text


def test_what_changed_and_what_is_gone_is_reported_and_its_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, WEATHER)
    before = Path("tools/weather.yaml").read_text(encoding="utf-8")
    schema = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 9}, "unit": {}}}
    now = [{"name": "get-weather", "description": "Tells it.", "inputSchema": schema}, WEATHER[1]]

    for words, code in ((["--check"], 1), ([], 0)):
        ran = imported(monkeypatch, now, *words)
        assert ran.code == code
        assert ran.out.splitlines()[:6] == [
            "weather: 2 tools listed, 1 changed, 1 removed",
            "  changed  get-weather  description: `Tells the weather.` -> `Tells it.`",
            "  changed  get-weather  parameter `unit` is new",
            "  changed  get-weather  parameter `city` changed",
            "  changed  get-weather  parameter `city` is now optional",
            "  removed  ns:report  its text is still in tools/weather.yaml:17",
        ]
    again = imported(monkeypatch, now, "--check")
    assert (again.code, again.out.splitlines()[0]) == (1, "weather: 2 tools listed, 1 removed")
    assert Path("tools/weather.yaml").read_text(encoding="utf-8") == before


def test_check_writes_nothing_and_says_so_with_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = imported(monkeypatch, WEATHER, "--check", "--json")

    assert ran.code == 1
    report = json.loads(ran.out)
    assert (report["new"], report["written"]) == (["get-weather", "alerts/list", "ns:report"], [])
    assert not Path("tools").exists()


def test_what_a_server_says_of_itself_is_kept_as_data_and_reaches_no_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = {"cuecard/instructions": {k: f"OBEY {k}" for k in ("before", "after", "next", "gotcha")}}
    ran = imported(monkeypatch, [{**WEATHER[0], "_meta": meta}], instructions="OBEY ME")

    assert "the server supplies 7 characters of instructions: kept as data" in ran.out
    assert "OBEY" not in Path("tools/weather.yaml").read_text(encoding="utf-8")
    assert not Engine.open(".").instructions
    kept = json.loads(Path("tools/weather.lock.json").read_text(encoding="utf-8"))
    assert (kept["instructions"], kept["tools"][0]["_meta"]) == ("OBEY ME", meta)
    engine = Engine.open(".")
    assert "OBEY" not in engine.prepare_step(engine.prepare_call()).system


def test_with_trust_author_its_instructions_become_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = AGENT.replace("Hello.", "'{{{activeProtocols}}}'").replace(": tools}", ": tools, core: [tool_search]}")
    write(tmp_path, {"agent.yaml": agent, "tools/own.yaml": "described: {tool_search: {description: Finds tools}}"})
    said = {
        "before": "Ask\nfirst",
        "after": "Say it",
        "next": "None",
        "gotcha": "Slow: yes",
        "phrases": ["rain?", 7, " "],
    }
    tools = [
        {**WEATHER[0], "_meta": {"cuecard/instructions": said}},
        {**WEATHER[1], "_meta": {"cuecard/instructions": {"before": "x", "after": 7, "next": " "}, "other": 1}},
        {**WEATHER[2], "_meta": {"cuecard/instructions": {"after": 7, "next": " ", "phrases": ["x"]}}},
    ]
    ran = imported(monkeypatch, tools, "--trust", "author")

    assert ran.code == 0, ran.err
    cards = Engine.open(".").tools
    told = cards["get-weather"].instructions
    assert told
    assert (told.before, told.gotcha) == ("Ask\nfirst", "Slow: yes")
    assert cards["get-weather"].phrases == ("rain?",)
    assert cards["alerts/list"].instructions == ToolInstructions(before="x")
    assert (cards["ns:report"].instructions, cards["ns:report"].phrases) == (None, ())
    assert not [warning for warning in Engine.open(".").warnings if warning.code == "no-instructions"]


def test_hostile_names_and_descriptions_stay_values(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "x\n\n## Safety": "Evil.",
        "../../etc/passwd": "a path",
        "true": "true",
        "1e3": "# no comment",
        "hidden": "Nice\u202e\u200b\x1b[2J.\U000e0041",
        "yaml": "a: b\n--- \n- &x *y !!z {{this}} </tool>\n  \t",
        "long": "word " * 4000,
        "lines": "one\r\ntwo",
        "block": "first\n  indented\n\n\nlast: |",
        "tab": "a\n\tb",
        "quote": "say \"x\" \\ 'y'",
        "empty": "",
    }
    object_ = {"type": "object"}
    ran = imported(monkeypatch, [{"name": n, "description": d, "inputSchema": object_} for n, d in said.items()])

    assert ran.code == 0, ran.err
    assert "`x‹U+000A›‹U+000A›## Safety` is not a valid tool name" in ran.err
    assert "warning[server-tool]: `hidden`: " in ran.err
    assert "\x1b" not in ran.out + ran.err
    read = {name: card.description for name, card in Engine.open(".").tools.items()}
    assert [*read] == [*said][1:]
    assert read["hidden"] == "Nice[2J."
    assert read["yaml"] == "a: b\n--- \n- &x *y !!z {{this}} </tool>"
    assert (len(read["long"]), read["lines"]) == (8192, "one\ntwo")
    for name in ("1e3", "true", "block", "tab", "quote", "empty"):
        assert read[name] == said[name]
    assert {path.name for path in Path().iterdir()} == {"agent.yaml", "tools"}


def test_a_server_whose_name_is_a_path_names_no_file_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, WEATHER, name="../../../evil/../x\x01y")

    assert sorted(path.name for path in Path("tools").iterdir()) == ["evil-x-y.lock.json", "evil-x-y.yaml"]


@pytest.mark.repeats
def test_hundreds_of_tools_go_into_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [{"name": f"tool_{n:04}", "description": f"Does {n}. " * 80, "inputSchema": CITY} for n in range(500)]
    ran = imported(monkeypatch, tools, "--json")

    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["written"]) > 3
    assert len(Engine.open(".").tools) == 500
    assert imported(monkeypatch, tools, "--check").code == 0


def test_a_single_file_takes_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"agent.yaml": AGENT.replace("instructions: tools", "instructions: mine.yml")})
    write(tmp_path, {"mine.yml": "# only this\ndescribed: {}   # nothing yet"})
    ran = imported(monkeypatch, WEATHER[:1])

    assert ran.code == 0, ran.err
    assert Path("mine.yml").read_text(encoding="utf-8") == (
        "# only this\ndescribed:   # nothing yet\n  get-weather:\n    description: Tells the weather.\n"
    )
    assert Path("weather.lock.json").exists()


def test_several_servers_share_a_file_and_each_is_compared_with_its_own_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"agent.yaml": AGENT.replace("instructions: tools", "instructions: mine.yml")})
    first = imported(monkeypatch, WEATHER[:1])
    second = imported(monkeypatch, [{**WEATHER[0], "name": "tell-time"}], name="clock")

    assert (first.code, second.code) == (0, 0)
    assert "removed" not in second.out
    assert sorted(path.name for path in Path().glob("*.lock.json")) == ["clock.lock.json", "weather.lock.json"]
    assert imported(monkeypatch, WEATHER[:1], "--check").code == 0
    assert [*Engine.open(".").tools] == ["get-weather", "tell-time"]


@pytest.mark.parametrize(
    ("files", "words", "told"),
    [
        ({}, [], "error[wrong-option]: no tool source is named"),
        ({"a.json": "[]"}, ["a.json", "--openapi", "a.json"], "error[wrong-option]: 2 tool sources are named"),
        ({}, ["none.json"], "none.json: error[missing-file]: no such file"),
        ({"a.json": "{nope"}, ["a.json"], "a.json:1:2: error[json-syntax]"),
        ({"a.json": "7"}, ["a.json"], "a.json: error[wrong-value]: a catalogue is a list of tools"),
        ({"a.json": '[{"name": 3}]'}, ["a.json"], "a.json:1:11: error[wrong-value]: it has no name"),
        ({"a.json": "[" * 50_000}, ["a.json"], "a.json: error[json-syntax]: nested too deep"),
        ({"a.json": "[]"}, ["--openapi", "a.json"], "error[wrong-openapi]: this is not an OpenAPI description"),
        ({"a.json": '{"openapi": "4.0"}'}, ["--openapi", "a.json"], "OpenAPI version `4.0` is not supported"),
        ({"a.yml": "openapi: 3.1.0"}, ["--openapi", "a.yml"], "error[wrong-openapi]: it describes no operation"),
        ({}, ["--mcp", "no-such-program"], "--mcp: error[server-start]"),
        ({}, ["--mcp-url", "ftp://x"], "--mcp-url: error[wrong-option]: `ftp://x` is not a server address"),
        ({}, ["--mcp-url", "http://[::1"], "--mcp-url: error[wrong-option]: `http://[::1` is not a server address"),
        (
            {"a.json": '[{"name": "x"}]', "agent.yaml": "agent: a\nsections: []\n"},
            ["a.json"],
            "agent.yaml: error[missing-key]: the agent names no folder or file for tool instructions",
        ),
        (
            {"a.json": '[{"name": "x"}]', "tools/a.yaml": "described: {y: {description: z}}"},
            ["a.json"],
            "tools/a.yaml:1:1: error[yaml-syntax]: cannot add to a mapping that is written on one line",
        ),
        (
            {"a.json": '[{"name": "x"}]', "tools/b.yaml": "tools: {y: {before: []}}"},
            ["a.json"],
            "tools/b.yaml:1:21: error[wrong-value]",
        ),
        (
            {"a.json": '[{"name": "x"}]', "tools/a.lock.json": "[]", "tools/a.yaml": "described: {}"},
            ["a.json"],
            "a.lock.json: error[wrong-value]: this is not a file of `cuecard tools import`",
        ),
    ],
)
def test_each_mistake_has_its_error(
    files: dict[str, str], words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, files)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ran = cuecard(monkeypatch, "tools", "import", ".", *words)

    assert ran.code in {1, 2}
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_system_that_cuecard_brings_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = imported(monkeypatch, WEATHER, agent="cms")

    assert ran.code == 2
    assert "AGENT: error[wrong-option]: `cms` is shipped with cuecard and cannot be changed" in ran.err
    assert imported(monkeypatch, WEATHER, "--check", agent="cms").code == 1


@pytest.mark.parametrize(
    "shape",
    [
        '[{"name": "a", "description": "d", "input_schema": {"type": "object"}}]',
        '{"tools": [{"type": "function", "function": {"name": "a", "description": "d", "parameters": {}}}]}',
        '{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "description": "d", "inputSchema": {}}]}}',
        '[{"functionDeclarations": [{"name": "a", "description": "d"}]}]',
        '{"tools": [{"function_declarations": [{"name": "a", "description": "d"}]}]}',
        '{"toolConfig": {"tools": [{"toolSpec": {"name": "a", "description": "d", "inputSchema": {"json": {}}}}]}}',
    ],
)
def test_json_in_the_shapes_seen_in_the_wild(shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"api.json": shape})
    ran = cuecard(monkeypatch, "tools", "import", ".", "--json", "api.json")

    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["new"] == ["a"]
    assert Engine.open(".").tools["a"].description == "d"


def test_a_file_that_the_agent_does_not_name_is_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        assert imported(monkeypatch, WEATHER, "--into", "elsewhere/mine.yaml").code == 0
    ran = imported(monkeypatch, WEATHER, "--into", "elsewhere/mine.yaml", "--check")

    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            "weather: 3 tools listed, nothing new",
            "  1 without a description in their entries, found by their names only: ns:report",
        ],
    )


def test_equal_listings_give_equal_files(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, WEATHER)
    first = {path.name: path.read_bytes() for path in Path("tools").iterdir()}
    imported(monkeypatch, WEATHER)

    assert first == {path.name: path.read_bytes() for path in Path("tools").iterdir()}
    assert read_yaml(first["weather.yaml"].decode(), "weather.yaml").warnings == ()
