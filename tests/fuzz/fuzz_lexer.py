"""Any text becomes tokens that cover it from left to right, or a TemplateSyntaxError that can be drawn."""

from __future__ import annotations

from cuecard.template.syntax.lexer import tokenize
from cuecard.template.syntax.source import MAX_MISTAKES, EnoughError, Mistakes, TemplateSource
from cuecard.types import TemplateSyntaxError
from fuzz.drawn import check_drawn

PIECES = (
    *("{{", "}}", "{{{", "}}}", "{{{{", "}}}}", "{{{{/", "{{~", "~}}", "{{#", "{{/", "{{^", "{{>", "{{#>", "{{#*"),
    *("{{&", "{{!", "{{!--", "--}}", "--~}}", "\\{{", "\\\\{{", "{{else", "else if ", "as |x|", "../", "@index"),
    *("[a b]", "[\\]]", '"text"', "'\\''", '"', "'", "(", ")", "|", "=", "true", "undefined", "-1.5", "1e9", "if"),
    *("a", ".", "/", " ", "\n"),
)

PHRASES = (
    *(
        "{{a}}",
        "{{{b}}}",
        "{{&a.b}}",
        "{{~a~}}",
        "{{! <!-- }}",
        "{{!-- {{x}} --}}",
        '{{lookup a "<b"}}',
        "\\{{x}}",
        "text",
    ),
    *("{{#if a}}x{{else}}y{{/if}}", "{{#each a}}\n{{b}}{{@index}}\n{{/each}}", "{{#with o as |p|}}{{p.a}}{{/with}}"),
    *("{{#a}}{{.}}{{/a}}", "{{^a}}z{{/a}}", "{{#unless b}}{{else if a}}{{a}}{{/unless}}", "{{{{a}}}} {{x}} {{{{/a}}}}"),
    *("{{> a}}", "  {{> b o a=b}}\n", "{{#> a}}x{{/a}}", '{{#*inline "b"}}x{{/inline}}', "{{#> c}}{{/c}}", "\n", " "),
)
"""What makes sense on its own: a text of such phrases goes further than one of pieces."""


def target(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "surrogateescape")
    at = 0
    mistakes = Mistakes()
    try:
        for token in tokenize(TemplateSource("fuzz", text), mistakes):
            # No token holds the blanks inside of a tag, and the backslash that makes a tag text.
            assert at <= token.start <= token.end
            assert text[at : token.start].strip() in {"", "\\"}
            assert token.text in text[token.start : token.end]
            at = token.end
        assert at == len(text)
        mistakes.refuse()
    except EnoughError:
        assert len(mistakes.problems) == MAX_MISTAKES
    except TemplateSyntaxError as error:
        check_drawn(error, text)
