"""What contradicts a section's lifetime: a text that leaves the conversation cannot stand in a part that stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.selections import Written
from cuecard.agent.sections.tiers import lifetime_of
from cuecard.agent.world import World
from cuecard.errors import Problem

_CODE = "wrong-lifetime"


def lifetime_problems(world: World, written: Written, reads: Collection[str], *, stable: bool) -> Iterator[Problem]:
    """The errors of a section's lifetime.

    Args:
        world: the agent's files.
        written: the section.
        reads: the inputs and built-in values that it reads.
        stable: whether it stands before the boundary of the layout.
    """
    spec, inputs, document = written.spec, world.spec.inputs, world.document
    read = lifetime_of(reads, inputs)
    lives, name = spec.lifetime or read, spec.id
    place = written.place("lifetime") if spec.lifetime else written.at
    passing = sorted(each for each in reads if each in inputs and inputs[each].lives != "conversation")
    stepwise = sorted(each for each in reads if each in inputs and inputs[each].tier == "step")
    why = f"it reads {', '.join(f'`{each}`' for each in passing)}" if passing and not spec.lifetime else "declared here"
    if PROTOCOLS in reads and {lives, read} != {"conversation"}:
        shorter = read if lives == "conversation" else lives
        message = f"section `{name}` holds instructions of tools, which stay: it cannot live for one {shorter} ({why})"
        yield document.problem(place, _CODE, message, "read the input in a section of its own")
    elif spec.lifetime == "conversation" and stepwise:
        message = f"section `{name}` stays, but reads `{stepwise[0]}`, which may change between the requests of a turn"
        yield document.problem(place, _CODE, message, "write `lifetime: turn`, or remove it")
    elif lives != "conversation" and spec.tier == "static":
        message = f"section `{name}` is static, so it cannot live for one {lives} ({why})"
        yield document.problem(place, _CODE, message, "remove `tier: static`, or the lifetime")
    elif lives != "conversation" and stable:
        message = f"section `{name}` stands before the boundary, in the part that stays: it cannot live for one {lives}"
        yield document.problem(place, _CODE, f"{message} ({why})", "move it behind the boundary")
    if stepwise and spec.role != "system":
        message = f"`{stepwise[0]}` may change between requests, which a message of role {spec.role} cannot"
        yield document.problem(written.place("role"), "wrong-value", message, "remove `role`")
