"""An agent with texts that live for one turn and for one request, and inputs that change between requests."""

from __future__ import annotations

AGENT = """\
agent: pilot
inputs:
  name: {type: string, default: Ann}
  screen: {type: string, default: '', tier: step, description: what the user sees}
  note: {type: string, default: '', lifetime: turn}
  clock: {type: string, default: '', tier: step, lifetime: step}
profiles:
  calm: {include: [role, screen, note]}
sections:
  - {id: role, text: 'You help {{name}}.'}
  - {id: screen, when: screen, text: 'The user sees {{screen}}.'}
  - {id: note, when: note, text: 'Note: {{note}}.'}
  - {id: clock, when: clock, text: 'It is {{clock}}.'}
"""
