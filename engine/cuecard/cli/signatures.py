"""Commands declared by their signatures, and groups of them.

`argparse` parses the words. It is part of Python and quick to load, unlike the packages that it replaces here.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, NoReturn, TypeAlias, Union, get_args, get_origin, get_type_hints

from cuecard.errors import REMOVED, InputError, Problem, closest
from cuecard.records import dataclass

Command: TypeAlias = Callable[..., int | None]
"""A function whose parameters are `Annotated` with an `Argument` or an `Option`; it returns the exit code."""

_HELP_COLUMN: Final = 34
_PLAINER: Final = {
    r"^argument ([^:]+): ": r"\1: ",
    "the following arguments are required:": "missing",
    r"^(.+): expected one argument": r"\1 needs a value; write one that begins with a dash as `\1=VALUE`",
    "ignored explicit argument .*": "takes no value",
}
"""Messages of `argparse`, reworded in the style of our own."""

_USAGE: Final = "command line"

Declared: TypeAlias = "tuple[Parameter, Any, Argument | Option]"
"""A parameter with its type and its declaration."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument.

    Attributes:
        help: one sentence.
        metavar: its name in help texts; by default, the parameter's name in capitals.
        default: what stands where no word is given for it, as the only one if it may be repeated. A parameter's own
            default would have to come behind the parameters without one.
    """

    help: str
    metavar: str = ""
    default: Any = Parameter.empty


@dataclass(frozen=True, slots=True)
class Option:
    """A `--` option; for a `bool` it is a flag, for a list it may be repeated.

    Attributes:
        help: one sentence.
        name: with its dashes; derived from the parameter's name by default.
        metavar: the name of its value in help texts.
        least: the smallest number allowed.
        most: the largest.
        short: a name of one letter, with its dash; empty for none.
    """

    help: str
    name: str = ""
    metavar: str = ""
    least: float = -math.inf
    most: float = math.inf
    short: str = ""


HELP = frozenset({"-h", "--help"})

_DASHES = re.compile(r"(--[^=]+)=--")


def call(command: Command, words: Sequence[str], program: str) -> int:
    """Run a command with these words, and return its exit code; `--help` or `-h` prints its help instead.

    Args:
        command: the function.
        words: the words after its name.
        program: its name in help texts, such as `cuecard tools list`.

    Raises:
        InputError: when the words do not fit the command.
    """
    own, rest = _split(words)
    declared = tuple(_declared(command))
    options, arguments = _options(declared, program), _arguments(declared, program)
    if HELP & {*own}:
        names = [_metavar(each, mark) for each, _, mark in declared if isinstance(mark, Argument)]
        usage = " ".join(["[OPTIONS]", *names])
        print(Parser(program, usage, summary(command), arguments, options).format_help(), end="")
        return 0
    # argparse drops a value that consists of dashes, leaving an empty list.
    if dashes := [found[1] for word in own if (found := _DASHES.fullmatch(word))]:
        raise InputError(usage_problem(f"`--` is no value for `{name}`", program) for name in dashes)
    values, others = options.parse_known_args(own)
    if unknown := [word for word in others if word.startswith("-") and word != "-"]:
        raise InputError(_unknown_option(word, declared, program) for word in unknown)
    _, left = arguments.parse_known_args(["--", *others, *rest], values)
    if spare := [word for word in left if word != "--"]:
        raise InputError(usage_problem(f"unexpected argument `{word}`", program) for word in spare)
    return command(**vars(values)) or 0


def summary(command: Command) -> str:
    """What a command does, from its docstring."""
    return " ".join((command.__doc__ or "").split())


def usage_problem(message: str, program: str) -> Problem:
    """The problem of a wrong command line."""
    return Problem("wrong-usage", message, f"see `{program} --help`", _USAGE)


class Parser(argparse.ArgumentParser):
    """A parser with its own headings that raises errors instead of exiting."""

    def __init__(self, program: str, usage: str, about: str = "", *parents: Parser) -> None:
        shape = partial(argparse.HelpFormatter, max_help_position=_HELP_COLUMN)
        usage = f"{program} {usage}"
        super().__init__(
            program, usage, about, parents=parents, add_help=False, allow_abbrev=False, formatter_class=shape
        )

    def error(self, message: str) -> NoReturn:
        """Report a wrong command line.

        Raises:
            InputError: always.
        """
        for pattern, plain in _PLAINER.items():
            message = re.sub(pattern, plain, message)
        raise InputError(usage_problem(message, self.prog))


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words before `--`, and those after it, which cannot be options."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def _arguments(declared: Iterable[Declared], program: str) -> Parser:
    parser = Parser(program, "")
    for parameter, kind, mark in declared:
        if isinstance(mark, Argument):
            parser.add_argument(parameter.name, **_argument(parameter, kind, mark))
    return parser


def _options(declared: Iterable[Declared], program: str) -> Parser:
    parser = Parser(program, "")
    for parameter, kind, mark in declared:
        if isinstance(mark, Option):
            names = [mark.short, _option_name(parameter, mark)] if mark.short else [_option_name(parameter, mark)]
            parser.add_argument(*names, **_option(parameter, kind, mark))
    shown = "Show this message and exit."
    parser.add_argument("-h", "--help", action="store_true", default=argparse.SUPPRESS, help=shown)
    return parser


def _declared(command: Command) -> Iterator[Declared]:
    """Each parameter with its type and its declaration."""
    hints = get_type_hints(command, include_extras=True)
    for parameter in signature(command).parameters.values():
        hint = hints[parameter.name]
        while get_origin(hint) is not Annotated:  # a default of `None` makes it optional
            hint = next(each for each in get_args(hint) if each is not NoneType)
        yield parameter, *get_args(hint)


def _argument(parameter: Parameter, kind: Any, mark: Argument) -> dict[str, Any]:
    repeated, one = _parts(kind)
    default = parameter.default
    if mark.default is not Parameter.empty:
        default = [mark.default] if repeated else mark.default
    required = default is Parameter.empty
    form: dict[str, Any] = {} if required else {"default": default}
    if repeated:
        form["nargs"] = "+" if required else "*"
    elif not required:
        form["nargs"] = "?"
    return form | {"metavar": _metavar(parameter, mark).strip("[]."), "help": mark.help, "type": _reader(one, mark)}


def _option(parameter: Parameter, kind: Any, mark: Option) -> dict[str, Any]:
    form: dict[str, Any] = {"dest": parameter.name, "help": _option_help(parameter, mark)}
    if kind is bool:
        return form | {"action": "store_true"}
    repeated, one = _parts(kind)
    form |= {"metavar": mark.metavar or _kind_name(one), "type": _reader(one, mark)}
    if parameter.default is Parameter.empty:
        return form | {"required": True}
    return form | {"default": parameter.default, "action": "append" if repeated else "store"}


def _option_help(parameter: Parameter, mark: Option) -> str:
    notes = []
    if parameter.default is Parameter.empty:
        notes.append("required")
    elif parameter.default not in {None, False, "", Path()}:
        notes.append(f"default: {parameter.default}")
    if math.isfinite(mark.least) and math.isfinite(mark.most):
        notes.append(f"{mark.least:g} to {mark.most:g}")
    elif math.isfinite(mark.least):
        notes.append(f"at least {mark.least:g}")
    return mark.help.replace("%", "%%") + (f" [{'; '.join(notes)}]" if notes else "")


def _parts(kind: Any) -> tuple[bool, Any]:
    """Whether there may be several values, and the type of each."""
    if get_origin(kind) not in {list, Literal} and get_args(kind):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return (True, get_args(kind)[0]) if get_origin(kind) is list else (False, kind)


def _kind_name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return {Path: "PATH", int: "N", float: "NUMBER"}.get(kind, "TEXT")


def _metavar(parameter: Parameter, mark: Argument) -> str:
    return mark.metavar or parameter.name.upper()


def _option_name(parameter: Parameter, mark: Option) -> str:
    return mark.name or f"--{parameter.name.strip('_').replace('_', '-')}"


def _reader(kind: Any, mark: Argument | Option) -> Callable[[str], Any]:
    """The function that converts a word into a value."""

    def choice(word: str) -> str:
        if word not in get_args(kind):
            raise argparse.ArgumentTypeError(f"`{word}` is not one of {', '.join(f'`{w}`' for w in get_args(kind))}")
        return word

    def number(word: str) -> float:
        noun = "whole number" if kind is int else "number"
        try:
            value: float = kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"`{word}` is not a {noun}") from None
        if not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"`{word}` is not a {noun}")
        if isinstance(mark, Option) and not mark.least <= value <= mark.most:
            limit = f"less than {mark.least:g}" if value < mark.least else f"more than {mark.most:g}"
            raise argparse.ArgumentTypeError(f"{word} is {limit}")
        return value

    if get_origin(kind) is Literal:
        return choice
    return number if kind in {int, float} else kind


def _unknown_option(word: str, declared: Iterable[Declared], program: str) -> Problem:
    """The problem of an unknown option."""
    name = word.partition("=")[0]
    near = closest(name, [_option_name(each, mark) for each, _, mark in declared if isinstance(mark, Option)])
    advice = f"did you mean {near}?" if near else f"see `{program} --help`"
    return Problem("wrong-usage", f"no such option: {name}", advice, _USAGE)


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
