"""Whatever a line of an agent's files says, a review names it when it says something else."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from command_line import run
from cuecard.config.agent_file import AgentFile

AGENT = """\
agent: shop
delivery: append
whitespace: compact
reload: next-call
inputs:
  mood: {type: string, default: calm, description: how it goes, values: [calm, glad]}
  facts: {type: object, default: {a: 1}, merge: true, trust: author}
tools:
  instructions: tools.yaml
  core: [tool_search, get_order]
  search: {limit: 5, confidence: 0.3, cut: 0.4}
  cues: {on_discovery: [before, gotcha], on_result: [after, next], pending: asks}
  ahead: {limit: 2, confidence: 0.6}
  unmatched: warn
  visibility: {flags: {money: [refund_order]}}
access: {editor: {hide: [get_order]}}
sections:
  - {id: role, title: Role, text: "You help. {{> tone}}", priority: 3}
  - {id: rules, when: {equals: {mood: glad}}, text: "Be {{{mood}}}, {{#each facts}}{{{this}}}{{/each}}.", tier: call}
  - {id: house, file: house.md, lifetime: turn}
  - {id: i, text: "{{{activeProtocols}}}", budget: 900}
  - {id: m, text: "{{{workingMemory}}}", trust: author}
layout: {partials: partials, heading: "## {title}", separator: "\\n"}
profiles: {short: {exclude_tools: [refund_order]}}
variants: {plain: {exclude_tools: [refund_order]}}
results: {"get_*": {text: "{{{content}}} in cents", head: 400}, refund_order: {file: refund.hbs}}
memory:
  per_type: 4
  total: 9
  extract: [{at: order, type: order}]
  forget: {refund_order: [{at: id}]}
  types: {"*order*": order}
  names: {"*": [title]}
  keys: {order: number}
history: {policy: last, limit: 30}
messages: {order: [system, metadata, history, current]}
models: models.yaml
words: {search: {nothing: "Nothing for {query}. Other words?"}}
budget: {total: 9000, protocols: 5000}
limits: {work: 400000}
run: {steps: 15, kept_tools: 8}
writable: {soul: {section: role, max_chars: 900}}
tokens: {encoding: cl100k_base}
accept: {conditional-section: It is short.}
"""
TOOLS = """\
category: orders
described:
  get_order: {description: Read an order, phrases: [show an order]}
tools:
  refund_order:
    description: Pay out for an order
    phrases: [give money back]
    before: Ask for a clear yes
    after: Say the amount
    next: None required
    gotcha: [Amounts are in cents., Never twice.]
