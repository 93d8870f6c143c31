"""The section source `skills`: which skills a prompt lists, in which form, and how much room they have."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import Texts


class SkillBudgetSpec(FileModel):
    """How much room the skills have."""

    limit: int = Field(ge=1, description="the size of the whole text, at most")
    unit: Literal["characters", "bytes"] = Field(
        "characters", description="`characters` are code points, `bytes` those of UTF-8"
    )


Budget = Annotated[
    SkillBudgetSpec,
    BeforeValidator(
        lambda value: {"limit": value} if isinstance(value, int) and not isinstance(value, bool) else value,
        json_schema_input_type=int | SkillBudgetSpec,
    ),
]

ITEM = "- {{{name}}} (`{{{slug}}}`): {{{summary}}}\n"
"""How a skill stands in the list unless the agent file says otherwise."""


class SkillsSpec(FileModel):
    """Skills: folders with a SKILL.md. The texts are Handlebars templates and stand one after another as written."""

    roots: Texts = Field(
        min_length=1,
        description="folders, relative to this file, in which SKILL.md files are looked for at any depth; "
        "of skills with equal folder names, that of the first root counts",
    )
    strict: bool = Field(
        default=False,
        description="whether a skill that cannot be used, a second one of the same name, and a root without skills are "
        "errors; else they are warnings, and only that skill is left out",
    )
    show: Literal["all", "requested"] = Field(
        "all",
        description="`requested` lists only skills that were requested, mentioned, matched by a path or are eager",
    )
    allow: Texts | None = Field(
        None, description="only these skills, by slug or display name; `*` and `?` are wild; all when left out"
    )
    block: Texts = Field((), description="never these skills, even if they are allowed")
    eager: Texts = Field(
        (), description="skills with their instructions in the list, besides those whose file says `auto_load: true`"
    )
    request: Texts = Field((), description="skills that every call requests; `*` for all")
    request_input: str = Field("", description="the input that holds the skills a call requests: a text or a list")
    missing: Literal["error", "record"] = Field(
        "error", description="a requested skill that does not exist is an error, or only recorded in the manifest"
    )
    mentions: bool = Field(default=True, description="whether `$name` in the task requests a skill")
    task_input: str = Field(
        "", description="the input that holds the task in which `$name` is looked for; else the current message does"
    )
    paths_input: str = Field("", description="the input that lists the files in question, for skills with `paths`")
    sort: Literal["slug", "name", "root"] = Field(
        "slug", description="the order of the list; `root` is that of the roots, then of the paths in them"
    )
    trust: Literal["author", "data"] = Field(
        "author", description="`author` prints the texts of skills as they are; `data` escapes them"
    )
    fallback_description: str | None = Field(
        None,
        description="the description of a skill without one; then broken front matter is a warning instead of an "
        "error, and a missing name is the slug",
    )
    item: str = Field(
        ITEM,
        description="one skill of the list; its fields: name, slug, description, summary (the description on one "
        "line), location, body (of an eager skill only), auto_load, requested, mentioned, path_matched, "
        "auth_profiles, requires_env, requires_tools",
    )
    body: str = Field(
        "", description="the instructions of one skill that was mentioned or matched by a path, behind the list"
    )
    before: str = Field("", description="stands before the list; its field: count")
    after: str = Field("", description="stands behind list and bodies")
    empty: str = Field("", description="instead of everything, when no skill is there to list")
    footer: str = Field("", description="stands behind everything if it fits")
    note: str = Field(
        "", description="said if something was left out, and if it fits; its fields: omitted (slugs), omitted_count"
    )
    hint: str = Field("", description="the same, but the text before it is cut to make room for it")
    budget: Budget | None = Field(
        None, description="the room for the whole text: a number of characters, or a mapping; no limit when left out"
    )
    compact_mode_threshold: int | None = Field(
        None, ge=0, description="with more skills than this in the list, no `body` is shown"
    )
