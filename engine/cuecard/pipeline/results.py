"""A tool result as the text that a model reads, cut in the middle where it is too long."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cuecard.agent import Agent
from cuecard.agent.results import ResultForm, form_of
from cuecard.config.results_spec import LengthUnit
from cuecard.config.values import fill, value_at
from cuecard.errors import CuecardError
from cuecard.model import CountTokens, Diagnostic, Json, RenderedResult, ToolResult
from cuecard.records import replace
from cuecard.sources.result_values import fields_of, unwrapped, without_media
from cuecard.template import TrustedText, clean, without_controls
from cuecard.template.guards.gate import PromptGate
from cuecard.template.guards.marks import marked

_PER_TOKEN = 4
"""An estimate of the characters per token, from which the search for a cut begins."""


class CutText(NamedTuple):
    """What remains of a text, and how much is left out, in the requested unit; `whole` is the entire text."""

    head: str
    tail: str
    left_out: int
    whole: int


def cut_text(text: str, limits: tuple[int, int], unit: LengthUnit, count: CountTokens) -> CutText:
    """The beginning and the end of a text, as long as `limits` allow; a text that fits is returned as the head."""
    head, tail = limits
    if unit == "characters":
        left_out, end = len(text) - head - tail, len(text) - tail
        return CutText(text[:head], text[end:], left_out, len(text)) if left_out > 0 else _all(text, len(text))
    if unit == "lines":
        return _cut_lines(text, head, tail)
    whole = count(text)
    if whole <= head + tail:
        return _all(text, whole)
    first = _longest(text, head, count, lambda size: text[:size])
    last = _longest(text, tail, count, lambda size: text[len(text) - size :])
    middle = text[first : len(text) - last]
    return CutText(text[:first], text[len(text) - last :], count(middle), whole)


def _all(text: str, whole: int) -> CutText:
    return CutText(text, "", 0, whole)


def _cut_lines(text: str, head: int, tail: int) -> CutText:
    lines = text.splitlines(keepends=True)
    if len(lines) <= head + tail:
        return _all(text, len(lines))
    kept = "".join(lines[:head]).removesuffix("\n"), "".join(lines[len(lines) - tail :])
    return CutText(*kept, len(lines) - head - tail, len(lines))


def _longest(text: str, limit: int, count: CountTokens, part: Callable[[int], str]) -> int:
    """The length in characters of the longest part of the text that costs at most `limit` tokens."""
    if limit == 0:
        return 0
    least, most = 0, min(limit * _PER_TOKEN, len(text))
    while most < len(text) and count(part(most)) <= limit:
        least, most = most, min(most * 2, len(text))
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if count(part(middle)) <= limit else (least, middle - 1)
    return least


def render_result(agent: Agent, result: ToolResult, count: CountTokens) -> RenderedResult:
    """The result as text, rendered by the agent's `results` or unchanged.

    Results of the search tool are never changed, because their structure is read again.
    """
    if result.tool == agent.search_tool:
        return RenderedResult(result_text(result.result), result.tool, result.call_id)
    said, media = told_result(agent, result.result)
    form = form_of(agent.results, result.tool)
    if form is None:
        return RenderedResult(result_text(said), result.tool, result.call_id, media=media)
    said, notes = _cleaned(said)
    content, path = _content(said, form.spec.field)
    cut = _cut(content, form, agent, count)
    shown = _shown(content, cut, form, agent)
    values = {
        "content": shown,
        "result": _fields(said, path, shown),
        "tool": result.tool,
        "cut": _parts(cut, form, agent),
    }
    try:
        text = (form.error if result.is_error else form.text).render(values)
    except CuecardError as error:
        told = f"the template of `{form.name}` does not fit: {error.problems[0].message}"
        notes = (*notes, Diagnostic("result_template", told))
        text = shown if isinstance(shown, TrustedText) else marked(shown)
    by_author = form.spec.trust == "author"
    text, trust = _gate(agent, form).admit(text, None if by_author else form.own, raw=by_author)
    made = RenderedResult(
        result_text(text), result.tool, result.call_id, form.name, form.source, trust=trust, diagnostics=notes
    )
    made = replace(made, media=media) if media else made
    return replace(made, left_out=cut.left_out, whole=cut.whole, unit=form.spec.unit) if form.spec.limits else made


def told_result(agent: Agent, result: Json) -> tuple[Json, tuple[Json, ...]]:
    """What a result says, with the agent's words in place of each picture or file, and those as the tool wrote them."""
    words = agent.spec.words.results
    return without_media(result, lambda kind: fill(words.media, {"kind": without_controls(kind)}))


