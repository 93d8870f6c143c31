"""The list of skills, and its templates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.errors import TemplateError, TemplateSyntaxError
from cuecard.model import Diagnostic, Json, SourceRow
from cuecard.model.tools import Skill
from cuecard.records import dataclass
from cuecard.sources.content import Content, SourceInput, is_blank
from cuecard.sources.skill_budget import Page, SkillBlock
from cuecard.sources.skill_selection import SkillChoice, Wish, select_skills
from cuecard.template import Escaping, Template, compile_template, trusted
from cuecard.template.guards.marks import unmarked

_OF_A_SKILL = frozenset(
    {"name", "slug", "description", "summary", "location", "body", "auto_load", "requested", "mentioned", "count"}
    | {"path_matched", "auth_profiles", "requires_env", "requires_tools"}
)
_OF_A_CUT = frozenset({"count", "omitted", "omitted_count"})
_VALUES: Mapping[str, frozenset[str]] = {
    "item": _OF_A_SKILL,
    "body": _OF_A_SKILL,
    "before": frozenset({"count"}),
    "after": frozenset({"count"}),
    "empty": frozenset({"count"}),
    "footer": frozenset({"count"}),
    "note": _OF_A_CUT,
    "hint": _OF_A_CUT,
}
"""Each text of the source, and its values besides the agent's inputs."""


class SkillTexts:
    """The compiled texts: immutable, and safe to render in several threads at once.

    `reads` are the agent's inputs that they read; `inline` is whether `item` prints instructions.
    """

    def __init__(
        self,
        spec: SkillsSpec,
        name: str,
        partials: Mapping[str, str] | None,
        escaping: Escaping,
        printed: Callable[[str], str],
    ) -> None:
        """Compile them; see `SkillsSource`.

        Raises:
            TemplateSyntaxError: with every problem of every text.
        """
        self._mark: Callable[[str], str] = trusted if spec.trust == "author" else printed
        self._templates: dict[str, Template] = {}
        errors: list[TemplateError] = []
        for field in _VALUES:
            try:
                self._templates[field] = compile_template(
                    getattr(spec, field), name=f"{name}.{field}", partials=partials, escaping=escaping
                )
            except TemplateError as error:
                errors.append(error)
        if errors:
            raise TemplateSyntaxError(problem for error in errors for problem in error.problems)
        reads = {field: {use.name for use in template.inputs} for field, template in self._templates.items()}
        self.inline: bool = "body" in reads["item"]
        self.reads: frozenset[str] = frozenset[str]().union(*(names - _VALUES[field] for field, names in reads.items()))

    def render(self, field: str, values: Mapping[str, Json]) -> str:
        """One of the texts with these values."""
        return self._templates[field].render(values)

    def of_skill(self, one: SkillChoice, *, in_full: bool) -> dict[str, Json]:
        """The values of `item` and `body`; including the instructions only if `in_full`."""
        skill = one.skill
        texts = {
            "name": skill.name,
            "slug": skill.slug,
            "description": skill.description,
            "summary": " ".join(skill.description.split()),
            "location": skill.path,
            "body": skill.body if in_full else "",
            "auth_profiles": ", ".join(skill.auth_profiles),
            "requires_env": ", ".join(skill.requires_env),
            "requires_tools": ", ".join(skill.requires_tools),
        }
        reasons = {"requested": one.requested, "mentioned": one.mentioned, "path_matched": one.path_matched}
        marked = {field: self._mark(text) for field, text in texts.items()}
        return {**marked, **reasons, "auto_load": one.auto_load and in_full}

    def of_cut(self, omitted: set[str]) -> dict[str, Json]:
        """The values of `note` and `hint`."""
        return {"omitted": self._mark(", ".join(sorted(omitted))), "omitted_count": len(omitted)}


_NO_FRAME = "no room for skills.before and skills.after in skills.budget"


@dataclass(frozen=True, slots=True)
class _Call:
    """The values that the templates of one call share."""

    values: Mapping[str, Json]
    count: int


