"""Words in the results of tools: the marker in the middle of a long one that was cut."""

from typing import Annotated

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.placeholder_rule import holds
from cuecard.config.words.word import SAYING, TAGS


class ResultWords(FileModel):
    """The text in the middle of a result that was cut there, including the line breaks around it."""

    characters: Annotated[str, holds("count", required=("count",)), SAYING, TAGS] = Field(
        "\n[... {count} characters left out ...]\n", description="{count} characters were left out"
    )
    lines: Annotated[str, holds("count", required=("count",)), SAYING, TAGS] = Field(
        "\n[... {count} lines left out ...]\n", description="{count} lines were left out"
    )
    tokens: Annotated[str, holds("count", required=("count",)), SAYING, TAGS] = Field(
        "\n[... {count} tokens left out ...]\n", description="{count} tokens were left out"
    )
