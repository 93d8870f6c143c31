"""The agent file: one YAML mapping that configures one assistant's prompt."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.history_spec import HistorySpec, StackSpec
from cuecard.config.results_spec import MemorySpec, Results
from cuecard.config.sections.section_spec import LayoutSpec, SectionId, SectionSpec, SelectionSpec
from cuecard.config.sections.sources_spec import AccessSpec, VisibilitySpec
from cuecard.config.tools_spec import AheadSpec, CuesSpec, Helpers, SearchSpec
from cuecard.config.values import InputType, Name, Names, NamesAndPatterns, Texts, ToolName, as_tuple
from cuecard.config.words_spec import WordsSpec
from cuecard.model import DeliveryWish, Json, Lifetime, ReloadPolicy
from cuecard.model.argument_problems import not_right


def _named(value: Any) -> Any:
    if isinstance(value, bool):
        hint = "write `default: null` for an input that your program may leave out"
        raise not_right("should name keys that a value may lack", hint, "wrong-value")
    return value


class InputSpec(FileModel):
    """A value that your program supplies with a user message."""

    type: InputType = Field("string", description="the JSON type of the value")
    default: Json = Field(
        None,
        description="the value if your program supplies none, of that type or null; without a default, the input "
        "is required",
    )
    trust: Literal["data", "author"] = Field(
        "data", description="`data` is escaped as a value; `author` is printed as written"
    )
    merge: bool = Field(
        default=False,
        description="for objects: merge your program's keys into `default` at every depth, instead of replacing the "
        "whole object",
    )
    values: Annotated[tuple[Json, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="the allowed values; by default any value of its type", min_length=1
    )
    optional: Annotated[Texts, BeforeValidator(_named)] = Field(
        (),
        description="for objects, and lists of them: keys that a value may lack, such as `nick` or `address.city`, "
        "which are null then, and print nothing",
    )
    lifetime: Lifetime | None = Field(
        None,
        description="`turn` for a value that belongs to one message, `step` for one that belongs to one request: the "
        "text of sections that read it leaves the conversation then",
    )
    tier: Literal["call", "step"] = Field(
        "call", description="`step` if the value may change between the requests of a turn; its lifetime is then `turn`"
    )
    description: str = Field("", description="what the input is for")

    @property
    def lives(self) -> Lifetime:
        """How long its value lives."""
        return self.lifetime or ("turn" if self.tier == "step" else "conversation")

    @property
    def required(self) -> bool:
        """Whether the host must supply it."""
        return "default" not in self.model_fields_set


class ToolsSpec(FileModel):
    """Where tool instructions come from, and which tools are always active."""

    instructions: Texts = Field((), description="folders or files of tool instructions, relative to this file")
    core: NamesAndPatterns = Field(
        (),
        description="tools that are active from the first model request: their names, and patterns such as "
        "`calendar_*`, which also match tools that come with a tool server or a turn; `all` for every tool, so that "
        "there is no search",
    )
    unmatched: Literal["warn", "refuse"] = Field(
        "warn",
        description="what becomes of an entry without a tool of your program, or a tool without an entry, where your "
        "program's tools are known: the manifest says so, with a warning where there are both or a name looks "
        "misspelt; or the user message is refused",
    )
    search: SearchSpec = Field(SearchSpec.usual(), description="the search tool")
    cues: CuesSpec = Field(CuesSpec.usual(), description="when each part of a tool's instructions reaches the model")
    ahead: AheadSpec | None = Field(
        None, description="discovers tools from the user's message, before the model searches; off by default"
    )
    visibility: VisibilitySpec = Field(
        VisibilitySpec.usual(), description="how the gates of a user message switch tools on and off"
    )


class WritableSpec(FileModel):
    """A section that a model may rewrite through a tool of your program: what it writes is data, never a template."""

    section: SectionId = Field(description="the section: its own headings stay, and the text below them is replaced")
    max_chars: int = Field(4_000, ge=1, le=4_000, description="the maximum number of characters of the text")


class BudgetSpec(FileModel):
    """Limits in tokens. Whatever does not fit in full is left out and recorded in the manifest."""

    total: int | None = Field(None, ge=1, description="the whole prompt")
    protocols: int | None = Field(
        None,
        ge=1,
        description="the instructions of discovered tools; a tool whose instructions do not fit is not active",
    )
    definitions: int | None = Field(
        None,
        ge=1,
        description="the definitions of active tools, as JSON, apart from `total`; a tool whose definition does not "
        "fit is not active. Counted are those that your program or a tool server passes with its tools",
    )


class LimitsSpec(FileModel):
    """The maximum cost of one section each time it is rendered; exceeding it is an error."""

    work: int = Field(500_000, ge=1, le=100_000_000, description="loop items; a partial call counts as five")
    output: int = Field(10_000_000, ge=1, le=100_000_000, description="characters")


class RunSpec(FileModel):
    """Limits of a run: of what the agent does for one user message, and of its tools."""

    steps: int | None = Field(None, ge=1, le=1000, description="the maximum number of requests to the model")
    retries: int | None = Field(
        None, ge=0, le=1000, description="how often a tool that failed may be called again; more calls are refused"
    )
    failures: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="after so many failed calls in a conversation, whatever the tools, calls are refused",
    )
    kept_tools: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="how many discovered tools the system prompt keeps when it is made anew: those used last; a search "
        "finds the others again",
    )
    first_tool: ToolName | None = Field(
        None, description="the core tool that has to be called before any other; other calls are refused until then"
    )
    force_first: bool = Field(
        default=False,
        description="forces the model to call `first_tool` in the first request (`tool_choice`), which drops cached "
        "messages from the provider's cache; not every model takes it",
    )
    always: Names = Field((), description="tools that none of these limits refuses, such as one that ends the turn")

    @model_validator(mode="after")
    def _forces_something(self) -> Self:
        if self.force_first and self.first_tool is None:
            raise ValueError("has `force_first` without `first_tool`, the tool to call first")
        return self


class TokensSpec(FileModel):
    """How tokens are counted."""

    encoding: Literal["o200k_base", "cl100k_base"] = Field("o200k_base", description="the bundled token table")


class TemplateSpec(FileModel):
    """The core template and how it is compiled."""

    file: str = Field(description="the XML core template, relative to the agent file")
    partials: str = Field("", description="a folder of partials, relative to the agent file")
    escaping: Literal["text", "names"] = Field(
        "text", description="how `{{{x}}}` prints data: every `<` escaped, or only this prompt's own element names"
    )
    backend: Literal["cuecard", "pybars3"] = Field(
        "cuecard", description="the backend that renders templates; `pybars3` needs the extra of that name"
    )


Template = Annotated[
    TemplateSpec,
    BeforeValidator(
        lambda value: {"file": value} if isinstance(value, str) else value, json_schema_input_type=str | TemplateSpec
    ),
]


VERSION = 1
"""Raised whenever agent files get a meaning that older versions of cuecard would misread."""


def _named_somewhere(schema: dict[str, Any]) -> None:
    """For editors, which see only one file: a file that extends others may inherit the name from them."""
    schema.pop("required", None)
    schema["anyOf"] = [{"required": ["agent"]}, {"required": ["extends"]}]


class AgentFile(FileModel):
    """One assistant's prompt: a template or sections, inputs, tools, memory, delivery, budgets."""

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_named_somewhere)

    version: int = Field(VERSION, ge=1, le=VERSION, description="the version of this file's format")
    agent: Name = Field(description="the agent's name")
    extends: Texts = Field(
        (), description="agent files that this one extends, relative to it; later ones take precedence"
    )
    roots: Texts = Field(
        (),
        description="further folders, relative to this file, that symbolic links may point into; by default only this "
        "file's folder and the folders it names",
    )
    template: Template | None = Field(
        None, description="the XML core template: its path, or a mapping with more settings"
    )
    sections: Annotated[tuple[SectionSpec, ...], BeforeValidator(as_tuple)] = Field(
        (),
        description="without a template: the parts of the prompt, in order; with a template or `extends`: changes to "
        "existing sections, by `id`",
    )
    layout: LayoutSpec = Field(LayoutSpec.usual(), description="how sections are joined")
    profiles: dict[SectionId, SelectionSpec] = Field(
        default_factory=dict, description="named sets of sections, one of which a turn can choose"
    )
    variants: dict[SectionId, SelectionSpec] = Field(
        default_factory=dict, description="named changes, one of which a turn can choose on top of a profile"
    )
    access: dict[SectionId, AccessSpec] = Field(
        default_factory=dict,
        description="which tools each kind of user may have, such as `editor`: the turn names one; `default` is for "
        "turns that name none",
    )
    writable: dict[Name, WritableSpec] = Field(
        default_factory=dict,
        description="sections that a model may rewrite, by the name that your program's tool uses: the text is "
        "in `written-by-model/NAME.md` beside this file, if there is one",
    )
    whitespace: Literal["keep", "compact", "paragraphs"] = Field(
        "keep",
        description="`compact` removes blank lines and spaces at line ends from the finished prompt; `paragraphs` "
        "leaves one blank line of several, and removes spaces at line ends",
    )
    inputs: dict[Name, InputSpec] = Field(default_factory=dict, description="values that your program supplies")
    helpers: Helpers = Field((), description="your own functions that templates can call, besides the built-in helpers")
    tools: ToolsSpec = Field(ToolsSpec.usual(), description="tool instructions, core tools, search")
    results: Results = Field(
        default_factory=dict,
        description="how the model sees tool results, by tool name or pattern; the first matching pattern applies",
    )
    memory: MemorySpec = Field(MemorySpec.usual(), description="the working memory")
    history: HistorySpec | None = Field(
        None, description="how much of the conversation goes into a request; all of it by default"
    )
    messages: StackSpec = Field(StackSpec.usual(), description="the order of the messages of a request")
    delivery: DeliveryWish = Field(
        "append",
        description="where the instructions of discovered tools go; `auto` decides by what your program and the model "
        "can do",
    )
    words: WordsSpec = Field(WordsSpec.usual(), description="the engine's own texts for the model; English by default")
    models: str = Field("", description="a file with your own model profiles, which override the shipped ones")
    reload: ReloadPolicy = Field(
        "next-conversation",
        description="when a change to these files reaches a running conversation",
    )
    budget: BudgetSpec = Field(BudgetSpec.usual(), description="limits in tokens")
    limits: LimitsSpec = Field(LimitsSpec.usual(), description="how much work rendering a section may take")
    run: RunSpec = Field(RunSpec.usual(), description="limits of a run: requests, failed calls, tools")
    tokens: TokensSpec = Field(TokensSpec.usual(), description="how tokens are counted")
    accept: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict, description="accepted warnings of `cuecard check`: code to reason"
    )
