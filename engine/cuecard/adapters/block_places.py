"""Which message a block goes with.

Counting from the first message is not enough. A window drops the first messages, a conversation may begin with messages
of before its first turn, and some hosts put the user's words into the message that holds the last tool results. So each
turn is looked for behind the last result that was known as it began (`Step.turns`). Where a host or an adapter has
joined messages, several turns go with one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Step
from cuecard.records import replace


class MessageFacts:
    """What of each message matters: the call ids of its tool results, and how many texts of the user it holds.

    Where nobody `joins` messages, each is one of its own: fewer than turns means that the oldest are gone.
    """

    __slots__ = ("_holding", "_saying", "ids", "joins", "words")

    def __init__(self, ids: Sequence[tuple[str, ...]], words: Sequence[int], *, joins: bool = True) -> None:
        self.ids: Sequence[tuple[str, ...]] = ids
        self.words: Sequence[int] = words
        self.joins: bool = joins
        self._holding = [place for place, held in enumerate(ids) if held]
        self._saying = [place for place, said in enumerate(words) if said]

    def first_places(self) -> dict[str, int]:
        """The first message that holds each result."""
        return {call: place for place in reversed(self._holding) for call in self.ids[place]}

    def all_places(self) -> dict[str, list[int]]:
        """The messages that hold each result: several where a model repeats ids, or a host tells one again."""
        places = defaultdict[str, list[int]](list)
        for place in self._holding:
            for call in self.ids[place]:
                places[call].append(place)
        return places

    def words_behind(self, place: int) -> int:
        """How many messages with the user's words there are from this one on."""
        return len(self._saying) - bisect_left(self._saying, place)

    def words_between(self, start: int, end: int) -> int:
        """How many messages with the user's words there are from `start` on and before `end`."""
        return self.words_behind(start) - self.words_behind(end)

    def one_each(self, turns: Sequence[str | None]) -> list[int]:
        """The message of each turn, where the user's are one for each, behind the last result known as it began.

        That is the usual conversation, in which nothing has to be searched; of every other one, none.
        """
        said, held = self._saying, self._holding
        if len(said) != len(turns):
            return []
        for place, since in zip(said, turns, strict=True):
            before = bisect_left(held, place)
            if self.ids[place] or (since not in self.ids[held[before - 1]] if before else since):
                return []
        return said

    @property
    def ends(self) -> tuple[int, int] | None:
        """The first and the last message that is not the model's; None where there is none."""
        firsts, lasts = [*self._holding[:1], *self._saying[:1]], [*self._holding[-1:], *self._saying[-1:]]
        return (min(firsts), max(lasts)) if firsts else None

    def alone(self, start: int, end: int) -> list[int]:
        """The messages of the user from `start` on and before `end` that hold no results."""
        said = self._saying
        return [place for place in said[bisect_left(said, start) : bisect_left(said, end)] if not self.ids[place]]

    def next_results(self, start: int, end: int) -> int:
        """The first message with results from `start` on; `end` if none is before it."""
        at = bisect_left(self._holding, start)
        return min(self._holding[at], end) if at < len(self._holding) else end

    def next_told(self, place: int) -> int:
        """Where the next messages end that are not the model's; this one where none follows."""
        at, behind = bisect_left(self._holding, place + 1), bisect_left(self._saying, place + 1)
        following = [*self._holding[at : at + 1], *self._saying[behind : behind + 1]]
        return self.batch_end(min(following)) if following else place

    def batch_end(self, place: int) -> int:
        """The last of the results that follow each other from here on."""
        while place + 1 < len(self.ids) and self.ids[place + 1]:
            place += 1
        return place


class CallNames:
    """A name of its own for each call of a conversation: its id, or one made of it where a model repeats ids.

    Read in their order, the same messages give the same names, so that what was sent stays as it is.

    Args:
        gone: names that were given to calls which the messages no longer hold, as `gone_names` knows them.
    """

    __slots__ = ("_last", "_used", "_waiting")

    def __init__(self, gone: Iterable[str] = ()) -> None:
        self._used = set(gone)
        self._waiting: dict[str, deque[str]] = {}
        self._last: dict[str, str] = {}

    def of_calls(self, calls: Iterable[str]) -> list[str]:
        """The names of the calls of one answer; one without an id stays without."""
        asked = list(calls)
        for call in asked:
            self._waiting[call] = deque()
        return [self._of(call) if call else "" for call in asked]

    def _of(self, call: str) -> str:
        name, number = call, 1
        while name in self._used:
            number += 1
            name = _numbered(call, number)
        self._used.add(name)
        self._waiting[call].append(name)
        return name

    def of_result(self, call: str) -> str:
        """The name of the call that a result answers: of several with one id, of the first that has none yet."""
        if waiting := self._waiting.get(call):
            self._last[call] = waiting.popleft()
        self._used.add(call)
        return self._last.get(call, call)


_LONGEST = 40
"""Characters of a call's id that every provider takes; of a longer one, its provider takes as many."""


