"""The search tool: its name, and which hits are worth their tokens."""

from __future__ import annotations

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import ToolName


class AheadSpec(FileModel):
    """A search with the user's own words, before the model asks for one."""

    limit: int = Field(3, ge=1, le=50, description="how many tools a message of the user discovers at most")
    confidence: float = Field(
        0.5,
        ge=0,
        le=1,
        description="tools that score less are left to the model's own search; a ranker with a scale of its own may "
        "have another default",
    )


class SearchSpec(FileModel):
    """The search tool: how tools are discovered."""

    tool: ToolName = Field("tool_search", description="the name of the search tool")
    limit: int = Field(8, ge=1, le=50, description="how many tools a search returns at most")
    confidence: float = Field(0.2, ge=0, le=1, description="below this confidence a search returns nothing")
    cut: float = Field(
        0.5,
        ge=0,
        le=1,
        description="hits that score below this share of the best are left out, and what comes behind a wide gap in a "
        "sure answer; `0` returns as many as `limit` allows",
    )
    ranker: str = Field(
        "bm25",
        description="what orders the tools: `bm25`; `semantic`, or the name of sentence vectors; `model2vec:` and the "
        "folder or name of a model; or a function, `my_package:rank`, where the host allows code. Each may have other "
        "defaults of `confidence` and `cut`: docs/rankers.md",
    )
