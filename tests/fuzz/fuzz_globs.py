"""Any text is a path, a glob or neither; what it names with values in it, it names without, and never what is above."""

from __future__ import annotations

from contextlib import suppress

from cuecard.config.sections.file_patterns import Exclusion, FilePattern, filled, parts_of
from cuecard.config.sections.files_spec import folders_between
from cuecard.types import Json

PIECES = (
    *("*", "**", "?", "[", "]", "[!", "-", "/", "//", ".", "..", "../", "~", "#", "{{a}}", "{{{b.c}}}", "{{", "}}"),
    *("{a,b}", "docs", ".md", "x", "\n", "|", "\\", "\0", "a" * 100, "[*]", "[[]", " ", "é", "e\u0301", "\u202e"),
)
PHRASES = (
    *(
        "m/[{{a}}]|!x|",
        "m/{{a}}*|.|",
        "docs/**/*.md|",
        "docs/{{a}}.md|",
        "a/b/c.md|",
        "../shared/*.md|",
        "**|",
        "{{a}}/{{b.c}}/x.md|",
        "[a-z]*|",
    ),
    *("..|", "../../etc/passwd|", ".|", "a*b?c|", "*" * 30 + "|", "docs/../x|", "/etc/passwd|", ".hidden|", "x~|"),
)


def target(data: bytes) -> None:
    """Read one input: parts between `|` are what is written, a value, another one, and a path."""
    parts = data.decode("utf-8", "surrogateescape").split("|")
    written, one, other, path = [*parts, *["docs/{{a}}.md", "x", "y", "docs/x.md"][len(parts) :]][:4]
    values: dict[str, Json] = {"a": one, "b": {"c": other}}
    for made in (FilePattern.of_path, FilePattern.of_glob):
        with suppress(ValueError):
            check_bound(made(written), values, parts_of(path))
    with suppress(ValueError):
        Exclusion((written,)).__contains__(parts_of(path))
        assert isinstance(filled(written, values), str | None)
    assert all(not inner.startswith("../../") for inner in folders_between(one, "."))


def check_bound(pattern: FilePattern, values: dict[str, Json], path: tuple[str, ...]) -> None:
    """Values narrow a pattern: they lead nowhere that it does not."""
    anything = pattern.anything()
    anything.matches(path)
    anything.leads(path)
    bound = pattern.bound(values)
    if bound is None:
        return
    assert not bound.anything().matches(path) or anything.matches(path), (pattern, values, path)
    only = bound.path()
    ups = [part for part in pattern.segments if part == ".."]
    assert only is None or parts_of(only).count("..") <= len(ups), (pattern, values)