def result_text(value: Json) -> str:
    """A result as a text: a text unchanged; anything else, and a blank text, which some providers reject, as JSON."""
    return value if isinstance(value, str) and value.strip() else json.dumps(value, ensure_ascii=False)


def _cleaned(result: Json) -> tuple[Json, tuple[Diagnostic, ...]]:
    """The unwrapped result without invisible and control characters."""
    said = unwrapped(result)
    try:
        value, removed = clean(said)
    except CuecardError:  # two keys of an object would become equal: in a text, they stay different
        value, removed = clean(result_text(said))
    told = f"characters that nobody sees, and that were removed: {removed:,}"
    return value, (Diagnostic("invisible_characters", told),) if removed else ()


def _content(said: Json, field: str) -> tuple[str, tuple[str, ...]]:
    """The text of a result, and its path in it; none if the text is the whole result."""
    inner = value_at(fields_of(said), field) if field else None
    if inner is None:
        return said if isinstance(said, str) else result_text(said), ()
    return inner if isinstance(inner, str) else result_text(inner), tuple(field.split("."))


def _cut(content: str, form: ResultForm, agent: Agent, count: CountTokens) -> CutText:
    """What remains of the text; all of it if it would not be shorter with the marker."""
    if form.spec.limits is None:
        return _all(content, 0)
    cut = cut_text(content, form.spec.limits, form.spec.unit, count)
    size = len(cut.head) + len(_marker(cut, form, agent)) + len(cut.tail)
    return cut if size < len(content) else _all(content, cut.whole)


def _marker(cut: CutText, form: ResultForm, agent: Agent) -> str:
    words = agent.spec.words
    usual: str = getattr(words.results, form.spec.unit)
    return fill(usual if form.spec.marker is None else form.spec.marker, {"count": words.number(cut.left_out)})


def _shown(content: str, cut: CutText, form: ResultForm, agent: Agent) -> str:
    """The text with the author's marker between the remaining parts, which are data."""
    if not cut.left_out:
        return content
    return TrustedText(marked(cut.head) + _marker(cut, form, agent) + marked(cut.tail))


def _parts(cut: CutText, form: ResultForm, agent: Agent) -> Mapping[str, Json] | None:
    if not cut.left_out:
        return None
    number = agent.spec.words.number(cut.left_out)
    return {"head": cut.head, "tail": cut.tail, "left_out": number, "unit": form.spec.unit}


def _fields(said: Json, path: Sequence[str], shown: str) -> Json:
    """The result for templates that read its fields, with the text as shown; for a plain text, just that."""
    if path:
        return _with(said, path, shown)
    held = fields_of(said)
    return held if isinstance(held, (Mapping, list, tuple)) else shown


def _with(value: Json, path: Sequence[str], text: str) -> Json:
    """The result with the text at an existing path replaced."""
    held = fields_of(value)
    if not path or not isinstance(held, Mapping):
        return text
    return {**held, path[0]: _with(held[path[0]], path[1:], text)}


def _gate(agent: Agent, form: ResultForm) -> PromptGate:
    """Gate a separate message: data cannot form elements of the prompt or of its template; code stays readable."""
    fences = form.fences and form.spec.trust != "author"
    return PromptGate(agent.gate.names | form.names, agent.gate.words, "names", None, fences)
