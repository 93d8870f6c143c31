"""Any text is a SKILL.md with a skill, or one with problems that can be drawn."""

from __future__ import annotations

from cuecard import SpecError
from cuecard.config.documents.sources import SkillSource
from cuecard.config.skills.skill_file import read_skill_file
from fuzz.drawn import check_told
from fuzz.fuzz_yaml import PIECES as YAML

PIECES = (*("---\n", "---", "--- \n", "\ufeff", "# Title\n", "name: ", "description: ", "\r\n"), *YAML)
PHRASES = (
    *("---\nname: trip\ndescription: Plans a trip.\n---\n", "---\n", "name: Trip: now\n", "description: >\n  a\n  b\n"),
    *(
        "metadata: {a: [b]}\n",
        "allowed-tools: a, b\n",
        "requires:\n  env: [A]\n",
        "always: yes\n",
        "# Steps\n",
        "- a\n",
    ),
    *("description: Use this: it helps\n", 'tags: "a b"\n', "version: 1.0\n", "license: MIT\n", "\n", "text\n"),
)


def target(data: bytes) -> None:
    """Read one input, as it comes from a file: with newlines and without a byte order mark."""
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        skill, problems = read_skill_file(SkillSource("SKILL.md", "trip/SKILL.md", text, "trip", "skills"))
    except SpecError as error:
        check_told(error)
        return
    assert skill is not None or problems
    if problems:
        check_told(SpecError(problems))  # a line that was mended is shown as it was read