"""
FILES = {
    "agent.yaml": AGENT,
    "tools.yaml": TOOLS,
    "partials/tone.hbs": "Be kind.",
    "house.md": "Be brief.",
    "refund.hbs": "{{{content}}} paid",
    "models.yaml": "providers: {own: {cache_read: {value: 0.1, source: a page, as_of: 2026-11-20}}}\n",
}

CHANGES = [
    ("agent: shop", "agent: store", "setting agent"),
    ("delivery: append", "delivery: auto", "setting delivery"),
    ("whitespace: compact", "whitespace: keep", "setting whitespace"),
    ("reload: next-call", "reload: now", "setting reload"),
    ("default: calm", "default: glad", "input mood: default"),
    ("how it goes", "how it is", "input mood: description"),
    ("values: [calm, glad]", "values: [calm, glad, sad]", "input mood: values"),
    ("{a: 1}", "{a: 2}", "input facts: default.a"),
    ("merge: true, ", "", "input facts: merge"),
    (", trust: author}\ntools", "}\ntools", "input facts: trust"),
    ("core: [tool_search, get_order]", "core: [tool_search]", "setting tools.core"),
    ("search: {limit: 5", "search: {limit: 6", "setting tools.search.limit"),
    ("confidence: 0.3", "confidence: 0.2", "setting tools.search.confidence"),
    ("cut: 0.4", "cut: 0.5", "setting tools.search.cut"),
    (
        "[before, gotcha], on_result: [after, next]",
        "[before, gotcha, next], on_result: [after]",
        "setting tools.cues.on_discovery",
    ),
    ("pending: asks", "pending: waits", "setting tools.cues.pending"),
    ("ahead: {limit: 2", "ahead: {limit: 3", "setting tools.ahead.limit"),
    ("unmatched: warn", "unmatched: refuse", "setting tools.unmatched"),
    ("{money: [refund_order]}", "{money: [get_order]}", "setting tools.visibility.flags.money"),
    ("hide: [get_order]", "hide: [refund_order]", "setting access.editor.hide"),
    ("title: Role", "title: Task", "section role: title"),
    ("You help.", "You serve.", "section role: text"),
    ("priority: 3", "priority: 4", "section role: priority"),
    ("{mood: glad}", "{mood: calm}", "section rules: when.equals.mood"),
    (", tier: call", "", "section rules: tier"),
    ("lifetime: turn", "lifetime: conversation", "section house: lifetime"),
    ("budget: 900}", "budget: 800}", "section i: budget"),
    ("trust: author}\nlayout", "trust: data}\nlayout", "section m: trust"),
    ("## {title}", "# {title}", "setting layout.heading"),
    (
        "short: {exclude_tools: [refund_order]}",
        "short: {exclude_tools: [get_order]}",
        "setting profiles.short.exclude_tools",
    ),
    (
        "plain: {exclude_tools: [refund_order]}",
        "plain: {exclude_tools: [get_order]}",
        "setting variants.plain.exclude_tools",
    ),
    ("}} in cents", "}} in euros", "result get_*: text"),
    ("head: 400", "head: 300", "result get_*: head"),
    ("per_type: 4", "per_type: 5", "setting memory.per_type"),
    ("at: order, type", "at: orders, type", "setting memory.extract"),
    ("{at: id}", "{at: orderId}", "setting memory.forget.refund_order"),
    ('"*order*": order', '"*order*": sale', "setting memory.types.*order*"),
    ("[title]", "[name]", "setting memory.names.*"),
    ("{order: number}", "{order: slug}", "setting memory.keys.order"),
    ("last, limit: 30", "last, limit: 20", "setting history.limit"),
    ("[system, metadata, history", "[system, history, metadata", "setting messages.order"),
    ("Other words?", "Say more?", "setting words.search.nothing"),
    ("total: 9000", "total: 8000", "setting budget.total"),
    ("work: 400000", "work: 300000", "setting limits.work"),
    ("steps: 15", "steps: 14", "setting run.steps"),
    ("kept_tools: 8", "kept_tools: 9", "setting run.kept_tools"),
    ("max_chars: 900", "max_chars: 800", "setting writable.soul.max_chars"),
    ("cl100k_base", "o200k_base", "setting tokens.encoding"),
    ("It is short.", "It is tiny.", "setting accept.conditional-section"),
    ("category: orders", "category: sales", "tool refund_order: category"),
    ("Read an order", "Read one order", "tool get_order: description"),
    ("show an order", "look at an order", "tool get_order: phrases"),
    ("Pay out", "Pay back", "tool refund_order: description"),
    ("give money back", "refund", "tool refund_order: phrases"),
    ("a clear yes", "a yes", "tool refund_order: before"),
    ("Say the amount", "Say how much", "tool refund_order: after"),
    ("next: None required", "next: get_order", "tool refund_order: next"),
    ("Never twice.", "Never again.", "tool refund_order: gotcha"),
    ("Be kind.", "Be quick.", "partial partials/tone.hbs"),
    ("Be brief.", "Be short.", "section house: text"),
    ("}} paid", "}} sent", "result refund_order: text"),
    ("value: 0.1", "value: 0.2", "file models.yaml"),
]


TWO = {
    "setting tools.cues.on_discovery": "setting tools.cues.on_result",
    "tool refund_order: category": "tool get_order: category",
}
"""What the same line says of something else."""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("changes", [CHANGES[::2], CHANGES[1::2]])
def test_each_line_is_named_where_no_turn_reaches_it_and_no_other(
    changes: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    edited = dict(FILES)
    for old, new, _ in changes:
        (place,) = [name for name, text in FILES.items() if old in text]
        assert FILES[place].count(old) == edited[place].count(old) == 1, old
        edited[place] = edited[place].replace(old, new)
    before, after = write(tmp_path / "before", FILES), write(tmp_path / "after", edited)

    ran = run("diff", before, after, "--json")
    told = json.loads(ran.stdout)["changes"]
    named = {": ".join(filter(None, (f"{each['kind']} {each['name']}", each["field"]))) for each in told}
    shown = unescape(run("diff", before, after, "--format", "markdown").stdout)
    labels = {label for _, _, label in changes}

    assert ran.exit_code == 0, ran.stderr
    assert named == labels | {with_it for label, with_it in TWO.items() if label in labels}
    assert [label for label in named if label not in shown] == []


def test_every_key_of_an_agent_file_is_among_them() -> None:
    changed = {label.split()[1].split(".")[0] for _, _, label in CHANGES if label.startswith("setting ")}
    parts = {"inputs", "sections", "results"}
    elsewhere = {"version", "extends", "roots", "template", "helpers", "models"}
    """Which file is read and by which code: what these files say is compared, and `template` has sections."""

    assert changed | parts | elsewhere == set(AgentFile.model_fields)
