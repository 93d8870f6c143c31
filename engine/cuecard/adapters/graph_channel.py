"""The channel of a conversation in a graph: its value is what streams may show, its checkpoint holds the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from langgraph.channels import LastValue
from typing_extensions import override

from cuecard.adapters.conversations import Stored, Threads, ThreadTexts
from cuecard.errors import InputError


def conversation_channel(threads: Threads) -> LastValue[Any]:
    """A channel of the conversations that `threads` reads and writes."""
    return _with(_Conversations(Stored), threads)


class _Conversations(LastValue[Any]):
    """The last value, of which nodes, streams, traces and `get_state` see digests and names, and only a checkpointer
    the texts. What was kept of a channel that showed them is read likewise.
    """

    __slots__ = ("texts", "threads")
    texts: ThreadTexts | None
    threads: Threads

    @override
    def copy(self) -> Self:
        return _with(super().copy(), self.threads, self.texts)

    @override
    def from_checkpoint(self, checkpoint: Any) -> Self:
        made = _with(super().from_checkpoint(checkpoint), self.threads)
        if made.is_available():
            made.take(made.value)
        return made

    @override
    def update(self, values: Sequence[Any]) -> bool:
        changed = super().update(values)
        if changed:
            self.take(self.value)
        return changed

    @override
    def checkpoint(self) -> Any:
        return self.texts.kept if self.texts else self.value

    def take(self, value: Any) -> None:
        """Hold the texts, so that they are found while the graph runs, and show what may be shown of them."""
        try:
            self.texts = None if value is None else self.threads.texts(value)
        except InputError:  # the next request tells what is wrong with it
            self.texts = None
        if self.texts:
            self.value = self.texts.shown


Channel = TypeVar("Channel", bound=_Conversations)


def _with(made: Channel, threads: Threads, texts: ThreadTexts | None = None) -> Channel:
    made.threads, made.texts = threads, texts
    return made
