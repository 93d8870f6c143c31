"""What fills a section, how often it may change, and how long its text lives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from cuecard.agent.sections.conditions import asks_the_call
from cuecard.agent.sections.section import BUILT_IN, PROTOCOLS, SkillsFill
from cuecard.agent.sections.selections import EditionSource
from cuecard.agent.world import World
from cuecard.config.agent_file import InputSpec
from cuecard.config.sections.file_entry import FileEntry
from cuecard.config.sections.file_patterns import has_inputs
from cuecard.config.sections.files_spec import FileSearch, FilesSpec, known_paths, searches
from cuecard.config.sections.section_spec import SOURCES, SectionSpec
from cuecard.config.skills.skill_file import make_skills
from cuecard.errors import CuecardError, Problem
from cuecard.model import Json, Lifetime, Tier
from cuecard.sources.clock import ClockSource
from cuecard.sources.content import Fill
from cuecard.sources.facts import compile_facts
from cuecard.sources.files import compile_files
from cuecard.sources.rows import compile_rows
from cuecard.sources.skills import SkillsSource
from cuecard.sources.tools import compile_tool_list
from cuecard.template import Escaping, clean, trusted, without_controls
from cuecard.template.syntax.nodes import Comment, Mustache, Path, Statement, TextNode

_CHOICES = 1_000
"""The maximum number of combinations of values to try."""

_UNSEARCHED = frozenset({"large-folder", "unreadable-file", "link-outside"})
"""The problem codes of places that could not be searched, where it is unknown which files exist."""

_HINT = "check the path; `optional: true` allows it to match nothing"


def check_matches(spec: FilesSpec, name: str, world: World) -> Iterator[Problem]:
    """Problems of entries that cannot show any file, each named by its key below `name`; supplied files are not
    known yet.
    """
    if any(problem.code in _UNSEARCHED for problem in world.sources.problems):
        return
    paths = {source.path for source in world.sources.files} | {path for path, _ in world.sources.unread}
    for index, entry in enumerate(() if spec.supplied else spec.entries):
        if not entry.optional:
            yield from _folders(entry, f"{name}.entries.{index}.path", world.sources.not_files)
            yield from _unmatched(entry, f"{name}.entries.{index}", paths, world.spec.inputs)


def _folders(entry: FileEntry, name: str, not_files: Collection[str]) -> Iterator[Problem]:
    """Problems of paths that lead to a folder, which has no text, or to nothing at all."""
    for path in entry.path:
        if not path.strip():
            yield Problem("missing-file", "a path is empty", "write the path of a file", name)
        elif path in not_files:
            folder = path.rstrip("/")
            hint = f"name a file in it, or show all of them with `glob: {folder}/**/*`"
            yield Problem("missing-file", f"`{path}` is a folder", hint, name)


def _unmatched(entry: FileEntry, name: str, paths: set[str], inputs: Mapping[str, InputSpec]) -> Iterator[Problem]:
    if entry.upward:
        if not paths & {*known_paths(entry)} and not any(
            each.holds(path) for each in searches(entry) for path in paths
        ):
            message = f"no `{entry.upward.name[0]}` from `{entry.upward.from_}` up to `{entry.upward.to}`"
            yield Problem("no-match", message, _HINT, f"{name}.upward")
        return
    key = "glob" if entry.glob else "path"
    written = entry.glob or tuple(path for path in entry.path if has_inputs(path))
    for pattern, search in zip(written, searches(entry), strict=True):
        if not any(_holds(search, path, inputs) for path in paths):
            yield Problem("no-match", f"`{pattern}` matches no file", _HINT, f"{name}.{key}")


def _holds(search: FileSearch, path: str, inputs: Mapping[str, InputSpec]) -> bool:
    """Whether a search finds a file for any possible values of its inputs."""
    if not search.holds(path):
        return False
    pattern = search.pattern
    known = {name: spec.values for name in pattern.inputs if (spec := inputs.get(name)) and spec.values is not None}
    choices: Iterator[tuple[Json, ...]] = islice(product(*known.values()), _CHOICES + 1)
    for tried, values in enumerate(choices):
        bound = pattern.bound(dict(zip(known, values, strict=True)))
        if tried == _CHOICES or (bound and FileSearch(bound, search.exclude).holds(path)):
            return True
    return False


_LOCAL = {"clock": ("datetime", "date", "time", "timezone")}
"""The names that a source supplies to its section's text, besides `content`."""

