"""Words that answer tool calls: those of the search tool, of a tool that reads skills, and of an unavailable tool."""

from typing import Annotated

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.placeholder_rule import holds
from cuecard.config.words.word import SAYING, TAGS, MayBeEmpty, Word


class SearchWords(FileModel):
    """What the search tool says."""

    found_one: Word = Field("Found 1 tool. It is now active.", description="one tool was found")
    found: Annotated[str, holds("count", required=("count",)), TAGS] = Field(
        "Found {count} tools. They are now active.", description="several tools were found: {count}"
    )
    place: Annotated[str, holds("place"), TAGS] = Field(
        "Read their instructions in {place} before you call them.",
        description="added if several tools were found: their instructions are in the section {place}",
    )
    place_one: Annotated[str, holds("place"), TAGS] = Field(
        "Read its instructions in {place} before you call it.",
        description="added if one tool was found: its instructions are in the section {place}",
    )
    prompt: Word = Field("the prompt", description="the value of {place} if no section shows instructions")
    withheld: Annotated[str, holds("tools", required=("tools",)), TAGS] = Field(
        "Not active, because there is no room left for their instructions: {tools}.",
        description="added if matching tools have no room for their instructions: {tools}",
    )
    nothing: Annotated[str, holds("query"), SAYING, TAGS] = Field(
        'No tool found for "{query}".', description="no tool was found for {query}"
    )
    nothing_left: Word = Field(
        "Nothing is left to find: use the tools that are active.",
        description="added if every tool was found before; also the answer to a call where there is no search",
    )
    empty_query: Word = Field("The query is empty.", description="the query contains no word")
    long_query: Annotated[str, holds("limit"), SAYING, TAGS] = Field(
        "The query is longer than {limit} characters.", description="the query has more than {limit} characters"
    )
    advice: MayBeEmpty = Field(
        "Search with a few words for what the tool should do (a verb and a noun), not for the topic.",
        description="added if nothing was found and there are no examples",
    )
    advice_with_examples: Annotated[str, holds("examples"), TAGS] = Field(
        "Search with a few words for what the tool should do (a verb and a noun), not for the topic; "
        "for example {examples}.",
        description="added if nothing was found; {examples} are queries that find something",
    )
    example: Annotated[str, holds("query", required=("query",)), TAGS] = Field(
        '"{query}"', description="the form of one example: {query}"
    )
    wrong_limit: Annotated[str, holds("limit", "most", "usual"), SAYING, TAGS] = Field(
        "a search cannot return {limit} tools: ask for 1 to {most} tools; {usual} are usual",
        description="the model asked for {limit} tools; at most {most} are allowed, {usual} is the default",
    )
    description: Word = Field(
        "Find tools by what they can do.", description="the description of the search tool, unless a tool file has one"
    )
    query_description: Word = Field(
        "the action as verb and object, two to five words.", description="the description of its argument `query`"
    )
    limit_description: Word = Field("at most so many tools.", description="the description of its argument `limit`")


class SkillWords(FileModel):
    """The answers of a skill-reading tool that has no text, or only a part of it."""

    unknown: Annotated[str, holds("skill", "hint"), SAYING, TAGS] = Field(
        "there is no skill `{skill}`; {hint}",
        description="{skill} does not exist; {hint} is `similar`, `known` or `none`",
    )
    similar: Annotated[str, holds("skill", required=("skill",)), TAGS] = Field(
        "did you mean `{skill}`?", description="a skill with a similar name: {skill}"
    )
    known: Annotated[str, holds("skills", required=("skills",)), TAGS] = Field(
        "known here: {skills}", description="the existing skills: {skills}"
    )
    none: Word = Field("there are no skills", description="there are no skills")
    no_file: Annotated[str, holds("skill", "file"), SAYING, TAGS] = Field(
        "skill `{skill}` has no file `{file}`", description="{skill} has no {file}"
    )
    unreadable: Annotated[str, holds("file", "reason"), SAYING, TAGS] = Field(
        "`{file}` cannot be read: {reason}", description="{file} cannot be read; {reason} is one of the words below"
    )
    instructions_only: Word = Field(
        "only the instructions of skills can be read here", description="files of skills are not available"
    )
    not_relative: Word = Field(
        "name a file relative to the skill's folder", description="the file was named by an absolute path"
    )
    hidden: Word = Field(
        "neither `..` nor a hidden file can be named", description="a part of the path begins with a dot"
    )
    outside: Word = Field(
        "it is a link that leads out of the skill's folder", description="the file is outside the skill's folder"
    )
    not_a_file: Word = Field("this is not a regular file", description="it is a folder, a device or the like")
    too_large: Annotated[str, holds("limit"), SAYING, TAGS] = Field(
        "more than {limit} bytes", description="the file has more than {limit} bytes"
    )
    not_a_text: Word = Field("it is not a text", description="the file is not UTF-8 text")
    refused: Annotated[str, holds("reason"), SAYING, TAGS] = Field(
        "{reason}", description="the operating system refuses access; {reason} is its message, in English"
    )
    cut_off: Annotated[str, holds("size", "whole", "unit"), SAYING, TAGS] = Field(
        "cut off after {size} of {whole} {unit}", description="only {size} of {whole} {unit} are included"
    )
    bytes: Word = Field("bytes", description="the value of {unit} for bytes")
    characters: Word = Field("characters", description="the value of {unit} for characters")


class ToolWords(FileModel):
    """What a model is told about its tools when an adapter calls them."""

    inactive: Annotated[str, holds("tool", "search"), SAYING, TAGS] = Field(
        "`{tool}` is not active. Call `{search}` with what you want to do, then use what it finds.",
        description="{tool} was called but is not active; {search} is the search tool",
    )
    withheld: Annotated[str, holds("tool"), SAYING, TAGS] = Field(
        "`{tool}` is not active: there is no room left for its instructions. Use other tools, or tell the user what "
        "cannot be done.",
        description="{tool} was called and had been found, but its instructions do not fit",
    )
    unknown: Annotated[str, holds("tool"), SAYING, TAGS] = Field(
        "`{tool}` was not called: its instructions may have changed. Read them, and call it again if that is right.",
        description="{tool} was called, and the request that the model has answered is not known, or the files of the "
        "agent have changed since",
    )
    failed: Annotated[str, holds("tool", "count"), SAYING, TAGS] = Field(
        "`{tool}` has failed {count} times. Tell the user what failed and suggest another way.",
        description="{tool} was called again after it had failed {count} times",
    )
    final_answer: Word = Field(
        "End the turn with this text for the user.",
        description="the description of the runnable assistant's tool `final_answer`; added to that of a tool file",
    )
    acknowledge: Word = Field(
        "Tell the user in one sentence what is about to happen.",
        description="the description of its tool `acknowledge`, unless a tool file has one",
    )
