"""`cuecard schema`: the JSON Schemas of the YAML files."""

from __future__ import annotations

import json
from pathlib import Path

from cuecard.cli.outputs import output_folder, write_output
from cuecard.config.json_schema import schemas
from cuecard.config.settings_page import settings_page
from cuecard.errors import visible


def schema(folder: Path | None, *, markdown: bool) -> None:
    """Print all schemas as one JSON object, write each to a file in the folder, or print the page of all keys.

    Raises:
        InputError: when the folder is not writable.
    """
    if markdown:
        from cuecard.outside.environment import described_variables

        print(settings_page(described_variables()), end="")
        return
    texts = schemas()
    if folder is None:
        print(json.dumps({name: json.loads(text) for name, text in texts.items()}, indent=2))
        return
    output_folder(folder, "--write")
    for name, text in texts.items():
        write_output(folder / name, text, "--write")
        print(visible(str(folder / name)))
