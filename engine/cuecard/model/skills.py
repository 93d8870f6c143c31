"""The nouns of skills: a skill, and what reading one answers."""

from __future__ import annotations

from cuecard.model.values import Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder with a `SKILL.md`, as the Agent Skills specification has it: instructions that a model reads on demand.

    Attributes:
        slug: the folder's name; what tools call the skill by.
        name: the display name, on one line.
        description: what it does and when to use it, without white space around it.
        path: the location of its `SKILL.md`, relative to the agent file.
        body: the instructions: the file without its front matter.
        auto_load: whether the body belongs into the list from the start.
        requires_env: names of environment variables without which it is not shown.
        requires_tools: names of tools without which it is not shown.
        auth_profiles: names of the profiles that its calls sign in with, sorted, each once.
        paths: glob patterns of the files that it is for.
        enabled: whether it may be used at all.
        source: the root it was found in, as the agent file writes it.
        shadowed_by: the `SKILL.md` of an earlier root that has the same slug and so stands for this one.
    """

    slug: str
    name: str
    description: str
    path: str = ""
    body: str = ""
    auto_load: bool = False
    requires_env: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    auth_profiles: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    enabled: bool = True
    source: str = ""
    shadowed_by: str = ""


@dataclass(frozen=True, slots=True)
class SkillText:
    """The answer to reading a skill: a text within its limit, or a message that says why there is none.

    Attributes:
        slug: the skill, by its true name if it was found.
        file: the requested file in its folder; empty for the instructions themselves.
        text: what was read.
        message: a note for the model; empty if everything is fine.
        found: whether there is such a text.
        truncated: whether the limit cut it.
    """

    slug: str
    file: str = ""
    text: str = ""
    message: str = ""
    found: bool = False
    truncated: bool = False

    def to_json(self) -> dict[str, Json]:
        """`{"skill": ..., "file": ..., "text": ..., "message": ...}` without what is empty: the form the model sees."""
        fields = {"skill": self.slug, "file": self.file, "text": self.text, "message": self.message}
        return {key: value for key, value in fields.items() if value}
