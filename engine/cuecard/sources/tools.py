"""Tools in a prompt: their instructions, and lists of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Literal, TypeAlias

from cuecard.config.sections.sources_spec import ToolListSpec, VisibilitySpec
from cuecard.config.tools_spec import CUES, Cue, CuesSpec
from cuecard.config.values import fill
from cuecard.config.words_spec import Words
from cuecard.model import Cut, Json, ToolCard, ToolInstructions
from cuecard.records import dataclass
from cuecard.sources.content import Content, SourceInput, is_blank, joined, one_line
from cuecard.sources.gates import visible
from cuecard.template import Escaping, Template, compile_template, trusted

Form: TypeAlias = Literal["text", "first", "later"]
"""A tool's whole block, the part for its discovery, or the part for its first result."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A tool's block, ending in a newline, and its fingerprint in hex.

    `first` is the part sent at its discovery, `later` the part sent at its first result, which may be empty.
    """

    text: str
    sha256: str
    first: str = ""
    later: str = ""


def make_protocol(tool: str, instructions: ToolInstructions | None, words: Words, cues: CuesSpec) -> Protocol | None:
    """One tool's block; None if the tool has no instructions.

    A tool with none of the cues for its discovery gets all of its cues then, since it is active only together with
    instructions.
    """
    told = {cue: text for cue in CUES if (text := getattr(instructions, cue, ""))}

    def block(wanted: Collection[Cue]) -> str:
        lines = [fill(getattr(words, cue), {"text": text}) for cue, text in told.items() if cue in wanted]
        return "\n".join([f"<{tool}>", *lines, f"</{tool}>\n"]) if lines else ""

    text = block(CUES)
    if not text:
        return None
    first, later = block(cues.on_discovery), block(cues.on_result)
    first, later = (first, later) if first else (text, "")
    return Protocol(text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), first, later)


def protocols_text(names: Iterable[str], protocols: Mapping[str, Protocol], form: Form = "text") -> str:
    """The blocks of these tools in this order, without the last newline (the template's line ends there)."""
    return "".join(map(_FORMS[form], [protocols[name] for name in names if name in protocols])).removesuffix("\n")


_FORMS: Mapping[Form, Callable[[Protocol], str]] = {
    "text": attrgetter("text"),
    "first": attrgetter("first"),
    "later": attrgetter("later"),
}


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "object": Mapping,
    "null": type(None),
}


def examples_text(card: ToolCard, examples: Mapping[str, Json]) -> tuple[str, tuple[Cut, ...]]:
    """One line for each example, beginning with a line break: two spaces, its label, its JSON.

    An example that the tool's schema rejects is left out, since a model would copy the mistake. Only an object's own
    keys are checked: whether they are known, required, and have the type and values that the schema lists.
    """
    reasons = {label: _refused(card.input_schema, example) for label, example in examples.items()}
    lines = [f"\n  {label}: {_json(example)}" for label, example in examples.items() if not reasons[label]]
    cuts = [Cut(f"input example `{label}` of {card.name}", reason) for label, reason in reasons.items() if reason]
    return "".join(lines), tuple(cuts)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refused(schema: Mapping[str, Json], example: Json) -> str:
    if not schema:
        return ""
    if not isinstance(example, Mapping):
        return "it is not an object"
    properties = schema.get("properties", {})
    missing = [key for key in schema.get("required", ()) if key not in example]
    unknown = [key for key in example if key not in properties] if schema.get("additionalProperties") is False else []
    wrong = [key for key, value in example.items() if not _fits(properties.get(key), value)]
    for what, keys in (("lacks", missing), ("does not know", unknown), ("has another kind of value for", wrong)):
        if keys:
            subject = "it" if what == "lacks" else "the tool's schema"
            return f"{subject} {what} {', '.join(f'`{key}`' for key in keys)}"
    return ""


def _fits(schema: Json, value: Json) -> bool:
    if not isinstance(schema, Mapping):
        return True
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    return not kinds or any(_is(value, kind) for kind in kinds)


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, object))


OWN = ("name", "description", "category")
"""The names that the template of a tool may read besides the values of the call."""


@dataclass(frozen=True, slots=True)
class ToolListSource:
    """A compiled list of tools; `source(given)` returns the section's content. Created by `compile_tool_list`."""

    spec: ToolListSpec
    item: Template
    visibility: VisibilitySpec | None = None
    printed: Callable[[str], str] = lambda text: text

    @property
    def inputs(self) -> frozenset[str]:
        """The values of a call that its template reads."""
        return frozenset(use.name for use in self.item.inputs if use.name not in OWN)

    def __call__(self, given: SourceInput) -> Content:
        """The list, with a cut for each tool that a gate keeps out.

        Raises:
            TemplateRenderError: when the template reads a value that the call does not have.
        """
        if given.tools is None:
            return Content(self.spec.unknown)
        if self.visibility is None:
            return self._listed(given.tools, (), given)
        return self._listed(*visible(given.tools, given.gates, self.visibility, unlisted=self.visibility.meta), given)

    def _listed(self, cards: tuple[ToolCard, ...], cuts: tuple[Cut, ...], given: SourceInput) -> Content:
        if self.spec.sort == "name":
            cards = tuple(sorted(cards, key=lambda card: card.name))
        lines, refused = [], list(cuts)
        for card in cards:
            description, dropped = self._described(card)
            own = {"name": card.name, "category": card.category, "description": description}
            lines.append(self.item.render({**given.values, **own}))
            refused += dropped
        text = self.spec.separator.join(lines)
        return Content(self.spec.empty if is_blank(text) else text, tuple(refused))

    def _described(self, card: ToolCard) -> tuple[str, tuple[Cut, ...]]:
        text = one_line(card.description) if self.spec.lines == "join" else card.description.strip()
        text = self.printed(text) if text else trusted(self.spec.missing_description)
        examples, cuts = examples_text(card, self.spec.examples.get(card.name, {}))
        return joined(text, self.spec.examples_heading + examples) if examples else text, cuts


def compile_tool_list(
    spec: ToolListSpec,
    name: str,
    *,
    escaping: Escaping = "text",
    visibility: VisibilitySpec | None = None,
    printed: Callable[[str], str] = lambda text: text,
) -> ToolListSource:
    """Compile a list of tools.

    Args:
        spec: its format.
        name: its name in errors, such as `agent.yaml: sections.tooling`.
        escaping: how `{{{x}}}` prints data.
        visibility: the effect of the call's gates; None if the tools have passed them already.
        printed: applied to each description before it is printed: `trusted`, or a function that keeps it from looking
            like a part of the layout.

    Raises:
        TemplateSyntaxError: with every problem of `item`.
    """
    item = compile_template(spec.item, name=f"{name}.item", escaping=escaping)
    return ToolListSource(spec, item, visibility, printed)
