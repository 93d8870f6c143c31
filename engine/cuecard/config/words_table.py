"""Every text that the engine itself sends to a model: its key, its default, its placeholders, and what it has to be."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pydantic import AfterValidator

from cuecard.config.word import BEHIND_A_SIGN, IN_AN_ELEMENT, NO_TAGS, SAYING, TAGS
from cuecard.model.prompt import REMINDER
from cuecard.records import dataclass

SENTENCE = (SAYING, TAGS)
OPTIONAL = (TAGS,)
NOTICE = (TAGS, IN_AN_ELEMENT)
PLAIN = (SAYING, NO_TAGS)
LINE = (NO_TAGS, BEHIND_A_SIGN)


@dataclass(frozen=True, slots=True)
class Word:
    """A row of the table.

    Attributes:
        default: the text in English.
        description: what it is for.
        holds: the placeholders that it may have; with `!` behind those that it must have.
        rules: what else it has to be.
        least: how many characters it has at least.
        by_type: whether it is a mapping of types of entities to such texts; by default without any.
    """

    default: str
    description: str
    holds: str = ""
    rules: tuple[AfterValidator, ...] = SENTENCE
    least: int = 0
    by_type: bool = False


GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "search": "What the search tool says.",
        "notices": "Notices during a conversation. Each is an element, and its last line ends in a line break.",
        "memory": "The working memory as text. It is printed as data, so it has no tags.",
        "protocols": "The lines of a tool's instructions; {text} is the text from the tool file.",
        "skills": "The answers of a skill-reading tool that has no text, or only a part of it.",
        "tools": "What a model is told about its tools when an integration calls them.",
        "results": "The text in the middle of a result that was cut there, including the line breaks around it.",
        "marks": "The punctuation between words and digits.",
    }
)
"""The mappings of `words:`, each with what its texts are."""

WORDS: Final[Mapping[str, Word]] = MappingProxyType(
    {
        "search.found_one": Word("Found 1 tool. It is now active.", "one tool was found"),
        "search.found": Word(
            "Found {count} tools. They are now active.", "several tools were found: {count}", "count!"
        ),
        "search.place": Word(
            "Read their instructions in {place} before you call them.",
            "added if several tools were found: their instructions are in the section {place}",
            "place",
            rules=OPTIONAL,
        ),
        "search.place_one": Word(
            "Read its instructions in {place} before you call it.",
            "added if one tool was found: its instructions are in the section {place}",
            "place",
            rules=OPTIONAL,
        ),
        "search.place_some": Word(
            "Before a call, read the instructions of {tools} in {place}.",
            "added if some of the tools that were found have instructions, {tools}, in the section {place}",
            "tools place",
            rules=OPTIONAL,
        ),
        "search.prompt": Word("the prompt", "the value of {place} if no section shows instructions"),
        "search.withheld": Word(
            "Not active, because there is no room left for their instructions: {tools}.",
            "added if matching tools have no room for their instructions: {tools}",
            "tools!",
        ),
        "search.withheld_definitions": Word(
            "Not active, because there is no room left for their definitions: {tools}.",
            "added if matching tools have no room for their definitions: {tools}",
            "tools!",
        ),
        "search.nothing": Word('No tool found for "{query}".', "no tool was found for {query}", "query"),
        "search.nothing_left": Word(
            "Nothing is left to find: use the tools that are active.",
            "added if every tool was found before; also the answer to a call where there is no search",
        ),
        "search.empty_query": Word("The query is empty.", "the query contains no word"),
        "search.long_query": Word(
            "The query is longer than {limit} characters.", "the query has more than {limit} characters", "limit"
        ),
        "search.advice": Word(
            "Search with a few words for what the tool should do (a verb and a noun), not for the topic.",
            "added if nothing was found and there are no examples",
            rules=OPTIONAL,
        ),
        "search.advice_with_examples": Word(
            "Search with a few words for what the tool should do (a verb and a noun), not for the topic; for "
            "example {examples}.",
            "added if nothing was found; {examples} are queries that find something",
            "examples",
            rules=OPTIONAL,
        ),
        "search.example": Word('"{query}"', "the form of one example: {query}", "query!"),
        "search.categories": Word(
            "`categories` is what there is: search for a category, or a tool, by its name.",
            "added if nothing was found, where the answer has the categories of the tools that are left to find",
            rules=OPTIONAL,
        ),
        "search.other": Word("other", "the category of tools that have none"),
        "search.wrong_limit": Word(
            "a search cannot return {limit} tools: ask for 1 to {most} tools; {usual} are usual",
            "the model asked for {limit} tools; at most {most} are allowed, {usual} is the default",
            "limit most usual",
        ),
        "search.description": Word(
            "Find tools by what they can do.", "the description of the search tool, unless a tool file has one"
        ),
        "search.query_description": Word(
            "the action as verb and object, two to five words.", "the description of its argument `query`"
        ),
        "search.limit_description": Word("at most so many tools.", "the description of its argument `limit`"),
        "notices.update": Word(
            '<context-update turn="{turn}">\n{text}</context-update>\n',
            "around changes since the previous user message: {text}, whole lines; {turn} counts them from 1",
            "text! turn",
            rules=NOTICE,
        ),
        "notices.withdrawn_sections": Word(
            "<withdrawn-sections>\n{sections}\n</withdrawn-sections>\n",
            "sections that no longer apply, by their titles: {sections}",
            "sections!",
            rules=NOTICE,
        ),
        "notices.withdrawn_tools": Word(
            "<withdrawn-tools>\n{tools}\nNo longer there: calls of them are refused.\n</withdrawn-tools>\n",
            "tools that no longer exist: {tools}",
            "tools!",
            rules=NOTICE,
        ),
        "notices.restored_tools": Word(
            "<restored-tools>\n{tools}\n</restored-tools>\n", "tools that exist again: {tools}", "tools!", rules=NOTICE
        ),
        "notices.withheld_tools": Word(
            "<withheld-tools>\n{tools}\nNot active: no room is left for their instructions. Do not call "
            "them.\n</withheld-tools>\n",
            "tools that were found but are not active, because their instructions do not fit: {tools}",
            "tools!",
            rules=NOTICE,
        ),
        "notices.withheld_definitions": Word(
            "<withheld-tools>\n{tools}\nNot active: no room is left for their definitions. Do not call "
            "them.\n</withheld-tools>\n",
            "tools that were found but are not active, because their definitions do not fit: {tools}",
            "tools!",
            rules=NOTICE,
        ),
        "notices.replaced_section": Word(
            "<replaced-text>\nFrom here on, this replaces the earlier text of: {section}\n{text}</replaced-text>\n",
            "around the text of a section that changes within a turn: {section}, its title, and {text}, whole "
            "lines; empty where the section no longer applies",
            "section! text",
            rules=NOTICE,
        ),
        "notices.reminder": Word(
            REMINDER, "around appended text that goes into the user's turn: {text}, whole lines", "text!", rules=NOTICE
        ),
        "memory.heading": Word("[WORKING MEMORY]", "its first line", rules=PLAIN),
        "memory.type": Word("{type}s:", "the line before the entities of a type: {type}", "type!", rules=PLAIN),
        "memory.types": Word(
            "", "entity type to that line, for types that need a different one", "type", rules=PLAIN, by_type=True
        ),
        "memory.entity": Word(
            '  - "{name}" ({id})', "the line of an entity: {name} and {id}, or its key", "name! id!", rules=LINE
        ),
        "memory.unnamed": Word(
            "Unnamed {type}", "the name of an entity without one; {type} is its type", "type", rules=PLAIN
        ),
        "protocols.before": Word("BEFORE: {text}", "what to do before the tool is called: {text}", "text!"),
        "protocols.after": Word("AFTER: {text}", "what to do or to say after it has succeeded: {text}", "text!"),
        "protocols.next": Word("NEXT: {text}", "which tools usually come next: {text}", "text!"),
        "protocols.gotcha": Word("GOTCHA: {text}", "what can go wrong: {text}", "text!"),
        "skills.unknown": Word(
            "there is no skill `{skill}`; {hint}",
            "{skill} does not exist; {hint} is `similar`, `known` or `none`",
            "skill hint",
        ),
        "skills.similar": Word("did you mean `{skill}`?", "a skill with a similar name: {skill}", "skill!"),
        "skills.known": Word("known here: {skills}", "the existing skills: {skills}", "skills!"),
        "skills.none": Word("there are no skills", "there are no skills"),
        "skills.no_file": Word("skill `{skill}` has no file `{file}`", "{skill} has no {file}", "skill file"),
        "skills.unreadable": Word(
            "`{file}` cannot be read: {reason}",
            "{file} cannot be read; {reason} is one of the words below",
            "file reason",
        ),
        "skills.instructions_only": Word(
            "only the instructions of skills can be read here", "files of skills are not available"
        ),
        "skills.not_relative": Word(
            "name a file relative to the skill's folder", "the file was named by an absolute path"
        ),
        "skills.hidden": Word("neither `..` nor a hidden file can be named", "a part of the path begins with a dot"),
        "skills.outside": Word(
            "it is a link that leads out of the skill's folder", "the file is outside the skill's folder"
        ),
        "skills.not_a_file": Word("this is not a regular file", "it is a folder, a device or the like"),
        "skills.too_large": Word("more than {limit} bytes", "the file has more than {limit} bytes", "limit"),
        "skills.not_a_text": Word("it is not a text", "the file is not UTF-8 text"),
        "skills.refused": Word(
            "{reason}", "the operating system refuses access; {reason} is its message, in English", "reason"
        ),
        "skills.cut_off": Word(
            "cut off after {size} of {whole} {unit}", "only {size} of {whole} {unit} are included", "size whole unit"
        ),
        "skills.bytes": Word("bytes", "the value of {unit} for bytes"),
        "skills.characters": Word("characters", "the value of {unit} for characters"),
        "tools.inactive": Word(
            "`{tool}` is not active. Call `{search}` with what you want to do, then use what it finds.",
            "{tool} was called but is not active; {search} is the search tool",
            "tool search",
        ),
        "tools.denied": Word(
            "`{tool}` is not for this user, and no search finds it. Use other tools, or tell the user what cannot be "
            "done.",
            "{tool} was called, and this user may not have it",
            "tool",
        ),
        "tools.withdrawn": Word(
            "`{tool}` is no longer there. Use other tools, or tell the user what cannot be done.",
            "{tool} was called, and your program has taken it away",
            "tool",
        ),
        "tools.withheld": Word(
            "`{tool}` is not active: there is no room left for its instructions. Use other tools, or tell the "
            "user what cannot be done.",
            "{tool} was called and had been found, but its instructions do not fit",
            "tool",
        ),
        "tools.withheld_definition": Word(
            "`{tool}` is not active: there is no room left for its definition. Use other tools, or tell the user what "
            "cannot be done.",
            "{tool} was called and had been found, but its definition does not fit",
            "tool",
        ),
        "tools.unknown": Word(
            "`{tool}` was not called: its instructions may have changed. Read them, and call it again if that is "
            "right.",
            "{tool} was called, and the request that the model has answered is not known, or the files of the agent "
            "have changed since",
            "tool",
        ),
        "tools.failed": Word(
            "`{tool}` has failed {count} times. Tell the user what failed and suggest another way.",
            "{tool} was called again after it had failed {count} times",
            "tool count",
        ),
        "tools.spent": Word(
            "`{tool}` was not called: {count} calls have failed in this conversation, so no more are made. Tell the "
            "user what failed and suggest another way.",
            "{tool} was called after {count} calls of any tools had failed (`run.failures`)",
            "tool count",
        ),
        "tools.first": Word(
            "`{tool}` was not called: call `{first}` first, then call it again.",
            "{tool} was called before {first}, which comes first (`run.first_tool`)",
            "tool first",
        ),
        "tools.final_answer": Word(
            "End the turn with this text for the user.",
            "the description of the runnable assistant's tool `final_answer`; added to that of a tool file",
        ),
        "tools.acknowledge": Word(
            "Tell the user in one sentence what is about to happen.",
            "the description of its tool `acknowledge`, unless a tool file has one",
        ),
        "results.characters": Word(
            "\n[... {count} characters left out ...]\n", "{count} characters were left out", "count!"
        ),
        "results.lines": Word("\n[... {count} lines left out ...]\n", "{count} lines were left out", "count!"),
        "results.tokens": Word("\n[... {count} tokens left out ...]\n", "{count} tokens were left out", "count!"),
        "results.media": Word(
            "[{kind}: not shown as text]", "a picture or a file in a result: {kind}, such as image/png", "kind"
        ),
        "marks.between": Word(", ", "the separator between the items of a list", rules=OPTIONAL, least=1),
        "marks.more": Word(", ...", "the end of a list that was shortened", rules=OPTIONAL),
        "marks.thousands": Word(",", "the thousands separator", rules=OPTIONAL),
    }
)
"""The texts, by group and key."""
