"""The key `words:` of an agent file: every text that the engine and its adapters themselves send to a model.

English is the default. A word is not a template: its `{placeholders}` are filled in one pass, and the values can
neither open nor close an element of any word.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field, create_model

from cuecard.config.documents.validation import FileModel
from cuecard.config.values import holds
from cuecard.config.words_table import GROUPS, WORDS, Word
from cuecard.template import element_names
from cuecard.template.guards.escaping import escape_text


class Words(FileModel):
    """A group of texts, each of which is an attribute."""

    if TYPE_CHECKING:
        types: dict[str, str]

        def __getattr__(self, key: str) -> str:
            """The text of a key of the table."""


def _group(name: str) -> Any:
    """The model of a group, made of the table."""
    rows = {key.partition(".")[2]: word for key, word in WORDS.items() if key.startswith(f"{name}.")}
    fields: dict[str, Any] = {key: _field(word) for key, word in rows.items()}
    made = create_model(f"{name.removesuffix('s').title()}Words", __base__=Words, __doc__=GROUPS[name], **fields)
    made.removed = _REMOVED.get(name, {})
    return made


def _field(word: Word) -> tuple[Any, Any]:
    known = [name.removesuffix("!") for name in word.holds.split()]
    needed = tuple(name for name in known if f"{name}!" in word.holds.split())
    text: Any = Annotated[str, holds(*known, required=needed), *word.rules]
    if word.by_type:
        return dict[str, text], Field(default_factory=dict, description=word.description)
    return text, Field(word.default, description=word.description, min_length=word.least or None)


_REMOVED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"notices": {"withdrawn_instructions": "delete it: changed instructions begin a new system prompt"}}
)

if TYPE_CHECKING:
    SearchWords: TypeAlias = Words
    NoticeWords: TypeAlias = Words
    MemoryWords: TypeAlias = Words
    ProtocolWords: TypeAlias = Words
    SkillWords: TypeAlias = Words
    ToolWords: TypeAlias = Words
    ResultWords: TypeAlias = Words
    MarkWords: TypeAlias = Words
else:
    SearchWords, NoticeWords, MemoryWords, ProtocolWords, SkillWords, ToolWords, ResultWords, MarkWords = map(
        _group, GROUPS
    )


class WordsSpec(FileModel):
    """The engine's own texts for a model. The values of `{placeholders}` are always treated as data."""

    search: SearchWords = Field(SearchWords.usual(), description="the answers of the search tool")
    notices: NoticeWords = Field(NoticeWords.usual(), description="notices during a conversation")
    memory: MemoryWords = Field(MemoryWords.usual(), description="the working memory")
    protocols: ProtocolWords = Field(ProtocolWords.usual(), description="the instructions of a tool")
    skills: SkillWords = Field(SkillWords.usual(), description="the answers of a tool that reads skills")
    tools: ToolWords = Field(ToolWords.usual(), description="tools that cannot be called, and the engine's own tools")
    results: ResultWords = Field(ResultWords.usual(), description="results of tools that were cut in the middle")
    marks: MarkWords = Field(MarkWords.usual(), description="separators")

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Every text by its key, such as `search.found`; one for a type of entities has the type as its last part."""
        return MappingProxyType(dict(self._texts()))

    @cached_property
    def elements(self) -> frozenset[str]:
        """The names of the elements in the words; no data may open or close them."""
        return frozenset[str]().union(*map(element_names, self.texts.values()))

    def quoted(self, text: str) -> str:
        """A value quoted for use in a word, so that it can neither open nor close any word's element."""
        return escape_text(text, self.elements, mode="names")

    def listed(self, texts: Iterable[str]) -> str:
        """Values joined as a list, each quoted."""
        return self.marks.between.join(map(self.quoted, texts))

    def number(self, number: int) -> str:
        """A number with a thousands separator."""
        return f"{number:,}".replace(",", self.marks.thousands)

    def _texts(self) -> Iterator[tuple[str, str]]:
        for key, word in WORDS.items():
            group, _, name = key.partition(".")
            told: Any = getattr(getattr(self, group), name)
            yield from ((f"{key}.{kind}", text) for kind, text in told.items()) if word.by_type else [(key, told)]


ENGLISH = WordsSpec.usual()
"""The words of an agent file that does not change any."""
