"""Which files the sections of an agent file name: looked up in the YAML as it is, right or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cuecard.config.documents.yaml_text import Path
from cuecard.model import Json


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files of sections: those that must be there with the place that names them, those that may, folders of skills."""

    texts: tuple[tuple[Path, str], ...]
    files: tuple[str, ...]
    roots: tuple[str, ...]

    @classmethod
    def of(cls, agent: Json) -> Wanted:
        """What the sections of this agent file, of its profiles and of its variants name."""
        sections = list(_sections(agent))
        texts = [((*at, "file"), s["file"]) for at, s in sections if isinstance(s.get("file"), str) and s["file"]]
        files = [path for _, s in sections for path in _paths(s.get("files"))]
        roots = [root for _, s in sections for root in _roots(s.get("skills"))]
        return cls(tuple(texts), tuple(dict.fromkeys(files)), tuple(dict.fromkeys(roots)))


def _sections(agent: Json) -> Iterator[tuple[Path, dict[str, Json]]]:
    places: list[Path] = [()]
    for key in ("profiles", "variants"):
        chosen = agent.get(key)
        places += [(key, name) for name in chosen] if isinstance(chosen, dict) else []
    for place in places:
        owner = agent
        for part in place:
            owner = owner[part]
        listed = owner.get("sections") if isinstance(owner, dict) else None
        for index, section in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(section, dict):
                yield (*place, "sections", index), section


def _paths(files: Json) -> Iterator[str]:
    """Every `path` below a `files` source."""
    if isinstance(files, dict):
        for key, value in files.items():
            if key == "path":
                yield from (path for path in (value if isinstance(value, list) else [value]) if isinstance(path, str))
            else:
                yield from _paths(value)
    elif isinstance(files, list):
        for value in files:
            yield from _paths(value)


def _roots(skills: Json) -> list[str]:
    roots = skills.get("roots") if isinstance(skills, dict) else None
    return [root for root in (roots if isinstance(roots, list) else [roots]) if isinstance(root, str)]
