"""Commands for reference: problem codes, schemas of files."""

from __future__ import annotations

import json
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
    from cuecard.cli.outputs import output_folder, write_output
    from cuecard.config.json_schema import schemas
    from cuecard.config.settings_page import settings_page
    from cuecard.errors import visible

    if markdown:
        from cuecard.outside.environment import described_variables

        print(settings_page(described_variables()), end="")
        return
    texts = schemas()
    if write is None:
        print(json.dumps({name: json.loads(text) for name, text in texts.items()}, indent=2))
        return
    output_folder(write, "--write")
    for name, text in texts.items():
        write_output(write / name, text, "--write")
        print(visible(str(write / name)))
