"""From an address to what a screen is asked: the agent, its state, the conversation and the model that it names."""

from __future__ import annotations

from cuecard.config.model_profile import ModelProfile
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, shortened
from cuecard.files.content import read_models
from cuecard.records import dataclass
from cuecard.studio.address import Address
from cuecard.studio.agents import Agents
from cuecard.studio.home import Home
from cuecard.studio.runs import Run, Runs
from cuecard.studio.screen import MODELS, Asked


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything that addresses name."""

    agents: Agents
    runs: Runs
    home: Home
    editor: str

    def asked(self, address: Address) -> Asked:
        """What a screen is asked.

        Raises:
            InputError: when the address names what is not there.
        """
        state = self.agents.state(address.agent)
        engine, older = state.engine, False
        if address.state and not state.sha256.startswith(address.state):
            kept = self.agents.engine(state.name, address.state)
            engine, older = kept or engine, kept is not None
        model = (engine.models if engine else read_models()).find(address.model or MODELS[0])
        run = self._run(address, engine, model) if engine else None
        step = run.place_of(address.step) if run else 0
        if run and step < 0:
            hint = f"it has {len(run.steps)} steps, the last one is {run.steps[-1].place}"
            raise InputError(
                Problem("wrong-argument", f"`{run.name}` has no step {address.step}", hint, "address.step")
            )
        return Asked(address, self.agents, state, engine, older, model, self.runs, run, step, self.home, self.editor)

    def _run(self, address: Address, engine: Engine, model: ModelProfile) -> Run | None:
        if not address.run:
            return None
        run = self.runs.run(address.run, engine, model)
        if run is None:
            told = f"there is no conversation `{shortened(address.run)}`, or `{engine.name}` cannot play it any more"
            hint = "open the timeline to see which there are"
            raise InputError(Problem("wrong-argument", told, hint, "address.run"))
        return run
