"""The pipeline: from what the host knows to what the model sees, one file per stage.

A call (`Engine.prepare_call`): `request` -> `history/` what of the conversation goes in, and whether that `window` has
moved -> `inputs` checked and cleaned -> `delivery` chosen -> `tools` planned, as far as there is `room` for their
instructions, by `recency` -> `sections` filled and cut to their budgets (`limits`), as `segments` in a `layout` whose
tokens add up, a `composition` of those tools that fit `whole` -> `call`, with its `messages` -> `continuation` of the
conversation before it: by a `baseline` where that has to be, else by `news` -> `room_later`, which plans again where
that is too long for tools that the message brings -> `withholding`: what is said of tools without room -> `late_cues`
-> what was found `ahead`.

A step (`Engine.prepare_step`): `origin` asks whether the call is of this agent -> what searches found (`found_names`,
`discovery`, `pending`) -> `request` -> `tools` discovered -> `activation` of those that fit, by `placement`, with the
`cues` that are due -> `budget` -> `step`, and a `manifest` when somebody looks at it. A search asks a `preview` of
that. `fingerprints` are made all along the way, and of what is said mid-conversation, each a `block`;
`prompt_split` cuts a finished prompt where a cache would.
"""
