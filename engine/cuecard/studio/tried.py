"""The request that a screen shows: as it was sent or, with tools switched or budgets tried, as it would be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cuecard.config.turn_file import SearchEntry, TurnFile
from cuecard.engine import Engine
from cuecard.model import Manifest, Step
from cuecard.studio.address import Address
from cuecard.studio.fill import turn_of
from cuecard.studio.screen import Question
from cuecard.studio.steps import StudioRequest
from cuecard.studio.turns import step_of_turn

_NOT_ACTIVE = "not active: "


def is_tried(address: Address) -> bool:
    """Whether tools are switched, or budgets are tried, so that a step of a conversation is made anew."""
    return bool(address.by or address.protocols or address.total)


def sent_of(asked: Question) -> StudioRequest:
    """The request that is shown.

    Raises:
        CuecardError: when it cannot be made, such as of a turn without a value that the agent needs.
    """
    if asked.run and not is_tried(asked.address):
        return asked.run.steps[asked.step]
    return StudioRequest.of_step(step_of(asked))


def step_of(asked: Question) -> Step:
    """The request of a turn, or of a step of a conversation, with the tools and budgets of the address.

    Raises:
        CuecardError: likewise.
    """
    file, engine = turn_of(asked)[0].read(), tried_engine(asked)
    if asked.run or asked.address.by:
        file = bare_turn(file, engine.search_tool)
    return step_of_turn(engine, file, found_of(asked))


def found_of(asked: Question) -> tuple[str, ...]:
    """The tools that count as found, in order; those of a step are the ones it has, and those without room.

    Raises:
        CuecardError: when the turn of the address cannot be read.
    """
    address = asked.address
    if address.by:
        return address.found
    if asked.run:
        manifest = asked.run.steps[asked.step].manifest
        return tuple(dict.fromkeys((*(each.tool for each in manifest.discovered), *without_room(manifest))))
    return tuple(dict.fromkeys((*turn_of(asked)[0].read().discovered, *address.found)))


def without_room(manifest: Manifest) -> Mapping[str, str]:
    """The tools that were found and are not active, each with the reason."""
    cuts = (cut for cut in manifest.cuts if cut.reason.startswith(_NOT_ACTIVE))
    return {cut.what: cut.reason.removeprefix(_NOT_ACTIVE) for cut in cuts}


def not_there(manifest: Manifest, tools: Iterable[str]) -> Mapping[str, str]:
    """Which of these tools do not exist for the request, such as behind a closed gate, each with the reason."""
    reasons = {cut.what: cut.reason for cut in manifest.cuts if not cut.reason.startswith(_NOT_ACTIVE)}
    named = ((name, reasons.get(f"tool {name}") or reasons.get(name, "")) for name in tools)
    return {name: why for name, why in named if why and name not in manifest.active_tools}


def tried_engine(asked: Question) -> Engine:
    """The engine with the delivery of the conversation that is shown, and the budgets of the address."""
    assert asked.engine is not None  # noqa: S101 - without a good state, a screen shows the problems instead
    engine, address, run = asked.engine, asked.address, asked.run
    if run and run.delivery in {"append", "rewrite", "frozen"}:
        engine = replace(engine, delivery=run.delivery)  # type: ignore[arg-type]  # a literal by the line above
    told = {"protocols": address.protocols, "total": address.total}
    values = {name: max(1, int(value)) for name, value in told.items() if value}
    if not values:
        return engine
    spec = engine.agent.spec
    budget = spec.budget.model_copy(update=values)
    return replace(engine, agent=replace(engine.agent, spec=spec.model_copy(update={"budget": budget})))


def bare_turn(file: TurnFile, search: str) -> TurnFile:
    """The turn without what its searches have found: which tools are found is said elsewhere."""
    kept = [each for each in file.history if not isinstance(each, SearchEntry) and each.tool != search]
    return file.model_copy(update={"history": kept, "discovered": ()})
