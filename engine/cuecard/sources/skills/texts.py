"""The texts of a `skills:` source as templates, and the values available to each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.errors import TemplateError, TemplateSyntaxError
from cuecard.model import Json
from cuecard.sources.skills.selection import Chosen
from cuecard.template import Escaping, Template, compile_template, trusted

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
        self.inline = "body" in reads["item"]
        self.reads = frozenset[str]().union(*(names - _VALUES[field] for field, names in reads.items()))

    def render(self, field: str, values: Mapping[str, Json]) -> str:
        """One of the texts with these values."""
        return self._templates[field].render(values)

    def of_skill(self, one: Chosen, *, in_full: bool) -> dict[str, Json]:
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
