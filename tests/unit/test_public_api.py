"""What `import cuecard` promises: every name that its signatures use, all real, and nothing loaded before use."""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pydantic
import pytest

import cuecard
import cuecard.types
from cuecard.types import RENAMED

TOP = [
    "Call",
    "Conversation",
    "ConversationState",
    "CuecardError",
    "Engine",
    "Entity",
    "FileText",
    "Gates",
    "InputError",
    "Library",
    "Manifest",
    "Memory",
    "Message",
    "Pins",
    "Problem",
    "Recorder",
    "SpecError",
    "Step",
    "Template",
    "TemplateRenderError",
    "ToolCard",
    "ToolResult",
    "Turn",
    "Watcher",
    "__version__",
    "compare_manifests",
    "compile_template",
    "trusted",
    "watch",
    "with_answer",
]
TYPES = [
    "Agent",
    "AnyRanker",
    "Appended",
    "AsyncRanker",
    "AsyncSummarizer",
    "Authority",
    "Backend",
    "Break",
    "CacheOutcome",
    "CacheRecord",
    "CacheVerdict",
    "Calibration",
    "CallHost",
    "CallInputs",
    "CallPrompt",
    "CallRecord",
    "CallRun",
    "CallTools",
    "Cause",
    "CauseKind",
    "Change",
    "ChangeKind",
    "Clock",
    "Comparison",
    "Configuration",
    "CountTokens",
    "Cut",
    "Definitions",
    "Delivery",
    "DeliveryChoice",
    "DeliveryWish",
    "Diagnostic",
    "DidYouMean",
    "Discovery",
    "EditedVersion",
    "End",
    "EndedText",
    "EndpointEntry",
    "EngineSource",
    "Escaping",
    "Explanation",
    "Figures",
    "Helper",
    "History",
    "Hit",
    "Host",
    "InputSpec",
    "InputType",
    "InputUse",
    "Interface",
    "Json",
    "KeptStates",
    "Layer",
    "LibraryError",
    "LibraryOrigin",
    "LibraryWatcher",
    "Lifetime",
    "Limits",
    "Match",
    "MidConversation",
    "ModelEntry",
    "ModelProfile",
    "ModelProfiles",
    "ModelsFile",
    "Move",
    "Pace",
    "Part",
    "ProviderReason",
    "QueryWord",
    "RankedTool",
    "Ranker",
    "RankerMaker",
    "Reasons",
    "RecorderStatus",
    "Refusal",
    "Refusals",
    "ReloadPolicy",
    "Removed",
    "RenderedResult",
    "ResultRecord",
    "Role",
    "RunLimit",
    "RunLimitError",
    "RunLimits",
    "SearchResult",
    "SectionPlace",
    "SectionRecord",
    "Segment",
    "ServedEngine",
    "SettingsError",
    "Severity",
    "Sink",
    "SkillText",
    "SourceRow",
    "Span",
    "States",
    "Status",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "TemplateError",
    "TemplateLimitError",
    "TemplateSyntaxError",
    "Tier",
    "TokenCounter",
    "TokenSource",
    "TokenTotals",
    "Tokenizer",
    "TokenizerError",
    "ToolCall",
    "ToolInstructions",
    "ToolServerError",
    "TrustedText",
    "Version",
    "Watching",
    "WithheldTool",
    "WordsSpec",
    "messages_from_json",
]
PUBLIC = {**dict.fromkeys(TOP, cuecard), **dict.fromkeys(TYPES, cuecard.types)}

DOCS = Path(__file__).parents[2] / "docs"
ELSEWHERE = ("typing", "collections.abc", "datetime", "pathlib", "pydantic", "cuecard.model.boundary")
"""The last has checked texts, numbers and JSON, which are plain ones to a host."""


def test_the_public_names_are_real() -> None:
    assert (cuecard.__all__, cuecard.types.__all__) == (TOP, TYPES)
    assert len(PUBLIC) == len(TOP) + len(TYPES)
    assert all(getattr(module, name) is not None for name, module in PUBLIC.items())
    assert (dir(cuecard), dir(cuecard.types)) == (TOP, TYPES)
    with pytest.raises(AttributeError, match="no attribute 'Enigne'"):
        operator.attrgetter("Enigne")(cuecard)


@pytest.mark.parametrize("name", TYPES)
def test_a_name_that_moved_goes_on_working_and_says_where_it_is(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"`cuecard\.{name}` is `cuecard\.types\.{name}` now"):
        assert getattr(cuecard, name) is getattr(cuecard.types, name)


@pytest.mark.parametrize("home", [cuecard, cuecard.types])
def test_an_old_name_goes_on_working_and_says_what_it_is_now(home: ModuleType) -> None:
    for name, now in RENAMED.items():
        with pytest.warns(DeprecationWarning, match=rf"`{home.__name__}.{name}` is `cuecard.types.{now}` now") as told:
            assert getattr(home, name) is getattr(cuecard.types, now)
        assert (len(told), told[0].filename) == (1, __file__)


def test_a_program_that_has_imported_nothing_else_finds_them_and_is_told_of_a_misspelt_one() -> None:
    program = "import cuecard\nprint(hasattr(cuecard, 'Enigne'))\nfrom cuecard import Agent\nprint(Agent.__name__)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "Agent"]


def test_an_engine_is_shown_by_the_name_of_its_agent() -> None:
    """`asyncio.run` shows the result of a task twice, and results of frameworks hold engines in many places."""
    shown = repr(cuecard.Engine.open(DOCS.parent / "prompts" / "cms"))

    assert shown.startswith("Engine(agent=Agent('cms', sha256='")
    assert len(shown) < 500


