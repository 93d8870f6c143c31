"""Groups of commands: the first word names the command, or a nested group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias, Union

from cuecard.cli.signatures import HELP, Command, Parser, call, summary, usage_problem
from cuecard.errors import REMOVED, InputError, Problem, closest
from cuecard.records import dataclass

Entry: TypeAlias = Union[Command, "Group"]


@dataclass(frozen=True, slots=True)
class Group:
    """Commands with a common name.

    Attributes:
        help: what they do, in one sentence.
        commands: the commands by name.
        version: returns the text that `--version` prints; without it, there is no such option.
        removed: the commands of earlier versions, each with what to do instead.
    """

    help: str
    commands: Mapping[str, Entry]
    version: Callable[[], str] | None = None
    removed: Mapping[str, str] = field(default_factory=dict)


def run(group: Group, words: Sequence[str], program: str) -> int:
    """Run the command that the words name, and return its exit code; without words, print an overview.

    Args:
        group: the commands.
        words: the command line.
        program: the name of the group in help texts, such as `cuecard tools`.

    Raises:
        InputError: when there is no such command, or its arguments are wrong.
        CuecardError: any other error of the command.
    """
    first, *others = words or [""]
    if first in {"", *HELP}:
        print(_parser(group, program).format_help(), end="")
        return 0 if words else 2
    if first == "--version" and group.version:
        print(group.version())
        return 0
    entry = group.commands.get(first)
    if entry is None:
        raise InputError(_unknown_command(first, group, program))
    name = f"{program} {first}"
    return run(entry, others, name) if isinstance(entry, Group) else call(entry, others, name)


def _parser(group: Group, program: str) -> Parser:
    parser = Parser(program, "[OPTIONS] COMMAND [ARGUMENTS]", group.help)
    if group.version:
        parser.add_argument("--version", action="store_true", help="Print the version and exit.")
    parser.add_argument("-h", "--help", action="store_true", help="Show this message and exit.")
    commands = parser.add_argument_group("commands")
    for name, entry in group.commands.items():
        commands.add_argument(name, help=entry.help if isinstance(entry, Group) else summary(entry))
    return parser


def _unknown_command(word: str, group: Group, program: str) -> Problem:
    if word.startswith("-"):
        return usage_problem(f"no such option: {word.partition('=')[0]}", program)
    if word in group.removed:
        return Problem(REMOVED, f"the command `{program} {word}` was removed", group.removed[word], "command line")
    near = closest(word, group.commands)
    advice = f"did you mean `{program} {near}`?" if near else f"see `{program} --help`"
    return Problem("wrong-usage", f"no such command: `{word}`", advice, "command line")
