"""A Jinja template in pieces: texts and whole tags from Jinja's lexer, and the blocks that they form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from cuecard.records import dataclass

_ENDS = {
    "if": "endif", "for": "endfor", "macro": "endmacro", "call": "endcall", "filter": "endfilter", "with": "endwith",
    "block": "endblock", "set": "endset", "autoescape": "endautoescape",
}  # fmt: skip
_MIDDLES = {"elif", "else"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A text or a whole tag; `word` is the first word of a `{% %}`."""

    line: int
    kind: str
    raw: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A block: pieces of its opening and middle tags, each with what follows it, and its end."""

    branches: Sequence[tuple[Piece, Sequence[Piece | Block]]]
    end: Piece | None = None
    raw: str = field(default="")


def pieces_of(tokens: Iterable[tuple[int, str, str]], first_line: int) -> list[Piece]:
    """Texts and whole tags, in order; line 1 of the template is `first_line` of its file."""
    pieces: list[Piece] = []
    tag: list[tuple[str, str]] = []
    line = 1
    for number, kind, text in tokens:
        if not tag:
            line = number
        if kind == "data" and not tag:
            pieces.append(Piece(number + first_line - 1, "text", text))
            continue
        tag.append((kind, text))
        if kind.endswith("_end"):
            opened = kind.removesuffix("_end")
            raw = "".join(part for _, part in tag).strip()
            word = next((part for each, part in tag if each == "name"), "")
            data = "".join(part for each, part in tag if each == "data")
            if opened == "raw":
                pieces.append(Piece(line + first_line - 1, "text", data))
            else:
                pieces.append(Piece(line + first_line - 1, opened, raw, word))
            tag = []
        elif kind == "data":  # the text between `{% raw %}` and `{% endraw %}`
            pieces.append(Piece(line + first_line - 1, "text", text))
            tag = []
    return pieces


def tree_of(pieces: Sequence[Piece]) -> list[Piece | Block]:
    """The tree of blocks; Jinja has checked that they are closed."""
    open_blocks: list[tuple[str, list[tuple[Piece, list[Piece | Block]]], list[str]]] = []
    top: list[Piece | Block] = []
    for piece in pieces:
        for _, _, raws in open_blocks:
            raws.append(piece.raw)
        inside = open_blocks[-1][1][-1][1] if open_blocks else top
        if piece.kind != "block":
            inside.append(piece)
        elif open_blocks and piece.word == open_blocks[-1][0]:
            _, branches, raws = open_blocks.pop()
            outer = open_blocks[-1][1][-1][1] if open_blocks else top
            outer.append(Block(branches, piece, "".join(raws)))
        elif open_blocks and piece.word in _MIDDLES:
            open_blocks[-1][1].append((piece, []))
        elif piece.word in _ENDS and _is_block(piece):
            open_blocks.append((_ENDS[piece.word], [(piece, [])], [piece.raw]))
        else:
            inside.append(piece)
    return top


def _is_block(piece: Piece) -> bool:
    return piece.word != "set" or "=" not in piece.raw