def _numbered(call: str, number: int) -> str:
    end = f"-{number}"
    return call[: max(len(call), _LONGEST) - len(end)] + end


def gone_names(held: Iterable[str], new: Iterable[str], known: Iterable[str]) -> set[str]:
    """The names of calls that a host has left out, though messages hold others with the same ids.

    Of several known calls with one id, the messages hold the newest.

    Args:
        held: the ids of the calls in the messages that the request before has held, too.
        new: those of the others.
        known: the names of the results that are known.
    """
    names, counted = {*known}, Counter(held)
    if names <= counted.keys():  # none is gone, and none has another name than its id
        return set()
    gone = set[str]()
    for call in {*counted, *new}:
        own = _names_of(call, names)
        gone.update(own[: max(len(own) - counted[call], 0)])
    return gone


def _names_of(call: str, known: Collection[str]) -> list[str]:
    """The known names of calls with an id, in their order; one of them may be missing where a call had no result."""
    found, number, missing = [call] if call in known else [], 2, 0
    while missing < 2:
        name = _numbered(call, number)
        missing = 0 if name in known else missing + 1
        found += [] if missing else [name]
        number += 1
    return found


def turn_places(read: MessageFacts, turns: Sequence[str | None]) -> dict[int, int]:
    """The position of the message of each turn; of those that are no longer there, none.

    Args:
        read: the messages.
        turns: the `turns` of the step.
    """
    own = read.one_each(turns)
    return dict(enumerate(own)) if own else _turn_places(read, turns, _starts(read, turns, read.all_places()))


def _starts(read: MessageFacts, turns: Sequence[str | None], where: Mapping[str, Sequence[int]]) -> list[int | None]:
    """Of each turn, where the results end that were known as it began: -1 before all, None where they are gone."""
    starts, shortened = list[int | None](), "" in turns[:1]  # then None says that nobody knows
    for turn, since in enumerate(turns):
        held = where.get(since, ()) if since else ()  # results without an id are not known
        # Of several results with one id, the last one with the words of this turn and of the later ones behind it.
        place = next((at for at in reversed(held) if read.words_behind(at) >= len(turns) - turn), (*held[-1:], None)[0])
        ahead = since == "" or (since is None and not shortened)
        starts.append((-1 if ahead else None) if place is None else read.batch_end(place))
    return starts


def _turn_places(read: MessageFacts, turns: Sequence[str | None], starts: Sequence[int | None]) -> dict[int, int]:
    groups: list[tuple[int, list[int]]] = [(-1, [])]
    for turn, start in enumerate(starts):
        if start is not None and start > groups[-1][0]:
            groups.append((start, []))
        groups[-1][1].append(turn)
    _join_late(read, groups, whole="" not in turns[:1] and read.words_behind(0) == len(turns))
    ends = [*(start for start, _ in groups[1:]), len(read.ids)]
    found: dict[int, int] = {}
    for (start, members), end in zip(groups, ends, strict=True):
        places = _messages(read, start, end, len(members))
        if start < 0 and turns[0] == "":
            places = _first(read, end, len(members)) or places
        whole = read.joins and (start >= 0 or (turns[0] == "" and not any(turns[turn] for turn in members)))
        shared = places if len(places) >= len(members) else _joined(read, places, len(members), whole)
        lost = len(members) - len(shared)
        found.update(dict.fromkeys(members[:lost], start) if start >= 0 else {})
        found.update(zip(members[lost:], shared, strict=True))
    return found


def _join_late(read: MessageFacts, groups: list[tuple[int, list[int]]], *, whole: bool) -> None:
    """Join turns that lack a message with those behind the next result, where there is one for each: it was told late.

    In front of all results, messages are also missing where a host has dropped the oldest: unless the history is
    `whole`.
    """
    end = len(read.ids)
    for at in range(len(groups) - 1, 0, -1):
        (before, turns), (start, members) = groups[at - 1 : at + 1]
        lacking = len(turns) - read.words_between(before, start)
        late = lacking > 0 and (whole or before >= 0)
        if late and read.words_between(start, end) >= lacking + len(members):
            groups[at - 1 : at + 1] = [(before, [*turns, *members])]
        else:
            end = start


