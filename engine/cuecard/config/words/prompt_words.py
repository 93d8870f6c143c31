"""Words of the prompt and of the blocks in a conversation: notices, working memory, instructions of tools."""

from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.placeholder_rule import holds
from cuecard.config.words.word import BEHIND_A_SIGN, IN_AN_ELEMENT, NO_TAGS, SAYING, TAGS, MayBeEmpty
from cuecard.model.prompt import REMINDER


class NoticeWords(FileModel):
    """Notices during a conversation. Each is an element, and its last line ends in a line break."""

    removed = MappingProxyType({"withdrawn_instructions": "delete it: changed instructions begin a new system prompt"})

    update: Annotated[str, holds("text", "turn", required=("text",)), TAGS, IN_AN_ELEMENT] = Field(
        '<context-update turn="{turn}">\n{text}</context-update>\n',
        description="around changes since the previous call: {text}, whole lines; {turn} counts calls from 1",
    )
    withdrawn_sections: Annotated[str, holds("sections", required=("sections",)), TAGS, IN_AN_ELEMENT] = Field(
        "<withdrawn-sections>\n{sections}\n</withdrawn-sections>\n",
        description="sections that no longer apply, by their titles: {sections}",
    )
    withdrawn_tools: Annotated[str, holds("tools", required=("tools",)), TAGS, IN_AN_ELEMENT] = Field(
        "<withdrawn-tools>\n{tools}\nNo longer there: calls of them are refused.\n</withdrawn-tools>\n",
        description="tools that no longer exist: {tools}",
    )
    restored_tools: Annotated[str, holds("tools", required=("tools",)), TAGS, IN_AN_ELEMENT] = Field(
        "<restored-tools>\n{tools}\n</restored-tools>\n", description="tools that exist again: {tools}"
    )
    withheld_tools: Annotated[str, holds("tools", required=("tools",)), TAGS, IN_AN_ELEMENT] = Field(
        "<withheld-tools>\n{tools}\nNot active: no room is left for their instructions. Do not call them.\n"
        "</withheld-tools>\n",
        description="tools that were found but are not active, because their instructions do not fit: {tools}",
    )
    replaced_section: Annotated[str, holds("section", "text", required=("section",)), TAGS, IN_AN_ELEMENT] = Field(
        "<replaced-text>\nFrom here on, this replaces the earlier text of: {section}\n{text}</replaced-text>\n",
        description="around the text of a section that changes within a turn: {section}, its title, and {text}, whole "
        "lines; empty where the section no longer applies",
    )
    reminder: Annotated[str, holds("text", required=("text",)), TAGS, IN_AN_ELEMENT] = Field(
        REMINDER, description="around a block that goes into the user's turn: {text}, whole lines"
    )


class MemoryWords(FileModel):
    """The working memory as text. It is printed as data, so it has no tags."""

    heading: Annotated[str, holds(), SAYING, NO_TAGS] = Field("[WORKING MEMORY]", description="its first line")
    type: Annotated[str, holds("type", required=("type",)), NO_TAGS] = Field(
        "{type}s:", description="the line before the entities of a type: {type}"
    )
    types: dict[str, Annotated[str, holds("type"), SAYING, NO_TAGS]] = Field(
        default_factory=dict, description="entity type to that line, for types that need a different one"
    )
    entity: Annotated[str, holds("name", "id", required=("name", "id")), NO_TAGS, BEHIND_A_SIGN] = Field(
        '  - "{name}" ({id})', description="the line of an entity: {name} and {id}, or its key"
    )
    unnamed: Annotated[str, holds("type"), SAYING, NO_TAGS] = Field(
        "Unnamed {type}", description="the name of an entity without one; {type} is its type"
    )


class ProtocolWords(FileModel):
    """The lines of a tool's instructions; {text} is the text from the tool file."""

    before: Annotated[str, holds("text", required=("text",)), TAGS] = Field(
        "BEFORE: {text}", description="what to do before the tool is called: {text}"
    )
    after: Annotated[str, holds("text", required=("text",)), TAGS] = Field(
        "AFTER: {text}", description="what to do or to say after it has succeeded: {text}"
    )
    next: Annotated[str, holds("text", required=("text",)), TAGS] = Field(
        "NEXT: {text}", description="which tools usually come next: {text}"
    )
    gotcha: Annotated[str, holds("text", required=("text",)), TAGS] = Field(
        "GOTCHA: {text}", description="what can go wrong: {text}"
    )


class MarkWords(FileModel):
    """The punctuation between words and digits."""

    between: MayBeEmpty = Field(", ", min_length=1, description="the separator between the items of a list")
    more: MayBeEmpty = Field(", ...", description="the end of a list that was shortened")
    thousands: MayBeEmpty = Field(",", description="the thousands separator")
