"""The key `words:` of an agent file: every text that the engine and its adapters themselves send to a model.

English is the default. A word is not a template: its `{placeholders}` are filled in one pass, and the values can
neither open nor close an element of any word.
"""

from collections.abc import Iterable
from functools import cached_property

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.words.answers import SearchWords, SkillWords, ToolWords
from cuecard.config.words.prompt_words import MarkWords, MemoryWords, NoticeWords, ProtocolWords
from cuecard.config.words.result_words import ResultWords
from cuecard.template import element_names
from cuecard.template.guards.guard import escape_text


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
    def elements(self) -> frozenset[str]:
        """The names of the elements in the words; no data may open or close them."""
        texts = (text for group in self.model_dump().values() for text in group.values() if isinstance(text, str))
        return frozenset[str]().union(*map(element_names, texts))

    def quoted(self, text: str) -> str:
        """A value quoted for use in a word, so that it can neither open nor close any word's element."""
        return escape_text(text, self.elements, mode="names")

    def listed(self, texts: Iterable[str]) -> str:
        """Values joined as a list, each quoted."""
        return self.marks.between.join(map(self.quoted, texts))

    def number(self, number: int) -> str:
        """A number with a thousands separator."""
        return f"{number:,}".replace(",", self.marks.thousands)


ENGLISH = WordsSpec.usual()
"""The words of an agent file that does not change any."""
