"""The helpers of render.js once more, in Python."""

from __future__ import annotations

from cuecard import trusted
from cuecard.template import HelperOptions
from cuecard.template.runtime.values import is_empty, text_of
from cuecard.types import Helper, Json, TrustedText


def join(*values: Json, **_pairs: Json) -> str:
    return "-".join(map(text_of, values))


def upper(text: Json = None, *_more: Json, **_pairs: Json) -> str:
    return text_of(text).upper()


def either(first: Json = None, second: Json = None, *_more: Json, **_pairs: Json) -> Json:
    return second if is_empty(first) else first


def pair(first: Json = None, second: Json = None, *_more: Json, **_pairs: Json) -> Json:
    return {"first": first, "second": second}


def pairs(*_values: Json, **values: Json) -> str:
    return " ".join(f"{key}={text_of(values[key])}" for key in sorted(values))


def safe(text: Json = None, *_more: Json, **_pairs: Json) -> TrustedText:
    return trusted(text_of(text))


def wrap(options: HelperOptions) -> str:
    return f"[{body(options)}]"


def choose(value: Json, options: HelperOptions) -> str:
    return other(options) if is_empty(value) else body(options)


def inside(value: Json, options: HelperOptions) -> str:
    return options.fn(value) if options.fn else ""


def entries(values: Json, options: HelperOptions) -> str:
    if not isinstance(values, list):
        return other(options)
    fn = options.fn
    return "|".join(fn(item, params=(item, index, "third")) if fn else "" for index, item in enumerate(values))


def marked(mark: Json, options: HelperOptions) -> str:
    data = {**options.data, "_parent": options.data, "mark": mark}
    return options.fn(options.context, data) if options.fn else ""


def verbatim(options: HelperOptions) -> str:
    return f"<{body(options)}>"


def body(options: HelperOptions) -> str:
    return options.fn(options.context) if options.fn else ""


def other(options: HelperOptions) -> str:
    return options.inverse(options.context) if options.inverse else ""


HELPERS: dict[str, Helper] = {
    "join": join,
    "upper": upper,
    "either": either,
    "pair": pair,
    "pairs": pairs,
    "safe": safe,
    "wrap": wrap,
    "choose": choose,
    "inside": inside,
    "entries": entries,
    "marked": marked,
    "verbatim": verbatim,
}
