"""Tool instruction files: BEFORE / AFTER / NEXT / GOTCHA of each tool of one category."""

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import FileModel
from cuecard.config.tools_spec import CUES
from cuecard.config.values import Texts, ToolName
from cuecard.model import ToolCard, ToolInstructions
from cuecard.model.argument_problems import not_right


def _or_null(schema: dict[str, Any]) -> None:
    """For editors, which see only one file: in one that is laid over others, null removes what they say."""
    for field in schema["properties"].values():
        kinds = field.pop("anyOf", None) or [{"type": field.pop("type")}]
        field["anyOf"] = [*kinds, {"type": "null"}]


CueTexts = Annotated[Texts, Field(min_length=1)]


def _none_blank(phrases: tuple[str, ...]) -> tuple[str, ...]:
    if not all(map(str.strip, phrases)):
        raise not_right("should not hold blank texts: nobody searches for them", "leave the key out", "wrong-value")
    return phrases


Phrases = Annotated[Texts, AfterValidator(_none_blank)]


class ToolEntry(FileModel):
    """The instructions of one tool; each field is a text, or a list whose items after the first become `- ` lines.

    Of `before`, `after`, `next` and `gotcha`, a tool has those that say something: one that is absent or blank prints
    nothing, and `None required` is a text like any other. In an agent with `extends`, an entry of a later item of
    `tools: instructions:` changes that of an earlier one: what it does not give stays, and null removes a text.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_or_null)

    description: str = Field("", description="what the tool does, in one line, for the search index")
    phrases: Phrases = Field((), description="phrases that people or models would search for")
    before: CueTexts = Field((), description="what to have or check first")
    after: CueTexts = Field((), description="what to do or say after it has succeeded")
    next: CueTexts = Field((), description="the tools that usually follow")
    gotcha: CueTexts = Field((), description="what goes wrong, and how to avoid it")

    @property
    def instructions(self) -> ToolInstructions | None:
        """The texts as the model reads them; None if there is none."""
        texts = {cue: text for cue in CUES if (text := _lines(getattr(self, cue)))}
        return ToolInstructions(**texts) if texts else None


class DescribedEntry(FileModel):
    """A tool that needs no instructions."""

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_or_null)

    description: str = Field("", description="what the tool does, in one line")
    phrases: Phrases = Field((), description="phrases that people or models would search for")


def _written(entry: Any) -> Any:
    if entry is None:
        hint = "write its texts below it, or take it out; `exclude_tools` of a profile, and `access`, keep a tool away"
        raise not_right("should be a mapping: null removes texts of an entry, not the entry", hint, "wrong-value")
    return entry


_WRITTEN = BeforeValidator(_written)


class ToolFile(FileModel):
    """One file of tool instructions."""

    category: str = Field("", description="the category of all tools in this file")
    tools: dict[ToolName, Annotated[ToolEntry, _WRITTEN]] = Field(
        default_factory=dict, description="tool name to its entry"
    )
    described: dict[ToolName, Annotated[DescribedEntry, _WRITTEN]] = Field(
        default_factory=dict, description="tools without instructions: tool name to what is known about it"
    )

    @model_validator(mode="after")
    def _has_tools(self) -> Self:
        if not self.model_fields_set & {"tools", "described"}:
            raise ValueError("needs `tools:`, a mapping of tool names to entries, or `described:`")
        return self


def tool_cards(file: ToolFile, document: Document, source: str) -> list[ToolCard]:
    """The file's entries as cards, in file order, with those without instructions last; each has its `source:line`."""
    described = [
        ToolCard(
            name, entry.description, {}, entry.phrases, file.category, None, _place(document, "described", name, source)
        )
        for name, entry in file.described.items()
    ]
    return [*_instructed(file, document, source), *described]


def laid_over(card: ToolCard, base: ToolCard, given: Collection[str]) -> ToolCard:
    """A card over that of an earlier item: fields that its entry does not give stay the earlier one's."""
    below, above = (each.instructions or ToolInstructions() for each in (base, card))
    cues = {cue: getattr(above if cue in given else below, cue) for cue in CUES}
    return replace(
        card,
        description=card.description if "description" in given else base.description,
        phrases=card.phrases if "phrases" in given else base.phrases,
        category=card.category or base.category,
        instructions=ToolInstructions(**cues) if any(cues.values()) else None,
    )


def _instructed(file: ToolFile, document: Document, source: str) -> list[ToolCard]:
    return [
        ToolCard(
            name=name,
            description=entry.description,
            phrases=entry.phrases,
            category=file.category,
            instructions=entry.instructions,
            source=_place(document, "tools", name, source),
        )
        for name, entry in file.tools.items()
    ]


def _place(document: Document, key: str, name: str, source: str) -> str:
    return f"{source}:{document.span((key, name), key=True).line}"


def _lines(texts: tuple[str, ...]) -> str:
    if not any(text.strip() for text in texts):
        return ""
    first, *rest = texts
    return "\n".join([first.strip(), *(f"- {text.strip()}" for text in rest)])