def _joined(read: MessageFacts, places: list[int], wanted: int, whole: bool) -> list[int]:  # noqa: FBT001 - one of four
    """The message of each turn where there are fewer messages: a host has joined some, or left out the oldest.

    Joined messages whose texts stand apart are known by their number. Elsewhere the newest have been joined, as happens
    when nobody has answered, unless messages in front of them may be gone.
    """
    each, rest = divmod(sum(read.words[place] for place in places), wanted)
    if not rest and all(read.words[place] % each == 0 for place in places):
        return [place for place in places for _ in range(read.words[place] // each)]
    return [*places, *places[-1:] * (wanted - len(places))] if whole else places


def _first(read: MessageFacts, end: int, wanted: int) -> list[int]:
    """So many messages of the user from the first one on, where all are there."""
    alone = read.alone(0, end)
    return alone[:wanted] if len(alone) >= wanted else []


def _messages(read: MessageFacts, start: int, end: int, wanted: int) -> list[int]:
    """At most so many messages of the user between two results, oldest first.

    A message of its own goes before one that holds the results, too, and before one that follows them at once: those
    may be the host's remarks. Where there are more than were wanted, neighbours count as one; then those at the front
    of the conversation are older than its first turn, and elsewhere the later ones are the host's.
    """
    alone = read.alone(start, end)
    if not read.joins:
        return alone[:wanted] if start >= 0 else alone[max(len(alone) - wanted, 0) :]
    results = read.next_results(start + 1, end)
    early = [place for place in alone if place < results]
    together = set(early)
    ends = [place for place in early if place + 1 not in together]
    places = ends if len(ends) >= wanted else early
    beside = start + 1
    while beside in together:
        beside += 1
    apart = [place for place in places if place >= beside]
    places = apart if len(apart) >= wanted else places
    if len(places) < wanted and start >= 0 and read.words[start]:
        places = [start, *places]
    if len(places) < wanted:  # not all results were told to the engine
        everything = [place for place in range(max(start, 0), end) if read.words[place]]
        return everything[-wanted:]
    return places[-wanted:] if start < 0 and wanted else places[:wanted]


@dataclass(frozen=True, slots=True)
class MessageReader:
    """How a provider's messages are read.

    Attributes:
        results: the call ids of the tool results in a message.
        says: how many texts of the user it holds, beside results or alone.
    """

    results: Callable[[Mapping[str, Any]], tuple[str, ...]]
    says: Callable[[Mapping[str, Any]], int]

    def read(self, messages: Iterable[Mapping[str, Any]]) -> MessageFacts:
        """What of each message matters for the place of blocks."""
        known = list(messages)
        return MessageFacts([self.results(message) for message in known], [self.says(message) for message in known])


def homes(
    read: MessageFacts, blocks: Sequence[Appended], turns: Sequence[str | None] = ()
) -> dict[int, list[Appended]]:
    """The position of the message that each block goes with, the blocks in their order.

    A block with `after_call_id` goes with the last result of its batch: results that follow each other. Where a turn
    began without that result, though it stands in front of the turn's words, it was told too late: the block is one of
    that turn, behind all that was sent with it. A block with `turn` goes with that message of the user. What has lost
    its message, because the host has dropped it, goes with the first one: all such blocks stand there, and stay while
    the messages begin so. A block with neither goes with the last message that is not the model's.

    Args:
        read: the conversation, without blocks.
        blocks: what has to be placed.
        turns: the `turns` of the step.

    Raises:
        InputError: when there is no message that a block could go with.
    """
    if not blocks:
        return {}
    ends = read.ends
    if ends is None:
        raise InputError(
            Problem(
                "no-user-message",
                "there is no message for appended text to follow",
                "pass the user's message",
                "messages",
            )
        )
    where, (first, last) = read.all_places(), ends
    own = read.one_each(turns)  # each turn knew the results in front of its words: none was told too late
    starts = [] if own else _starts(read, turns, where)
    places = dict(enumerate(own)) if own else _turn_places(read, turns, starts)
    begun = sorted((start, turn) for turn, start in enumerate(starts) if start is not None)
    found, late = defaultdict[int, list[Appended]](list), defaultdict[int, list[Appended]](list)
    before = 0
    for block in blocks:
        if block.after_call_id is None:
            home = last if block.turn is None or block.turn >= len(turns) else places.get(block.turn, first)
        elif held := where.get(block.after_call_id):
            # Of results with one id, the first that is not in front of the block before.
            place = next((at for at in held if read.batch_end(at) >= before), held[0])
            home = read.batch_end(place)
            known = bisect_left(begun, place, key=itemgetter(0))
            if known and place <= (told := places.get(turn := begun[known - 1][1], -1)):  # sent with this turn's words
                late[told].append(replace(block, after_call_id=None, turn=turn))
                continue
        else:
            home = first
        before = max(before, home)
        found[home].append(block)
    for told, behind in late.items():
        found[told] += behind
    return found


def results_behind(read: MessageFacts, results: Sequence[Sequence[str]], step: Step) -> dict[str, str]:
    """Of each tool that a message of the user has brought, the call id of the first result behind that message.

    Args:
        read: the conversation, without blocks.
        results: of each message, the call ids of the results that count.
        step: the step from `prepare_step`.

    Raises:
        InputError: when there is no message of the user.
    """
    brought = [Appended(None, tool, turn=turn) for tool, turn in step.brought.items()]
    found: dict[str, str] = {}
    for home, blocks in homes(read, brought, step.turns).items():
        call = next((call for held in results[home + 1 :] for call in held), None)
        if call is not None:
            found.update(dict.fromkeys((block.text for block in blocks), call))
    return found
