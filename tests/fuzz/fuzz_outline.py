"""Any text has an outline whose parts make it up, or fails with a TemplateError that can be drawn."""

from __future__ import annotations

from cuecard import Template, compile_template
from cuecard.template import OutlinePart
from cuecard.types import Json, TemplateError, TemplateSyntaxError
from fuzz.drawn import check_drawn
from fuzz.fuzz_lexer import PHRASES as TAGS_THAT_CLOSE
from fuzz.fuzz_lexer import PIECES as TAGS

PIECES = (
    *("<a>", "</a>", "<b>", "</b>", "<c/>", '<a x="', '">', "<!--", "-->", "<![CDATA[", "]]>", "<?p ?>", "<!DOCTYPE"),
    *("&lt;", "&#10;", "&x;", "&", "<", ">", "{{#if a}}", "{{/if}}", "{{else}}", "{{a}}", "{{{b}}}", "<long-name>"),
    *TAGS,
)
PHRASES = (
    *("<a>text</a>", "<b>{{b}}</b>\n", '<a x="{{{b}}}"/>', "<!-- {{a}} -->", "<![CDATA[{{{b}}}]]>", "<?p {{b}}?>"),
    *("{{#if a}}<b/>{{else}}<c>{{b}}</c>{{/if}}", '<a {{#if a}}x="1"{{/if}}>\n{{{b}}}\n</a>', "  <c/>\n", "&amp;"),
    *TAGS_THAT_CLOSE,
)

VALUES: dict[str, Json] = {"a": [{"b": "</a>"}, ""], "b": 'x < "y"\n'}


def target(data: bytes) -> None:
    """Read one input, as it is and inside of a root element: what is there has an outline more often."""
    text = data.decode("utf-8", "surrogateescape")
    check(text)
    check(f"<root>\n{text}\n</root>")


def check(text: str) -> None:
    """The outline of one text."""
    try:
        template = compile_template(text, strict=False)
    except TemplateError as error:
        check_drawn(error, text)
        return
    try:
        outline = template.outline()
    except TemplateSyntaxError as error:
        check_drawn(error, text)
        return
    assert outline.root
    assert len({part.id for part in outline.parts}) == len(outline.parts)
    assert "".join(part.text for part in outline.parts) == text
    whole = rendered(template, text)
    if whole is not None:
        assert "".join(rendered(part, text) or "" for part in outline.parts) == whole


def rendered(template: Template | OutlinePart, text: str) -> str | None:
    """Its text with the values; None where it cannot be rendered with them."""
    try:
        return template.render(VALUES)
    except TemplateError as error:
        check_drawn(error, text)
        return None
