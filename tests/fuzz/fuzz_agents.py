"""Any texts are an agent that makes a prompt of any turn file, or fail with errors that can be drawn."""

from __future__ import annotations

from functools import cache

from cuecard import CuecardError, Engine, SpecError
from cuecard.agent.build import build_agent, make_draft
from cuecard.agent.lint import lint
from cuecard.agent.world import Memo
from cuecard.config.assistant_file import AssistantFile
from cuecard.config.documents.sources import AgentSources, SkillSource, SourceText
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.file_kinds import refuse_other_kind
from cuecard.config.scenario_file import ScenarioFile
from cuecard.config.turn_file import ConversationFile, TurnFile, to_turn
from cuecard.files.clock import utc_now
from cuecard.files.tokens import bundled_counter
from cuecard.types import ModelsFile
from cuecard.workbench.bench.measure import read_queries
from cuecard.workbench.played import past_results
from fuzz.drawn import check_told
from fuzz.fuzz_yaml import PIECES as YAML

CUT = "\x1e"
"""Between the texts of one input."""

PIECES = (
    *(*YAML, CUT, "- {id: ", "text: ", "files: {entries: [", "rows: {", "clock: {}", "skills: {roots: [s]}", "when: "),
    *("memory: {", "tools: {core: [", "extract: ", "layout: {", "heading: ", "profiles: {", "variants: {", "cues: "),
    *(
        "sections:\n",
        "extends: ",
        "results: {",
        "history: {",
        "words: {",
        "budget: {",
        "models: ",
        "{{",
        "}}",
        "{{{x}}}",
    ),
    *(
        "<a>",
        "</a>",
        "{{#each x}}",
        "{{/each}}",
        "inputs: ",
        "message: ",
        "results: ",
        "expect: ",
        "turns: ",
        "clock: ",
    ),
)
PHRASES = (
    *("agent: a\n", "template: agent.xml\n", "inputs: {x: {default: ''}}\n", "tools: {instructions: tools.yaml}\n"),
    *(
        "sections:\n  - {id: s, text: '{{{x}}}'}\n",
        "  - {id: t, clock: {}, text: '{{{date}}}'}\n",
        "delivery: frozen\n",
    ),
    *("  - {id: f, files: {entries: [{path: n.md}, {glob: '*.md'}], item: '{{{path}}}{{{content}}}'}}\n", CUT, CUT * 2),
    *(
        "  - {id: k, skills: {roots: [s]}}\n",
        "  - {id: r, rows: {input: x, item: '{{{a}}}'}}\n",
        "memory: {total: 9}\n",
    ),
    *(
        "<a>{{{x}}}</a>",
        "{{#if x}}b{{/if}}",
        "<a>\n{{{activeProtocols}}}</a>\n",
        "tools:\n  b: {before: c, after: d}\n",
    ),
    *("message: hi\n", "inputs: {x: 5}\n", "expect: {tokens: {most: 9}}\n", "memory: [{type: p, id: 1, name: q}]\n"),
    *("---\nname: s\ndescription: Plans.\n---\nDo it.\n", "models: {m: {context: 9}}\n", "turns: [{message: a}]\n"),
)
KINDS = (TurnFile, ConversationFile, ModelsFile, ScenarioFile, AssistantFile)


@cache
def plain() -> Engine:
    """An agent that is asked with any turn."""
    return opened(AgentSources(SourceText("agent.yaml", "agent.yaml", "agent: a\nsections: [{id: s, text: Hi.}]\n")))


def opened(sources: AgentSources) -> Engine:
    """An engine over texts."""
    agent = build_agent(sources)
    return Engine(agent, agent.spec.delivery, bundled_counter(agent.spec.tokens.encoding), utc_now)


def target(data: bytes) -> None:
    """Read one input: an agent file, a template, tools, a file, a skill, models and a turn."""
    texts = data.decode("utf-8", "replace").split(CUT)
    agent, template, tools, note, skill, models, turn = (*texts, *[""] * 7)[:7]
    sources = AgentSources(
        SourceText("agent.yaml", "agent.yaml", agent),
        SourceText("agent.xml", "agent.xml", template),
        instructions=(SourceText("tools.yaml", "tools.yaml", tools),),
        files=(SourceText("n.md", "n.md", note),),
        skills=(SkillSource("s/SKILL.md", "s/SKILL.md", skill, "s", "s"),) if skill else (),
        models=SourceText("models.yaml", "models.yaml", models) if models else None,
    )
    engine = plain()
    try:
        engine = opened(sources)
        check_linted(sources, engine)
    except CuecardError as error:
        check_told(error)
    check_turn(turn or note, engine)
    for text in texts:
        check_other(text)


def check_linted(sources: AgentSources, engine: Engine) -> None:
    """What `cuecard check` says of it can be drawn."""
    problems = lint(make_draft(sources, Memo()), count=engine.count, schema="")
    if problems:
        check_told(SpecError(problems))


def check_turn(text: str, engine: Engine) -> None:
    """A turn file makes a prompt, or says what is wrong."""
    try:
        file = validate(read_yaml(text, "turn.yaml"), TurnFile)
        call = engine.prepare_call(to_turn(file, file.inputs))
        assert isinstance(engine.prepare_step(call, past_results(engine, file, call).results).system, str)
    except CuecardError as error:
        check_told(error)


def check_other(text: str) -> None:
    """The same text as every other kind of file."""
    for kind in KINDS:
        try:
            document = read_yaml(text, "x.yaml")
            refuse_other_kind(document, "turn")
            validate(document, kind)
        except CuecardError as error:
            check_told(error)
    try:
        read_queries(text, "q.jsonl")
    except CuecardError as error:
        check_told(error)
