"""Renders a prompt file with an official package of PyPI; run with that package's folder on the path, and nothing else.

Asked on standard input: `source`, `path`, `input`, `partials`, `history`; the answer is a list of roles with texts.
"""

import asyncio
import json
import sys


def main() -> None:
    asked = json.load(sys.stdin)
    if sys.argv[1] == "dotpromptz":
        from dotpromptz import DataArgument, Dotprompt  # type: ignore[import-not-found]  # noqa: PLC0415 - only one of the two is there
        from dotpromptz.typing import Message, TextPart  # type: ignore[import-not-found]  # noqa: PLC0415 - likewise

        card = Dotprompt(partials=asked["partials"])
        said = [Message(role=role, content=[TextPart(text=text)]) for role, text in asked["history"]]
        made = asyncio.run(card.render(asked["source"], DataArgument(input=asked["input"], messages=said))).messages
        told = [(getattr(m.role, "value", m.role), "".join(part.text for part in m.content)) for m in made]
    else:
        import prompty  # type: ignore[import-not-found]  # noqa: PLC0415 - likewise

        made = prompty.prepare(prompty.load(asked["path"]), asked["input"])
        old = [(m["role"], m["content"]) for m in made if isinstance(m, dict)]  # before version 2
        told = old or [(m.role, "".join(part.value for part in m.parts)) for m in made]
    print(json.dumps(told))


main()
