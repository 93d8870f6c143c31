"""Is the prompt of `1_prompt` the text of the f-strings, for every kind of customer?"""

from __future__ import annotations

import runpy
from dataclasses import asdict
from itertools import product
from pathlib import Path

from cuecard import Engine, Turn
from customer import Customer

HERE = Path(__file__).parent

before = runpy.run_path(str(HERE / "before" / "host.py"))["prompt"]
engine = Engine.open(HERE / "1_prompt")
customers = [Customer(vip=vip, language=language) for vip, language in product([False, True], ["English", "German"])]
for customer in customers:
    step = engine.prepare_step(engine.prepare_call(Turn(asdict(customer))))
    if step.system.strip() != before(customer).strip():
        raise SystemExit(f"{customer} reads another prompt:\n{step.system}")
print(f"the same for {len(customers)} customers")
