"""The section source `skills`: which skills a prompt lists, in which format, and within which budget."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values import Texts


class SkillBudgetSpec(FileModel):
    """The budget of the skills."""

    limit: int = Field(ge=1, description="the maximum size of the whole text")
    unit: Literal["characters", "bytes"] = Field(
        "characters", description="`characters` are code points, `bytes` are UTF-8 bytes"
    )


Budget = Annotated[
    SkillBudgetSpec,
    BeforeValidator(
        lambda value: {"limit": value} if isinstance(value, int) and not isinstance(value, bool) else value,
        json_schema_input_type=int | SkillBudgetSpec,
    ),
]

ITEM = "- {{{name}}} (`{{{slug}}}`): {{{summary}}}\n"
"""The default template of a skill in the list."""


class SkillsSpec(FileModel):
    """Skills: folders with a SKILL.md. The texts are Handlebars templates and follow one another as written."""

    roots: Texts = Field(
        min_length=1,
        description="folders, relative to this file, that are searched for SKILL.md files at any depth; of skills "
        "with the same folder name, the one in the first root is used",
    )
    strict: bool = Field(
        default=False,
        description="whether an unusable skill, a duplicate name and a root without skills are errors; otherwise they "
        "are warnings, and only that skill is skipped",
    )
    show: Literal["all", "requested"] = Field(
        "all",
        description="`requested` lists only skills that are requested, mentioned, matched by a path, or eager",
    )
    allow: Texts | None = Field(
        None, description="only these skills, by slug or display name; `*` and `?` are wildcards; all by default"
    )
    block: Texts = Field((), description="never these skills, even if they are allowed")
    eager: Texts = Field(
        (), description="skills listed with their instructions, in addition to those with `auto_load: true`"
    )
    request: Texts = Field((), description="skills that every turn requests; `*` for all")
    request_input: str = Field("", description="the input with the skills that a turn requests: a text or a list")
    missing: Literal["error", "record"] = Field(
        "error",
        description="whether a requested skill that does not exist is an error, or only recorded in the manifest",
    )
    mentions: bool = Field(default=True, description="whether `$name` in the task requests a skill")
    task_input: str = Field(
        "", description="the input with the task to search for `$name`; by default the current message"
    )
    paths_input: str = Field("", description="the input that lists the relevant files, for skills with `paths`")
    sort: Literal["slug", "name", "root"] = Field(
        "slug", description="the order of the list; `root` sorts by root, then by path"
    )
    trust: Literal["author", "data"] = Field(
        "author", description="`author` prints the texts of skills as they are; `data` escapes them"
    )
    fallback_description: str | None = Field(
        None,
        description="the description for a skill without one; if set, broken front matter is only a warning, and a "
        "missing name defaults to the slug",
    )
    item: str = Field(
        ITEM,
        description="one skill of the list; its fields: name, slug, description, summary (the description on one "
        "line), location, body (of an eager skill only), auto_load, requested, mentioned, path_matched, "
        "auth_profiles, requires_env, requires_tools",
    )
    body: str = Field(
        "", description="the instructions of a skill that was mentioned or matched by a path, after the list"
    )
    before: str = Field("", description="the text before the list; its field: count")
    after: str = Field("", description="the text after the list and the bodies")
    empty: str = Field("", description="the whole text if there is no skill to list")
    footer: str = Field("", description="the text at the very end, if it fits")
    note: str = Field(
        "",
        description="the note if something was left out, provided it fits; its fields: omitted (slugs), omitted_count",
    )
    hint: str = Field("", description="the same, but the text before it is cut to make room")
    budget: Budget | None = Field(
        None, description="the limit for the whole text: a number of characters, or a mapping; unlimited by default"
    )
    compact_mode_threshold: int | None = Field(
        None, ge=0, description="if the list has more skills than this, no `body` is shown"
    )
