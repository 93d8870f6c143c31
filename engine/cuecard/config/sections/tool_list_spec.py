"""Which tools a call has, and how a list of them is printed."""

from typing import Literal

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import Names, Texts, ToolName
from cuecard.model import Json


class VisibilitySpec(FileModel):
    """How the gates of a call affect the tools; the gates themselves come with each turn.

    The rules apply in this order: meta tools are never listed; a harness tool exists if its category belongs to the
    run, any other tool if it is switched on; then flags, secrets, and the turn's `allowed` and `blocked` apply.
    """

    meta: Names = Field((), description="tools that are never listed")
    harness: dict[str, Names] = Field(
        default_factory=dict,
        description="category to the tools that exist only in runs with this category, whether switched on or not; an "
        "empty list means every tool of the category",
    )
    flags: dict[str, Texts] = Field(
        default_factory=dict,
        description="feature flag to the categories or tools that are off while it is false",
    )
    secrets: dict[ToolName, Texts] = Field(
        default_factory=dict, description="tool to the names of the secrets it requires"
    )
    optional_secrets: Texts = Field((), description="secrets that are optional")


class ToolListSpec(FileModel):
    """A list of tools. `item` is a Handlebars template; the defaults print the list of the shipped agent `polyant`."""

    item: str = Field(
        "- **{{{name}}}**: {{{description}}}",
        description="how one tool is printed, from name, description, category and the values of the call",
    )
    separator: str = Field("\n", description="the separator between two tools")
    sort: Literal["catalogue", "name"] = Field("catalogue", description="the order: as in the catalogue, or by name")
    lines: Literal["join", "keep"] = Field(
        "join", description="`join` puts a description on one line, so that it cannot look like another tool"
    )
    missing_description: str = Field("", description="the description for a tool without one")
    unknown: str = Field("No tools available.", description="the whole text if the host does not say which tools exist")
    empty: str = Field("", description="the whole text if there are no tools")
    examples: dict[ToolName, dict[str, Json]] = Field(
        default_factory=dict, description="tool to examples of its input, by label; they follow its description"
    )
    examples_heading: str = Field(
        "\n\nInput examples:", description="the separator between a description and its examples"
    )
