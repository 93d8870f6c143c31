"""The section source `files`: a list of files, each printed in the same format."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cuecard.config.named_files import WRITTEN
from cuecard.config.sections.file_entry import FileEntry
from cuecard.config.sections.files_spec import FilesSpec
from cuecard.errors import Problem, SpecError, TemplateError, TemplateSyntaxError
from cuecard.records import dataclass
from cuecard.sources.content import Content, SourceInput, is_blank, joined
from cuecard.sources.file_budget import TakenFile, take_files
from cuecard.sources.file_selection import FileSelection, found_entries
from cuecard.template import Escaping, Template, compile_template, trusted

SERVERS = ".server.md"
"""The ending of the files in which `cuecard tools import` stores a tool server's own description."""

OWN = ("name", "path", "purpose", "content", "suffix")
"""The names that the template of a file may read besides the values of the call."""


@dataclass(frozen=True, slots=True)
class FilesSource:
    """A compiled list of files; `source(given)` returns the section's content. Created by `compile_files`."""

    spec: FilesSpec
    item: Template
    before: Template
    after: Template
    printed: Callable[[str], str] = lambda text: text
    foreign: Callable[[str], str] = lambda text: text

    @property
    def inputs(self) -> frozenset[str]:
        """The values of a call that its templates read."""
        around = {use.name for template in (self.before, self.after) for use in template.inputs}
        in_paths = {name.partition(".")[0] for entry in self.spec.entries for name in entry.inputs}
        return frozenset(around | in_paths | {use.name for use in self.item.inputs if use.name not in OWN})

    def __call__(self, given: SourceInput) -> Content:
        """The files as text, with a row for each entry, and every cut.

        Raises:
            TemplateRenderError: when a template reads a value that the call does not have.
        """
        own = {**given.files, **given.supplied} if self.spec.supplied else given.files
        held = FileSelection(own, given.supplied if self.spec.supplied else given.files, given.values)
        entries, cuts = found_entries(self.spec, held)
        before = given.taken.get(self.spec.account, 0)
        taken = take_files(self.spec, entries, own, before)
        text = self._around([self._printed(file, given) for file in taken.used], given)
        return Content(
            text, (*cuts, *taken.cuts), tuple(taken.diagnostics), tuple(taken.rows), taken=taken.size - before
        )

    def _around(self, items: list[str], given: SourceInput) -> str:
        if all(map(is_blank, items)):
            return self.spec.otherwise
        around = (self.before.render(given.values), *items, self.after.render(given.values))
        return self.spec.separator.join(text for text in around if text)

    def _printed(self, file: TakenFile, given: SourceInput) -> str:
        entry = file.entry
        content = self._content(file)
        gap = "\n\n" if content else "\n"
        own = {
            "name": self._name(entry),
            "path": file.path,
            "purpose": trusted(entry.purpose),
            "content": content,
            "suffix": trusted(gap + entry.suffix if entry.suffix else ""),
        }
        text = self.item.render({**given.values, **own})
        return text.strip("\n") if self.spec.trim else text

    def _name(self, entry: FileEntry) -> str:
        """The name of the file: a name found by a pattern is data, unless the file itself is trusted."""
        written = {each.title for each in self.spec.entries}
        return trusted(entry.title) if entry.title in written else self.printed(entry.title)

    def _content(self, file: TakenFile) -> str:
        if not file.text:
            return trusted(file.entry.empty)
        printed = self.foreign if file.path.endswith(SERVERS) else self.printed
        printed = str if f"/{WRITTEN}" in f"/{file.path}" else printed  # a model's words, whoever shows them
        return joined(trusted(file.text) if file.is_default else printed(file.text), file.marker)


def compile_files(
    spec: FilesSpec,
    name: str,
    *,
    escaping: Escaping = "text",
    printed: Callable[[str], str] = lambda text: text,
    foreign: Callable[[str], str] = lambda text: text,
) -> FilesSource:
    """Compile a list of files.

    Args:
        spec: the list.
        name: its name in errors, such as `agent.yaml: sections.soul`.
        escaping: how `{{{x}}}` prints data.
        printed: applied to each file's text before it is printed: `trusted`, or a function that keeps it from looking
            like a part of the layout.
        foreign: the same for files with a tool server's own description.

    Raises:
        TemplateSyntaxError: with every problem of its templates.
        SpecError: when `item` does not print what the list supplies (`not-printed`).
    """
    templates: list[Template] = []
    problems: list[Problem] = []
    for key in ("item", "before", "after"):
        try:
            templates.append(compile_template(getattr(spec, key), name=f"{name}.{key}", escaping=escaping))
        except TemplateError as error:
            problems += error.problems
    if problems:
        raise TemplateSyntaxError(problems)
    item, before, after = templates
    unprinted = list(_unprinted(spec, item, name))
    if unprinted:
        raise SpecError(unprinted)
    return FilesSource(spec, item, before, after, printed, foreign)


def _unprinted(spec: FilesSpec, item: Template, name: str) -> Iterator[Problem]:
    read = {use.name for use in item.inputs}
    supplied = {
        "content": True,
        "suffix": any(entry.suffix for entry in spec.entries),
        "purpose": any(entry.purpose for entry in spec.entries),
    }
    for key, is_supplied in supplied.items():
        if is_supplied and key not in read:
            message = f"`item` never prints `{key}`"
            yield Problem("not-printed", message, f"add `{{{{{{{key}}}}}}}` where it belongs", f"{name}.item")