_MARKS: Escaping = "marks"
"""How sources print data: marked, for the gate that checks the assembled section."""

_DEFAULT = {"clock": "{{{datetime}}}"}
"""The default text of a section with a source; `{{{content}}}` for all others."""


def source_of(spec: SectionSpec) -> str:
    """The key of a section's source; empty if it has only a text."""
    return next((name for name in SOURCES if getattr(spec, name) is not None), "")


def default_text(spec: SectionSpec) -> str:
    """The text of a section, or its default."""
    return spec.text if spec.text is not None else _DEFAULT.get(source_of(spec), "{{{content}}}")


def local_names(spec: SectionSpec) -> tuple[str, ...]:
    """The names other than inputs that the text of a section may read."""
    source = source_of(spec)
    return ("content", *_LOCAL.get(source, ())) if source else ()


def is_around(spec: SectionSpec, text: Iterable[Statement]) -> bool:
    """Whether a text is nothing but fixed text around the content of its source, so that it goes where that is blank.

    A text with blocks or other values decides for itself what it says then, and a source with `empty` or `otherwise`
    says something in its place.
    """
    source = getattr(spec, source_of(spec), None)
    if source is None or source.model_fields_set & {"empty", "otherwise"}:
        return False
    return all(isinstance(node, (TextNode, Comment)) or _prints(node, local_names(spec)) for node in text)


def _prints(node: Statement, names: Sequence[str]) -> bool:
    """Whether a statement prints one of these names and does nothing else."""
    head = node.call.head if isinstance(node, Mustache) and not node.call.has_arguments else None
    return isinstance(head, Path) and head.is_simple and head.original in names


def inputs_of(fill: Fill | None) -> Sequence[str]:
    """The inputs that a source reads."""
    return sorted(fill.inputs) if fill else ()


def is_constant(spec: SectionSpec) -> bool:
    """Whether source and condition depend on nothing but the inputs they read."""
    changing = source_of(spec) not in {"", "files"} or (spec.files is not None and spec.files.supplied)
    changing = changing or any(choice.condition for choice in spec.choose or ())
    return not changing and not (spec.when and asks_the_call(spec.when))


def fill_of(spec: SectionSpec, world: World) -> tuple[Fill | None, Sequence[Problem]]:
    """The compiled source of a section, and its problems."""
    try:
        return _compiled(spec, world)
    except CuecardError as error:
        return None, error.problems


def _is_told(problem: Problem, before: Sequence[Problem]) -> bool:
    """Whether a root has no skills because it is blank or does not exist, which was reported already."""
    missing = {each.message for each in before if each.code == "missing-file"}
    return problem.code == "no-skills" and (not problem.name.strip() or f"`{problem.name}` is not a folder" in missing)


def _compiled(spec: SectionSpec, world: World) -> tuple[Fill | None, Sequence[Problem]]:
    name = f"sections.{spec.id}"
    printed = trusted if spec.trust == "author" else str
    if spec.files:
        own = printed if spec.files.supplied else trusted
        unmatched = tuple(check_matches(spec.files, f"{name}.files", world))
        return compile_files(spec.files, f"{name}.files", escaping=_MARKS, printed=own, foreign=printed), unmatched
    if spec.tools:
        seen = world.spec.tools.visibility
        # A tool server may have written the descriptions.
        return compile_tool_list(spec.tools, f"{name}.tools", escaping=_MARKS, visibility=seen, printed=printed), ()
    if spec.skills:
        skills, problems = make_skills(world.sources.skills, spec.skills)
        problems = tuple(problem for problem in problems if not _is_told(problem, world.sources.problems))
        partials = {file.stem: file.text for file in world.sources.partials}
        source = SkillsSource(spec.skills, name=f"{name}.skills", partials=partials, escaping=_MARKS, printed=_cleaned)
        return SkillsFill(spec.skills, skills, source.reads, source.fill(skills)), problems
    return _of_values(spec, name, printed), ()


