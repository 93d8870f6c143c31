"""The pipeline: from what the host knows to what the model sees, one file a stage.

A call (`Engine.prepare_call`): `request` -> `history/` what of the conversation goes in, and whether that `window` has
moved -> `inputs` checked and cleaned -> `delivery` chosen -> `tools` planned -> `sections` filled and cut to their
budgets (`limits`), as `segments` in a `layout` whose tokens add up -> `call`, with its `messages` -> `continuation` of
the conversation before it: by a `baseline` where that has to be, else by `news`.

A step (`Engine.prepare_step`): `origin` asks whether the call is of this agent -> what searches found (`found_names`,
`discovery`) -> `request` -> `tools` discovered -> `budget` -> `placement` -> `step`, and a `manifest` when somebody
looks at it. `fingerprints` are made all along the way; `prompt_split` cuts a finished prompt where a cache would.
"""
