"""Tool instruction files: BEFORE / AFTER / NEXT / GOTCHA of each tool of one category."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import FileModel
from cuecard.config.tools_spec import CUES
from cuecard.config.values import Texts, ToolName
from cuecard.model import ToolCard, ToolInstructions

CueTexts = Annotated[Texts, Field(min_length=1)]


class ToolEntry(FileModel):
    """The instructions of one tool; each field is a text, or a list whose items after the first become `- ` lines.

    Of `before`, `after`, `next` and `gotcha`, a tool has those that say something: one that is absent or blank prints
    nothing, and `None required` is a text like any other.
    """

    description: str = Field("", description="what the tool does, in one line, for the search index")
    phrases: Texts = Field((), description="phrases that people or models would search for")
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

    description: str = Field("", description="what the tool does, in one line")
    phrases: Texts = Field((), description="phrases that people or models would search for")


class ToolFile(FileModel):
    """One file of tool instructions."""

    category: str = Field("", description="the category of all tools in this file")
    tools: dict[ToolName, ToolEntry] = Field(default_factory=dict, description="tool name to its entry")
    described: dict[ToolName, DescribedEntry] = Field(
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
