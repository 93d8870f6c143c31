"""Every problem code and its meaning; docs/checks.md shows an example of each."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # files
    "wrong-file": "A file of the wrong kind, such as a turn file given as the agent file.",
    "missing-file": "A named file or folder does not exist, or is not a regular file.",
    "no-match": "A file pattern, or a path with inputs, that no file can match.",
    "empty-folder": "A named folder contains no file of the expected kind.",
    "changed-meanwhile": "A file that somebody saved while a command was writing it; the newer text stays.",
    "unreadable-file": "The operating system refuses to read the file.",
    "large-file": "A file larger than 1 MiB.",
    "encoding": "A file that is not encoded in UTF-8.",
    "invisible-character": "A character that is invisible to people but that models read.",
    # YAML
    "yaml-syntax": "The text is not valid YAML.",
    "yaml-empty": "The file contains no YAML.",
    "yaml-root": "The file contains a list or a string where a mapping is expected.",
    "yaml-refused": (
        "A YAML feature that is not allowed: anchors, aliases, tags, directives, several documents, deep nesting."
    ),
    "yaml-key": "A key that is not a string; usually an unquoted `{{ }}`.",
    "yaml-value": "A value that YAML takes for a number but cannot read.",
    "yaml-comment": "Text after ` #` is a comment, so it is dropped.",
    "yaml-too-large": "More than 256 Ki characters of YAML.",
    "duplicate-key": "A key that appears twice in one mapping.",
    "not-formatted": "A file that `cuecard fmt` leaves unchanged, because formatting it would change its meaning.",
    # keys and values
    "unknown-key": "A key that this kind of file does not have.",
    "missing-key": "A required key is missing.",
    "wrong-value": "A value of the wrong type or out of range.",
    "removed-setting": "Something that an earlier version had; the hint says what to write instead.",
    "newer-version": "An agent file in a newer format than this version of cuecard reads.",
    # tools and their instructions
    "unknown-tool": "A name that no tool has: in `core` an error, everywhere else a warning.",
    "unfinished-tool": "A tool with a text that still begins with `TODO`, the placeholder of `cuecard tools add`.",
    "no-instructions": "An entry under `tools:` without `before`, `after`, `next` and `gotcha`.",
    "duplicate-tool": "A tool with instructions in two places.",
    "nothing-to-find": "A search tool, or a setting of it, where every tool is active from the start.",
    "never-sent": "A text that names the search tool of an agent which never has one.",
    "never-active": "A tool for whose instructions a budget has no room, even where nothing else was found.",
    "unknown-ranker": "A ranker that is neither a known name nor a function in a package.",
    "tool-order": "File names in mixed case: another system may read them, and list their tools, in another order.",
    "no-protocols": "A template without a place for tool instructions.",
    # skills
    "no-skills": "A skills folder named in `roots` that contains no usable skill.",
    "front-matter": "A SKILL.md whose front matter is missing, not closed, or (as a warning) not valid YAML.",
    "long-text": "A name or description of a skill that is longer than the Agent Skills specification allows.",
    "skill-name": (
        "A folder whose name cannot be a skill's name, or (as a warning) breaks the specification's naming rules."
    ),
    "duplicate-skill": "Two skills in one root whose folders have the same name.",
    "unknown-skill": "A skill that is requested, allowed, blocked or made eager but does not exist.",
    "link-outside": "A symbolic link among an agent's files that leads out of its roots.",
    "large-folder": "A folder that is nested too deeply, or contains too many folders or files.",
    # inputs
    "undeclared-input": "The template reads what the agent file does not declare.",
    "unused-input": "An input that no template reads.",
    "wrong-condition": "A condition that can never hold: a value that its input cannot have, or a path into a text.",
    "reserved-input": "An input with the name of a value that the engine fills.",
    "wrong-default": "A default that does not have the declared type of its input.",
    "unsorted-mapping": (
        "`{{#each}}` over a mapping: the host decides the order of its keys, and a new order changes the prompt."
    ),
    "escaped-text": "`{{x}}` prints data outside of an attribute: O'Neil becomes `O&#x27;Neil`.",
    # Handlebars
    "foreign-tag": "A tag or placeholder of another language, which is printed verbatim; not in code of Markdown.",
    "unclosed-tag": "`{{` without a closing `}}`.",
    "xml-place": "A placeholder in a comment, CDATA section or processing instruction.",
    "unclosed-text": "An unclosed string or bracket in a tag.",
    "unclosed-comment": "`{{!` without a closing `}}`.",
    "unclosed-block": "`{{#x}}` without `{{/x}}`.",
    "unopened-block": "`{{/x}}` without `{{#x}}`.",
    "mismatched-block": "`{{/y}}` where `{{/x}}` is expected.",
    "stray-else": "`{{else}}` outside of a block, or in a block that already has one.",
    "unexpected-character": "A character that is not allowed in a tag.",
    "unexpected-token": "An unexpected token in a tag.",
    "unexpected-value": "A positional value after `name=value`.",
    "invalid-path": "`..`, `.` or `this` in the middle of a path.",
    "wrong-arguments": "A helper, block or partial with too many or too few arguments.",
    "not-a-block": "`if`, `unless`, `each` or `with` used as a value.",
    "decorator": "A decorator other than `{{#*inline}}`.",
    "unknown-helper": "A helper that does not exist.",
    "unknown-partial": "A partial that does not exist.",
    "too-deep": "Blocks, parentheses or partials that are nested too deeply.",
    "template-too-large": "A template of more than a million characters.",
    # partials
    "unused-partial": "A partial that no template calls.",
    "duplicate-partial": "Two partial files with the same name.",
    "partial-cycle": "A partial that calls itself on every path, so that it never ends.",
    # XML
    "xml": "The template is not well-formed XML, whichever branches of its blocks are taken.",
    "xml-branch": "An element that is opened inside a branch and closed outside of it.",
    "xml-doctype": "A DOCTYPE, which could define entities.",
    "xml-schema": (
        "The template does not match `schemas/core-template.rng`: one root element that contains the sections, and no "
        "namespaces."
    ),
    "tag-placeholder": "A placeholder in a tag outside of an attribute's value: a value would become markup.",
    "attribute-quotes": "A placeholder in a single-quoted attribute: an apostrophe in a value would end it.",
    "attribute-placeholder": "An unescaped placeholder in an attribute.",
    # sections
    "duplicate-section": "Two sections with the same name.",
    "section-order": (
        "A changing section comes before static ones, so these are no longer cached. The message says how many tokens "
        "are affected."
    ),
    "conditional-section": (
        "A conditional section comes before static ones, so these are no longer cached while it is there."
    ),
    "unknown-section": "A profile, a variant, the boundary or an overlay names a section that does not exist.",
    "two-assemblies": "A complete list of sections beside a template: a prompt is assembled from one or the other.",
    "no-effect": (
        "A key without effect: it belongs to another kind of agent, or names a source that the section's text does "
        "not show."
    ),
    "unknown-group": "A section names a group that the layout does not have.",
    "wrong-tier": "A section that claims to change less often than the values it reads.",
    "wrong-lifetime": "A text of one turn in a part that stays: static, before the boundary, or with instructions.",
    "one-turn-input": "A section that stays reads an input of one turn, whose text is then still there in later turns.",
    "changes-every-turn": (
        "A text that changes with every turn, such as the time of day, in a part that stays: what it said before stays."
    ),
    "not-printed": "A template for one file that never prints a value that the list of files supplies.",
    "layout-mark": "A separator, heading or marker that values cannot be kept from imitating.",
    "extends-cycle": "An agent file that extends itself, or a chain of `extends` that is too long.",
    "volatile-text": "A time, date, UUID, counter, home folder or email address in a static section.",
    "over-budget": "Text that exceeds a budget whatever a call supplies.",
    "ignored-budget": "A `protocols` budget under `frozen`, which always shows all instructions.",
    "idle-cues": "Cues that wait for a result, under a delivery that prints all cues at once.",
    # values at run time
    "missing-input": "A required input without a value.",
    "unknown-input": "A value for an input that is not declared.",
    "wrong-input": "A value of the wrong type for an input.",
    "not-a-step-input": "An input that came with a request, and is not declared with `tier: step`.",
    "missing-call-id": "An input that came with a request whose last result has no call id to place its text after.",
    "turn-ended": "A step of a conversation that was stored after its turn had ended (`dump(ended=True)`).",
    "checked-thinking": (
        "A section that moves with each request (`lifetime: step`), for a model that checks what stands before its "
        "thinking."
    ),
    "kept-history": "A text of one turn where the provider keeps the history, and takes nothing back.",
    "control-character": "A text of the turn contains NUL, another control character, or a lone surrogate.",
    "unknown-selection": "A profile or a variant that the agent file does not have.",
    "unknown-zone": "A time zone that does not exist.",
    "unknown-locale": "A locale that does not exist.",
    "wrong-pattern": "A date pattern without a field, or with an unknown field.",
    "no-locales": (
        "A locale other than English, or a time with the name of its zone, requires Babel, which is not installed."
    ),
    "bad-message": "A value that is not a valid conversation message.",
    "missing-value": "A path in the template that has no value.",
    "wrong-argument": (
        "An argument of a public function, or a field of one, that has the wrong type or is out of range."
    ),
    "unknown-word": "A value outside of a fixed set, such as an unknown delivery.",
    "naive-time": "A time without a time zone.",
    "not-json": "A value that JSON cannot represent.",
    "object-printed": "An object, or a list that contains one, printed as text.",
    "not-data": "A function or object where plain data is expected.",
    "value-too-deep": "A value that is nested too deeply.",
    "value-too-large": "A value that holds too many values, counting each as often as it occurs.",
    "helper-failed": "A helper supplied by the host raised an error.",
    "too-much-output": "A template that prints more than the output limit allows.",
    "too-much-work": "A template with too many partial calls or loop iterations.",
    "search-limit": "A search limit below one tool or above fifty.",
    "missing-ranker": "A ranker whose package, model or function is not available on this machine, or is not callable.",
    "code-not-allowed": "A ranker or helpers that are code, while the host does not allow files to name code.",
    "missing-helpers": "Helpers named by the agent file that cannot be imported or called.",
    "wrong-ranker": "A ranker supplied by the host that is not callable.",
    "bad-call": "A call that `Call.to_json` did not write.",
    "foreign-call": "A call that belongs to another agent.",
    "stale-call": "A step for a call that was prepared from other files or with other tools.",
    "edited-call": "A call whose texts do not match their fingerprints.",
    "no-call": "A step in a conversation that has no user message yet.",
    "unknown-call": "A result without a tool name, for a tool call that the conversation does not know.",
    "bad-conversation": "A conversation that neither `Engine.dump` nor `to_json` wrote.",
    "bad-signature": "A stored conversation that was modified, signed with another key, or not signed.",
    "weak-key": "A signing key shorter than 16 characters.",
    "unknown-encoding": "A token table that is not bundled with cuecard.",
    "damaged-table": "A bundled token table that is damaged.",
    "no-user-message": "Instructions to append, but no user message for them to follow.",
    "text-beside-results": "Instructions to append after tool results, for a Bedrock model that rejects text there.",
    "unknown-provider": "A model profile whose provider no file describes.",
    "backend-missing": "The backend pybars3 is not installed.",
    "backend-unsupported": "A template feature that pybars3 cannot render correctly.",
    "backend-failed": "pybars3 failed on a template that was expected to work.",
    "reload-failed": "A reload failed for a reason other than the files; the last good state is still served.",
    "damaged-state": "The files have errors, and the last good state cannot be used because its own file is damaged.",
    # recorded conversations, and prompts compared
    "json-syntax": "A file, or the body of a request, that is not JSON.",
    "no-conversation": "A file that contains no conversation in a known format.",
    "no-schemas": "A conversation with tools whose schemas are unknown, so that their tokens are undercounted.",
    "left-out": "Parts of a log that are not replayed: other conversations, system prompts, thinking.",
    "model-ends": "A model that its provider is going to retire.",
    "unknown-model": "A model without a profile in any file.",
    "no-agent": "A turn file to compare, without the agent that it belongs to.",
    "bad-json": "A prompt to compare that is not JSON.",
    "bad-step": "JSON of a step that `Step.to_json` did not write.",
    "newer-format": "JSON of a call, step or manifest written by a newer version of cuecard.",
    "bad-manifest": "A manifest that neither `cuecard render --json` nor `Manifest.to_json` wrote.",
    "other-salt": "Two manifests whose fingerprints were made with different salts.",
    "no-git": "A revision is named, but git cannot be started.",
    "no-repository": "A revision is named outside of a git repository.",
    "unknown-revision": "A revision that the repository does not have.",
    # prompts as tests
    "no-turns": "The agent under test has no turn files.",
    "expect-contains": "The prompt lacks an expected text.",
    "expect-absent": "The prompt contains a text that it should not contain.",
    "expect-active": "A tool is not active, but should be.",
    "expect-inactive": "A tool is active, but should not be.",
    "expect-sections": "An expected section is missing or out of order.",
    "expect-without": "A section is there, but should not be.",
    "expect-max-tokens": "The prompt has more tokens than allowed.",
    "expect-results": "A result of a tool lacks an expected text, or is not there.",
    "expect-shares-cache": "The prompt should begin with the previous turn's prompt but does not, or the reverse.",
    "snapshot-missing": "The prompt has no snapshot yet.",
    "snapshot-differs": "The prompt differs from its snapshot.",
    "snapshot-unused": "A snapshot that no turn uses.",
    "bad-snapshot": "A file that is not a snapshot, or a snapshot of another version.",
    "file-exists": "A file with that name already exists, and `init` overwrites nothing.",
    "no-records": "The input of a report contains no readable request record.",
    "bad-record": "A line or file that is not a request record; it is skipped.",
    "records-lost": "A recorder cannot write or make a record; prompts go out, and what was lost is counted.",
    "sink-failed": "The sink of a recorder fails, does not return or is late; the records wait in the file.",
    # the HTTP service
    "no-token": "A request without the token that the service requires, or with a wrong one.",
    "foreign-site": "A request of a web page, or to a name that is not this machine's; the service has no token.",
    "open-to-all": "A service without a token that would listen beyond this machine.",
    "unknown-agent": "A request names an agent that is not served, or names none while several are served.",
    "unknown-path": "A request for a path that the service does not have.",
    "wrong-method": "A request with an HTTP method that the path does not support.",
    "wrong-media-type": "A request whose `Content-Type` is not JSON.",
    "bad-http": "The client did not send valid HTTP: too many headers, small pieces of a body, or a length and chunks.",
    "large-body": "A request body larger than the service accepts.",
    "slow-body": "A request that did not arrive in time.",
    "too-busy": "The service is already handling its maximum number of requests.",
    "too-slow": "An answer that took too long.",
    "old-conversation": "A conversation that has been idle for longer than the service allows.",
    "duplicate-agent": "Two agents to serve have the same name.",
    "renamed-agent": "The agent's name changed while the agent was being served.",
    "cannot-listen": "The address or port is not available.",
    # the command line, assistants and scenarios
    "unknown-code": "`--select`, `--ignore` or `accept` names no check.",
    "unused-acceptance": "The agent file accepts a warning that no longer occurs.",
    "wrong-usage": "An invalid command line.",
    "wrong-option": "An invalid value for an option.",
    "wrong-setting": "An invalid value for a `CUECARD_*` variable.",
    "wrong-model": "A model that cannot be used.",
    "no-model": "A chat without a model.",
    "no-key": "A model whose key or address is not set in the environment.",
    "wrong-module": "A Python module that does not exist, or cannot be imported.",
    "no-tools": "A Python module without public functions.",
    "wrong-tool": "A function that cannot be a tool because JSON cannot represent its parameters.",
    "unserved-tool": "A core tool that no tool server or module of the chat provides.",
    "not-installed": "A command requires a package that is not installed.",
    "used-data": "The data folder of a scenario already exists.",
    "no-scenario": "There is no scenario to play.",
    "unknown-scenario": "A scenario that does not exist.",
    "unknown-placeholder": "An unknown placeholder `{name}` in an assistant file.",
    "unsaved-name": "`${name}` in a scenario that no earlier step saves.",
    "unresolved-value": "`${name.key}` in a scenario that does not exist in the tool's answer.",
    "hidden-tool": "A scenario calls a tool that the model cannot see in that step.",
    "other-outcome": "A call in a scenario did not end as the scenario expects.",
    "other-end": "The content at the end of a scenario differs from what the scenario expects.",
    "turn-stopped": "A turn of a scenario did not finish.",
    "snapshot": "The command that prints the server's content failed.",
    "not-imported": (
        "Something `cuecard import` does not carry over: a setting, or a piece of text that it leaves unchanged."
    ),
    "jinja-syntax": "A template that Jinja itself cannot read.",
    "wrong-openapi": (
        "A file that is not an OpenAPI description, or that contains an operation or reference that cannot be used."
    ),
    "server-start": "The tool server cannot be started.",
    "server-died": "The tool server exited while it was still needed.",
    "server-timeout": "The tool server did not respond in time.",
    "server-error": "The tool server refused a request.",
    "server-output": (
        "The tool server's output is not valid MCP, such as bytes that are not text, a malformed list, or an endless "
        "line."
    ),
    "server-tool": "A tool listed by a server is dropped: it is not valid MCP, is listed twice, or is far too large.",
    "server-pages": "The tool server's list of tools has no end.",
}
"""Code to meaning. Codes are stable: new ones may be added, and existing ones keep their meaning."""