def test_the_version_is_that_of_the_package() -> None:
    assert cuecard.__version__ == version("cuecard")
    script = "import sys; sys.argv = ['cuecard', '--version']\nfrom cuecard.cli.main import main\nmain()"
    assert _run(script) == f"cuecard {version('cuecard')}"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_type_of_a_signature_can_be_imported_from_cuecard(name: str) -> None:
    """Class by class: what each of them names is a public name, and so is walked by its own case."""
    used = set(_names_in(getattr(PUBLIC[name], name)))

    assert {each for each in used - {"agreed"} if each not in PUBLIC} == set()  # a check, and no type


def test_the_walk_sees_what_it_should() -> None:
    """Otherwise it could pass by finding nothing."""
    assert {"Turn", "History", "Call"} <= set(_names_in(cuecard.Engine))
    assert {"DeliveryWish", "Message", "Gates"} <= set(_names_in(cuecard.Turn))
    assert {"SummaryRequest"} <= set(_names_in(cuecard.types.Summarizer))
    assert {"Watcher", "Pace"} <= set(_names_in(cuecard.watch))
    assert {"InputUse"} <= set(_names_in(cuecard.Template))


def test_every_public_error_that_a_docstring_names_can_be_caught() -> None:
    raised = {
        error
        for name in PUBLIC
        for member in _members(getattr(PUBLIC[name], name))
        for error in re.findall(r"^\s+(\w+Error): ", inspect.getdoc(member) or "", re.MULTILINE)
    }

    assert "TemplateRenderError" in raised
    assert {each for each in raised if each not in PUBLIC and not hasattr(builtins, each)} == set()


def test_every_fact_of_an_engine_is_documented() -> None:
    page = (DOCS / "api" / "engine.md").read_text(encoding="utf-8")
    facts = [name for name, member in inspect.getmembers(cuecard.Engine) if isinstance(member, property)]

    assert len(facts) > 10
    assert [name for name in facts if f"- `{name}: " not in page] == []


def test_importing_cuecard_loads_nothing_heavy() -> None:
    heavy = "{'pydantic', 'lxml', 'tiktoken', 'ruamel', 'numpy', 'bm25s', 'argparse', 'rich', 'pydantic_ai', 'mcp'}"
    script = f"import sys, cuecard; print(sorted({heavy} & set(sys.modules)))"

    assert _run(script) == "[]"


def test_help_loads_only_what_it_prints_with() -> None:
    heavy = "{'pydantic', 'lxml', 'tiktoken', 'ruamel', 'numpy', 'bm25s', 'pydantic_ai', 'mcp'}"
    script = (
        "import sys\nfrom cuecard.cli.main import main\nsys.argv = ['cuecard', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )

    assert _run(script) == "[]"


def test_a_template_loads_no_configuration() -> None:
    script = (
        "import sys\nfrom cuecard import compile_template, trusted\n"
        "compile_template('{{a}}').render({'a': trusted('b')})\n"
        "print(sorted({'lxml', 'ruamel', 'tiktoken', 'pydantic_settings'} & set(sys.modules)))"
    )

    assert _run(script) == "[]"


def _run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def _names_in(public: Any) -> Iterator[str]:
    """The names of our own that its annotations use; what is marked as internal is no part of the API."""
    if _is_internal(public):
        return
    for member in _members(public):
        module = inspect.getmodule(member)
        if module and module.__name__.startswith("cuecard"):
            for annotation in _annotations(member):
                yield from _ours(annotation, vars(module))
    yield from _aliased(public)


def _members(public: Any) -> Iterator[Any]:
    """A function, or a class with those above it, their properties and methods."""
    if not isinstance(public, type):
        yield public
        return
    for kind in public.__mro__:
        if not kind.__module__.startswith("cuecard") or issubclass(kind, pydantic.BaseModel):
            continue  # docs/settings has the fields of files, key by key
        yield kind
        for name, member in vars(kind).items():
            function = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "func", None) or member)
            function = getattr(function, "__func__", function)
            if inspect.isfunction(function) and not _is_hidden(name, function):
                yield function


def _is_hidden(name: str, function: Any) -> bool:
    return (name.startswith("_") and name not in {"__init__", "__call__"}) or _is_internal(function)


def _is_internal(member: Any) -> bool:
    """What says so, and constructors that say what to use instead."""
    said = (member.__doc__ or "") if isinstance(member, type) or inspect.isfunction(member) else ""
    return "Internal:" in said or said.startswith("Use `")


def _annotations(member: Any) -> Iterator[str]:
    """As they are written: an alias is a name, too."""
    for name, annotation in inspect.get_annotations(member).items():
        if not name.startswith("_"):
            yield annotation if isinstance(annotation, str) else ""
    if isinstance(member, type):
        for node in ast.walk(ast.parse(inspect.getsource(member))):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Attribute)
                and node.target.attr[0] != "_"
            ):
                yield ast.unparse(node.annotation)


def _ours(annotation: str, around: dict[str, Any]) -> Iterator[str]:
    for node in ast.walk(ast.parse(annotation or "None", mode="eval")):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id) and not _is_elsewhere(node.id, around):
            yield node.id


def _is_elsewhere(name: str, around: dict[str, Any]) -> bool:
    """Whether a name of a module is one of Python's own, or a type variable."""
    value = around.get(name)
    return isinstance(value, typing.TypeVar) or any(getattr(import_module(m), name, None) is value for m in ELSEWHERE)


def _aliased(public: Any) -> Iterator[str]:
    """The classes of ours within an alias such as `Callable[[SummaryRequest], str]`."""
    for part in typing.get_args(public):
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, type) and each.__module__.startswith("cuecard"):
                yield each.__name__
            yield from _aliased(each)
