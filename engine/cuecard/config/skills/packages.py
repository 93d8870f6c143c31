"""Skills as packages with digests, and the instructions of tools as skills."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from cuecard.config.skills.fields import is_field
from cuecard.config.skills.front_matter import read_front, split_front
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard

MAX_FILES: Final = 512
"""The maximum number of files of a skill, from the extension."""
MAX_BYTES: Final = 16 * 1024 * 1024
"""The maximum total size of its files in bytes."""
MAIN: Final = "SKILL.md"

_ODD = re.compile(rb"[^A-Za-z0-9_.~/-]")
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class SkillPackage:
    """A skill with all of its files.

    Attributes:
        name: its name, which is also its folder's name.
        front: its front matter as JSON.
        files: path within the folder to content; `SKILL.md` is one of them.
    """

    name: str
    front: Mapping[str, Json]
    files: Mapping[str, bytes]

    def uri(self, owner: str, path: str = MAIN) -> str:
        """The address of one of its files."""
        return f"skill://{_quoted(owner)}/{_quoted(self.name)}/{_quoted(path)}"

    def entry(self, owner: str) -> dict[str, Json]:
        """Its entry in `skills/list`: its front matter, and the SHA-256 of each of its files."""
        resources = [
            {"uri": self.uri(owner, path), "digest": digest(data), "size": len(data)}
            for path, data in sorted(self.files.items())
        ]
        return {"uri": self.uri(owner), "frontmatter": dict(self.front), "resources": resources}


def _quoted(text: str) -> str:
    """A text quoted as a part of an address; slashes stay."""
    return _ODD.sub(lambda found: f"%{found[0][0]:02X}".encode("ascii"), text.encode()).decode()


def digest(data: bytes) -> str:
    """The fingerprint of a file in the extension's format."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def make_package(files: Mapping[str, bytes], name: str, source: str) -> SkillPackage:
    """The package of these files.

    Args:
        files: path within the folder to content.
        name: the folder's name.
        source: how errors call its `SKILL.md`.

    Raises:
        SpecError: when it has no `SKILL.md`, is too large, or has a name or description that the extension refuses.
    """
    if MAIN not in files:
        raise SpecError(Problem("missing-file", f"the skill has no `{MAIN}`", "every skill has one", source))
    if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_BYTES:
        hint = f"at most {MAX_FILES} files, and {MAX_BYTES // 1024 // 1024} MiB together"
        raise SpecError(Problem("large-folder", "the skill is too large to serve", hint, source))
    text = files[MAIN].decode("utf-8", "replace")
    front = split_front(text, source)
    if front.yaml is None:
        raise SpecError(front.problem or Problem("front-matter", "the file has no front matter", "", source))
    document, _ = read_front(front.yaml, source, is_field)
    said, description = document.value.get("name"), document.value.get("description")
    if said != name or not _NAME.fullmatch(name):
        hint = "lower-case letters, digits and single hyphens, the same as its folder"
        raise SpecError(
            Problem("skill-name", f"`{str(said)[:80]}` is not the name of the skill `{name}`", hint, source)
        )
    if not isinstance(description, str) or not 1 <= len(description.strip()) <= 1024:
        hint = "use 1 to 1,024 characters, or clients will reject the skill"
        raise SpecError(Problem("long-text", "the description is missing or too long", hint, source))
    return SkillPackage(name, document.value, files)


_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_DESCRIPTION = 1000


def tool_skills(agent: str, cards: Sequence[ToolCard], instructions: Mapping[str, str]) -> tuple[SkillPackage, ...]:
    """A skill for each category of tools with instructions, in the order of the catalogue.

    Args:
        agent: the agent's name.
        cards: its tools.
        instructions: by tool, the text that a model reads.
    """
    told = sorted((card for card in cards if card.name in instructions), key=lambda card: card.category)
    packages = []
    taken: set[str] = set()
    for category, group in groupby(told, key=lambda card: card.category):
        name = _name(agent, category, taken)
        taken.add(name)
        packages.append(_package(name, category or agent, list(group), instructions))
    return tuple(packages)


def _name(agent: str, category: str, taken: set[str]) -> str:
    plain = _NOT_PLAIN.sub("-", f"{agent}-{category or 'tools'}".lower()).strip("-")[:58].strip("-") or "tools"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def _package(name: str, title: str, cards: Sequence[ToolCard], instructions: Mapping[str, str]) -> SkillPackage:
    listed = ", ".join(card.name for card in cards)
    description = f"How to use the {title} tools: {listed}"
    if len(description) > _DESCRIPTION:
        description = description[: _DESCRIPTION - 3] + "..."
    # Names of tools contain no spaces, so the list can be wrapped there.
    front = {"name": name, "description": description, "allowed-tools": " ".join(card.name for card in cards)}
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in front.items())
    parts = [f"## {card.name}\n\n{_told(card)}{instructions[card.name].strip()}\n" for card in cards]
    text = f"---\n{head}---\n\n# {title}\n\n" + "\n".join(parts)
    return make_package({MAIN: text.encode()}, name, name)


def _told(card: ToolCard) -> str:
    return f"{' '.join(card.description.split())}\n\n" if card.description.strip() else ""
