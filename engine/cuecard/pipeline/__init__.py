"""The pipeline: from what the host knows to what the model sees, one file per stage.

A call (`Engine.prepare_call`): `request` -> `history/` what of the conversation goes in, and whether that `window` has
moved -> `inputs` checked and cleaned -> `delivery` chosen -> `tools` that exist -> `sections` filled, and cut to their
budgets (`limits`), as far as no tool changes them -> `fit`, which decides the tools once, from tokens -> `segments` in
a `layout` whose tokens add up -> `call`, with its `messages` -> `continuation` of the conversation before it: by a
`baseline` where that has to be, else by `news`; what is said of tools without room -> `late_cues` -> what was found
`ahead`.

A step (`Engine.prepare_step`): `origin` asks whether the call is of this agent -> what searches found (`found_names`,
`discovery`, `pending`) -> `request` -> `tools` discovered -> `fit` -> `placement` of those that are active, with the
`cues` that are due -> `step`, and a `manifest` when somebody looks at it. A search asks `fit` too, for the next step.
`fingerprints` are made all along the way, and of what is said mid-conversation, each a `block`; `prompt_split` cuts a
finished prompt where a cache would.
"""