class SkillsSource:
    """A compiled `skills:` source: immutable, and safe to use in several threads at once."""

    def __init__(
        self,
        spec: SkillsSpec,
        *,
        name: str = "skills",
        partials: Mapping[str, str] | None = None,
        escaping: Escaping = "text",
        printed: Callable[[str], str] = lambda text: text,
    ) -> None:
        """Compile the texts.

        Args:
            spec: the source from the agent file.
            name: its name in errors; its texts are then `skills.item` and so on.
            partials: templates that its texts may call.
            escaping: how they print data.
            printed: applied to a skill's text under `trust: data` before it is printed, for example to keep it from
                looking like a part of the layout.

        Raises:
            TemplateSyntaxError: with every problem of every text.
        """
        self.spec = spec
        self._texts = SkillTexts(spec, name, partials, escaping, printed)
        self.reads: frozenset[str] = self._texts.reads | (
            {spec.task_input, spec.paths_input, spec.request_input} - {""}
        )
        """The agent's inputs that the source reads."""

    def fill(self, skills: Iterable[Skill]) -> Callable[[SourceInput], Content]:
        """The source with these skills; a call's request is in the inputs that the spec names."""
        return partial(self._filled, tuple(skills))

    def _filled(self, skills: Sequence[Skill], given: SourceInput) -> Content:
        spec, values = self.spec, given.values
        return self.content(
            skills,
            task="\n".join(_texts(values.get(spec.task_input))) if spec.task_input else given.message,
            paths=_texts(values.get(spec.paths_input)),
            requested=_texts(values.get(spec.request_input)),
            environment=given.environment,
            tools=None if given.tools is None else [card.name for card in given.tools],
            values=values,
        )

    def content(
        self,
        skills: Iterable[Skill],
        *,
        task: str = "",
        paths: Sequence[str] = (),
        requested: Sequence[str] = (),
        environment: Collection[str] | None = None,
        tools: Collection[str] | None = None,
        values: Mapping[str, Json] | None = None,
    ) -> Content:
        """The text for one call, and a record of what is not in it.

        Args:
            skills: all skills, in the order of `make_skills`.
            task: the text in which `$name` mentions a skill.
            paths: the files in question.
            requested: slugs or display names; `*` for all.
            environment: the names of the environment variables that are set; None if nobody knows.
            tools: the names of the tools that exist for the call; None if nobody knows.
            values: the agent's inputs, for the templates.

        Raises:
            InputError: with each requested skill that does not exist, unless `missing: record`.
            TemplateRenderError: when a text reads a missing value.
        """
        everything = tuple(skills)
        chosen, cuts = select_skills(everything, self.spec, Wish(task, paths, requested, environment, tools))
        call = _Call(values or {}, len(chosen))
        page = self._listed(chosen, call) if chosen else self._none(call)
        diagnostics = []
        if page.omitted:
            message = "left out, or listed without their instructions: " + ", ".join(sorted(page.omitted))
            diagnostics.append(Diagnostic("skills_omitted", message))
        return Content(page.text, (*cuts, *page.cuts), tuple(diagnostics), _rows(everything, page))

    def _none(self, call: _Call) -> Page:
        page = Page(self.spec.budget)
        page.add_extra(SkillBlock("skills.empty", self._render("empty", call)))
        return page

    def _listed(self, chosen: Sequence[SkillChoice], call: _Call) -> Page:
        page = Page(self.spec.budget, self._render("before", call), self._render("after", call))
        if not page.has_room:
            page = Page(self.spec.budget)
            for one in chosen:
                page.leave_out(SkillBlock(f"skill {one.skill.slug}", "", one.skill.slug), _NO_FRAME)
            return page
        for one in chosen:
            self._add_item(one, call, page)
        self._add_bodies(chosen, call, page)
        if not page.omitted and is_blank("".join(block.text for block in page.blocks)):
            return self._none(call)
        page.add_extra(SkillBlock("skills.footer", self._render("footer", call)))
        if page.omitted:
            omitted = self._texts.of_cut(page.omitted)
            page.add_extra(SkillBlock("skills.note", self._render("note", call, omitted)))
            page.squeeze_in(SkillBlock("skills.hint", self._render("hint", call, omitted)))
        return page

    def _add_item(self, one: SkillChoice, call: _Call, page: Page) -> None:
        """Add a skill to the list, with its instructions if it is eager and they fit."""
        slug = one.skill.slug
        plain = self._render("item", call, self._texts.of_skill(one, in_full=False))
        if self._texts.inline and one.auto_load and one.skill.body:
            full = self._render("item", call, self._texts.of_skill(one, in_full=True))
            page.add(SkillBlock(f"skill {slug}", full, slug), SkillBlock(f"body of skill {slug}", plain, slug))
        else:
            page.add(SkillBlock(f"skill {slug}", plain, slug))

    def _add_bodies(self, chosen: Sequence[SkillChoice], call: _Call, page: Page) -> None:
        threshold = self.spec.compact_mode_threshold
        is_compact = threshold is not None and len(chosen) > threshold
        for one in sorted(chosen, key=lambda one: one.skill.slug):
            if not self._is_due(one):
                continue
            block = SkillBlock(f"body of skill {one.skill.slug}", "", one.skill.slug)
            if not self.spec.body:
                page.leave_out(block, "neither skills.item nor skills.body prints it")
            elif is_compact:
                page.leave_out(block, f"more than {threshold} skills (skills.compact_mode_threshold)")
            else:
                text = self._render("body", call, self._texts.of_skill(one, in_full=True))
                page.add(SkillBlock(block.what, text, block.slug))
        if is_compact:
            page.omitted.update(one.skill.slug for one in chosen)

    def _is_due(self, one: SkillChoice) -> bool:
        """Whether a skill's instructions belong after the list; they are never in both places."""
        if not one.skill.body or (one.auto_load and self._texts.inline):
            return False
        return one.auto_load or (bool(self.spec.body) and (one.mentioned or one.path_matched))

    def _render(self, field: str, call: _Call, more: Mapping[str, Json] | None = None) -> str:
        return self._texts.render(field, {**call.values, "count": call.count, **(more or {})})


def _texts(value: Json) -> list[str]:
    """The texts of a list, or the lines of a text; anything else is empty."""
    if isinstance(value, str):
        return value.splitlines()
    return [text for text in value if isinstance(text, str)] if isinstance(value, (list, tuple)) else []


def _rows(skills: Sequence[Skill], page: Page) -> tuple[SourceRow, ...]:
    """One row for each file: how much it contributed, and whether that was cut."""
    given: dict[str, int] = {}
    for block in page.blocks:
        given[block.slug] = given.get(block.slug, 0) + len(unmarked(block.text))
    return tuple(
        SourceRow(
            skill.slug,
            skill.path,
            "truncated" if skill.slug in page.shortened and not skill.shadowed_by else "loaded",
            0 if skill.shadowed_by else given.get(skill.slug, 0),
        )
        for skill in skills
    )