def _of_values(spec: SectionSpec, name: str, printed: Callable[[str], str]) -> Fill | None:
    """A source that reads only the values of a call."""
    if spec.facts:
        return compile_facts(spec.facts, f"{name}.facts", escaping=_MARKS, printed=printed)
    if spec.rows:
        return compile_rows(spec.rows, f"{name}.rows", escaping=_MARKS, printed=printed)
    return ClockSource(spec.clock) if spec.clock else None


def _cleaned(text: str) -> str:
    """Data without invisible and control characters."""
    return str(clean(without_controls(text))[0])


RHYTHM: Sequence[Tier] = ("static", "call", "step")
"""The tiers, from the least to the most changing."""

LIVES: Sequence[Lifetime] = ("conversation", "turn", "step")
"""The lifetimes, from the longest to the shortest."""


def tier_of(reads: Iterable[str], spec: SectionSpec | None, inputs: Mapping[str, InputSpec]) -> Tier:
    """How often something that reads these inputs may change; with `spec`, its source and condition count, too."""
    tiers = {BUILT_IN.get(name) or (inputs[name].tier if name in inputs else "call") for name in reads}
    if "step" in tiers:
        return "step"
    return "call" if tiers or (spec and not is_constant(spec)) else "static"


def lifetime_of(reads: Iterable[str], inputs: Mapping[str, InputSpec]) -> Lifetime:
    """How long a text lives that reads these inputs: as long as the one that lives shortest."""
    return max((inputs[name].lives for name in reads if name in inputs), key=LIVES.index, default="conversation")


def shorter(one: Lifetime, other: Lifetime) -> Lifetime:
    """The shorter of two lifetimes."""
    return other if outlives(one, other) else one


def outlives(one: Lifetime, other: Lifetime) -> bool:
    """Whether the first lifetime is the longer one."""
    return LIVES.index(one) < LIVES.index(other)


_CODE = "wrong-lifetime"


def lifetime_problems(
    world: World, written: EditionSource, reads: Collection[str], *, stable: bool
) -> Iterator[Problem]:
    """The errors of a section's lifetime.

    Args:
        world: the agent's files.
        written: the section.
        reads: the inputs and built-in values that it reads.
        stable: whether it stands before the boundary of the layout.
    """
    spec, inputs, document = written.spec, world.spec.inputs, world.document
    read = lifetime_of(reads, inputs)
    lives, name = spec.lifetime or read, spec.id
    place = written.place("lifetime") if spec.lifetime else written.at
    passing = sorted(each for each in reads if each in inputs and inputs[each].lives != "conversation")
    stepwise = sorted(each for each in reads if each in inputs and inputs[each].tier == "step")
    why = f"it reads {', '.join(f'`{each}`' for each in passing)}" if passing and not spec.lifetime else "declared here"
    if PROTOCOLS in reads and {lives, read} != {"conversation"}:
        shorter = read if lives == "conversation" else lives
        message = f"section `{name}` holds instructions of tools, which stay: it cannot live for one {shorter} ({why})"
        yield document.problem(place, _CODE, message, "read the input in a section of its own")
    elif spec.lifetime == "conversation" and stepwise:
        message = f"section `{name}` stays, but reads `{stepwise[0]}`, which may change between the requests of a turn"
        yield document.problem(place, _CODE, message, "write `lifetime: turn`, or remove it")
    elif lives != "conversation" and spec.tier == "static":
        message = f"section `{name}` is static, so it cannot live for one {lives} ({why})"
        yield document.problem(place, _CODE, message, "remove `tier: static`, or the lifetime")
    elif lives != "conversation" and stable:
        message = f"section `{name}` stands before the boundary, in the part that stays: it cannot live for one {lives}"
        yield document.problem(place, _CODE, f"{message} ({why})", "move it behind the boundary")
    if stepwise and spec.role != "system":
        message = f"`{stepwise[0]}` may change between requests, which a message of role {spec.role} cannot"
        yield document.problem(written.place("role"), "wrong-value", message, "remove `role`")
