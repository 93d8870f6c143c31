"""Commands for reference: problem codes, schemas of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cuecard.cli.options import Json
from cuecard.cli.signatures import Argument, Option


def explain(
    codes: Annotated[
        list[str] | None,
        Argument(metavar="CODE...", help="Codes, or their first words: `yaml` for all `yaml-...`."),
    ] = None,
    json: Json = False,
) -> None:
    """Explain problem codes, with a bad and a good example of each; without a code, list them."""
    from cuecard.cli.check.explain import explain as command

    command(codes or [], json=json)


def schema(
    write: Annotated[Path | None, Option(metavar="DIR", help="Write all schemas into a folder.")] = None,
    markdown: Annotated[bool, Option(help="Print the page that documents every key.")] = False,
) -> None:
    """Print the JSON Schemas of the YAML files, for editors."""
    from cuecard.cli.schema import schema as command

    command(write, markdown=markdown)
