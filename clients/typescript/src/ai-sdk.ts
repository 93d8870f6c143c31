import type { Cuecard, Inputs, Step, Turn } from "./client.js";
import type { Conversation } from "./conversation.js";
import { CuecardError } from "./errors.js";
import { placed, type Message, type Role } from "./placing.js";
import { toldApart, withTexts } from "./results.js";

type Tools = readonly string[] | undefined;

/** `Options` are those of a call of the agent, as the callbacks name their type. */
export interface AiSdkOptions<Options = any, Search extends string = string> {
  /** The agent's name; may be left out where the service has only one. */
  agent?: string | undefined;
  /** The name of the agent's search tool; `tool_search` unless told. */
  search?: Search | undefined;
  /** What the host knows of a message: the same for all, or made of the call's `options`. */
  turn?: Turn | ((options: Options) => Turn) | undefined;
  /** Inputs that have changed since the last request, asked before each but the first: those of that one are in `turn`. */
  inputs?: ((options: Options, request: any) => Inputs | undefined | Promise<Inputs | undefined>) | undefined;
  /** The tools that a run may use from now on, asked before each request but the first: for that one the agent's own `activeTools` count. */
  activeTools?: ((options: Options, request: any) => Tools | Promise<Tools>) | undefined;
  /** The conversation of a call; each call is one of its own unless told. */
  conversation?: ((options: Options) => Conversation | undefined) | undefined;
  /** Whether the messages were shortened since the last call; or how many of the user are left before the new one. */
  compacted?: ((options: Options, messages: Message[]) => number | boolean | undefined) | undefined;
  /** Ends the requests to the service, as the signal that the run has. */
  signal?: ((options: Options) => AbortSignal | undefined) | undefined;
  /** In which role new instructions are sent; `system` only where the model heeds it mid-conversation. */
  role?: Role | undefined;
  /** Told of each step before the model is asked. */
  onStep?: ((conversation: Conversation) => void) | undefined;
}

/**
 * `prepareCall`, `prepareStep` and `onFinish` for a `ToolLoopAgent` of the AI SDK, versions 6 and 7.
 *
 * The SDK's own types differ between versions, and depend on the host's tools.
 */
export declare abstract class AiSdkSettings<Search extends string = string> {
  readonly prepareCall: (options: any) => Promise<any>;
  readonly prepareStep: (request: any) => Promise<any>;
  /** Ends the turn in the conversation; a host with an `onEnd` or `onFinish` of its own in the settings calls it there. */
  readonly onFinish: (event: any) => Promise<void>;
  /**
   * `tools`: the search tool, for the agent's own `tools`, with which the SDK reads stored messages.
   *
   * It is not spread with the others, so that it replaces no tools. Were it a property by name, TypeScript would warn of that.
   */
  readonly [tools: `tools${string}`]: { [Name in Search]: any };
  /** What `streamText` and `generateText` take, made of what they would take; `options` are those of the callbacks. */
  call(options: any): Promise<any>;
}

/** Names the type of a call's `options` to the SDK, where callbacks name it. */
type Typed<Options> = 0 extends 1 & Options ? unknown : { callOptionsSchema?: OptionsSchema<Options> };

interface OptionsSchema<Options> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: Options } | Promise<{ value: Options }>;
    readonly types?: { readonly input: unknown; readonly output: Options };
    readonly jsonSchema: { readonly input: () => Record<string, unknown>; readonly output: () => Record<string, unknown> };
  };
}

const KEY = "cuecard";

/** The runs by what the SDK hands on: the list of their steps, and a mark in the host's context. */
const runs = new WeakMap<object, Run>();

export function aiSdk<Options = any, const Search extends string = "tool_search">(
  client: Cuecard,
  options: AiSdkOptions<Options, Search> = {},
): AiSdkSettings<Search> & Typed<Options> {
  const { role = "user", search = "tool_search" } = options;

  async function prepareCall({ options: asked, ...rest }: any): Promise<any> {
    const chat = options.conversation?.(asked) ?? client.conversation({ agent: options.agent });
    const given: Message[] = rest.messages ?? [rest.prompt ?? []].flat().map((each) => (each.role ? each : { role: "user", content: each }));
    const own: Record<string, any> = rest.tools ?? {};
    const told = typeof options.turn === "function" ? options.turn(asked) : options.turn;
    const turn: Turn = { model: modelName(rest.model), ...(role === "user" && { authority: "user" }), ...told };
    const { messages, results } = toldApart(given);
    const step = await chat.user(turn, results, compaction(options.compacted?.(asked, given), given), {
      ...toolsOf(own, rest.activeTools),
      messages,
      signal: options.signal?.(asked) ?? rest.abortSignal,
    });
    const { name } = chat.call!.search_tool;
    if (name !== search && own[search]?.execute === none) throw wrongSearch(name);
    const alone = turn.host === "system-only" || chat.call!.delivery.name === "rewrite";
    if (!alone) refuseKeptHistory(chat, rest.providerOptions);
    const tools = boundTools(own, chat);
    const mark = { id: crypto.randomUUID() };
    const run: Run = { chat, begun: chat.begun, tools: own, active: rest.activeTools, options: asked, own: rest.instructions ?? rest.system, alone };
    runs.set(mark, run);
    const marked = (context: any) => (isPlain(context) ? { ...context, [KEY]: mark } : context);
    const theirs = rest.prepareStep ?? prepareStep;
    const system = withOwn(step, run);
    return {
      ...rest,
      prepareStep: (request: any) => (runs.set(request.steps, run), theirs(request)),
      onFinish: rest.onFinish === onFinish ? onFinish : endedThen(rest.onFinish), // version 6; version 7 has it from the settings
      ...(rest.toolApproval && { toolApproval: approvals(rest.toolApproval, chat) }),
      tools,
      instructions: system,
      ...(role === "system" && { allowSystemInMessages: true }),
      runtimeContext: marked(rest.runtimeContext),
      experimental_context: marked(rest.experimental_context),
    };
  }

  async function prepareStep(request: any): Promise<any> {
    const { steps, stepNumber } = request;
    const run = runOf(request);
    if (!run) {
      throw new CuecardError("give the agent `prepareCall`, or use `settings.call()`", 0, "no-call");
    }
    runs.set(steps, run);
    const { chat } = run;
    const { messages, results } = toldApart(request.messages, steps);
    let inputs: Inputs | undefined;
    if (stepNumber > 0) {
      run.active = (await options.activeTools?.(run.options as Options, request)) ?? run.active;
      inputs = await options.inputs?.(run.options as Options, request);
    }
    const isReady = !chat.misses(results, run.begun, messages) && stepNumber === 0 && chat.step!.front;
    const step = isReady
      ? chat.step!
      : await chat.next(results, inputs, { ...toolsOf(run.tools, run.active), messages, signal: options.signal?.(run.options as Options) });
    if (step.stopped) {
      throw new CuecardError(`the run is at its limit (${step.stopped}): end the turn and tell the user`, 0, "run-limit");
    }
    options.onStep?.(chat);
    const { front = [] } = step;
    const system = withOwn(step, run);
    return {
      system, // version 6
      instructions: system, // version 7, where it carries forward: so it is always the whole text
      messages: withTexts(placed(messages, step, chat.placed!, role), (call) => chat.resultText(call)),
      activeTools: front,
      ...(front.includes(step.forced_tool!) && { toolChoice: { type: "tool", toolName: step.forced_tool } }),
    };
  }

  async function call(asked: any): Promise<any> {
    const { onFinish: theirs, onEnd = theirs, ...rest } = asked;
    const { instructions: system, ...made } = await prepareCall({ ...rest, onFinish: onEnd });
    return { ...made, system, instructions: system };
  }

  const tools = { [search]: { description: "Search for tools.", inputSchema: searchSchema(), execute: none } };
  const settings = { prepareCall, prepareStep, onFinish };
  return Object.defineProperties(settings, { tools: { value: tools }, call: { value: call } }) as any;
}

/** What the search tool does outside a run: it is there so that stored messages can be read. */
async function none(): Promise<never> {
  throw new Error("not in a run");
}

/** The run has its answer: what belonged to its turn alone leaves the conversation, unless the turn waits for an approval. */
async function onFinish(event: any): Promise<void> {
  const chat = runOf(event)?.chat;
  const parts: any[] = event.steps?.at(-1)?.content ?? [];
  const answered = (id: string) => parts.some((part) => part.type === "tool-approval-response" && part.approvalId === id);
  if (parts.some((part) => part.type === "tool-approval-request" && !answered(part.approvalId))) return;
  if (chat?.call?.one_turn) await chat.end();
}

function endedThen(theirs?: (event: any) => unknown): (event: any) => Promise<void> {
  return async (event) => {
    try {
      await onFinish(event);
    } finally {
      await theirs?.(event);
    }
  };
}

function runOf(told: any): Run | undefined {
  const mark = told.runtimeContext?.[KEY] ?? told.experimental_context?.[KEY];
  return runs.get(told.steps) ?? runs.get(mark);
}

function isPlain(context: any): boolean {
  return context === undefined || Object.getPrototypeOf(Object(context)) === Object.prototype;
}

/** The prompt, with what is for this turn alone where nothing else can change; and behind it what the host has the agent told by itself. */
function withOwn({ messages, system: front }: Step, { own, alone }: Run): any {
  const passing = messages.filter(({ role, persist }, at) => alone && at && role === "system" && !persist);
  const system = [front, ...passing.map(({ content }) => content)].join("\n\n");
  if (!own) return system;
  return typeof own === "string" ? `${system}\n\n${own}` : [{ role: "system", content: system }, ...[own].flat()];
}

function compaction(told: number | boolean | undefined, messages: readonly Message[]): number | null {
  if (typeof told === "number") return told;
  return told ? Math.max(0, messages.filter(({ role }) => role === "user").length - 1) : null;
}

function wrongSearch(name: string): CuecardError {
  return new CuecardError(`write \`search: "${name}"\`: that is the agent's search tool`, 0, "wrong-search-tool");
}

/** A provider that keeps the history takes nothing back, so that texts of one turn would stay in it. */
function refuseKeptHistory({ call }: Conversation, providers: any): void {
  const kept = [providers?.openai, providers?.azure].some((told) => told?.previousResponseId ?? told?.conversation);
  if (!kept || !call?.one_turn) return;
  const wayOut = 'pass `turn: { host: "system-only" }`, or send the messages yourself';
  throw new CuecardError(`the provider's history would keep texts of one turn: ${wayOut}`, 0, "kept-history");
}

interface Run {
  chat: Conversation;
  begun: number;
  tools: Record<string, unknown>;
  active: Tools;
  options: unknown;
  own: any;
  alone: boolean;
}

/** The tools that the host allows, and the definitions that it has. */
function toolsOf(own: Record<string, unknown>, active: Tools) {
  const definitions = Object.keys(own);
  return { tools: active ? definitions.filter((name) => active.includes(name)) : definitions, definitions };
}

/** The host's tools, each of which answers what to do while it is not active; and the search tool, where there is something to find. */
function boundTools(own: Record<string, any>, chat: Conversation): Record<string, any> {
  const { name } = chat.call!.search_tool;
  const bound = Object.entries({ [name]: { execute: none }, ...own })
    .filter(([each]) => each !== name || chat.step!.offers_search)
    .map(([each, tool]) => [each, guarded(each, tool.execute === none ? { ...tool, ...searchTool(chat) } : tool, chat)]);
  return Object.fromEntries(bound);
}

function guarded(name: string, tool: any, chat: Conversation): any {
  if (!tool.execute) return tool;
  return {
    ...tool,
    ...(tool.needsApproval !== undefined && { needsApproval: asked(name, tool.needsApproval, chat, false) }),
    execute(...given: unknown[]) {
      const refusal = chat.refusal(name);
      if (refusal !== undefined) throw new Error(refusal);
      return tool.execute(...given);
    },
  };
}

/** Nobody is asked to approve a call that is refused. */
function asked(name: string, theirs: any, chat: Conversation, refused: unknown): (...given: unknown[]) => unknown {
  return (...given) => (chat.refusal(name) !== undefined ? refused : typeof theirs === "function" ? theirs(...given) : theirs);
}

/** `toolApproval` of version 7, in both of its forms. */
function approvals(theirs: any, chat: Conversation): any {
  const none = "not-applicable";
  if (typeof theirs === "function") return (told: any) => asked(told.toolCall.toolName, theirs, chat, none)(told);
  return Object.fromEntries(Object.entries(theirs).map(([name, each]) => [name, each === undefined ? each : asked(name, each, chat, none)]));
}

function searchTool(chat: Conversation): any {
  const { description, query, limit } = chat.call!.search_tool;
  return {
    description,
    inputSchema: searchSchema(query, limit),
    async execute(told: { query: string; limit?: number }, { abortSignal: signal }: { abortSignal?: AbortSignal } = {}) {
      const found = await chat.search(told.query.slice(0, 10_000), told.limit, { signal }).catch((cause) => {
        signal?.throwIfAborted();
        throw new Error("The search has failed. Search once more; if that fails, tell the user.", { cause });
      });
      const { tools, withheld, categories, message } = found;
      const more = Object.entries({ withheld, categories }).filter(([, told]) => Object.keys(told ?? {}).length);
      return { tools, ...Object.fromEntries(more), message };
    },
  };
}

/** The schema of a search in the form that no library owns (Standard Schema and Standard JSON Schema). */
function searchSchema(query = "", limit = ""): object {
  const told = () => ({
    type: "object",
    properties: { query: { type: "string", description: query }, limit: { type: "integer", minimum: 1, description: limit } },
    required: ["query"],
    additionalProperties: false,
  });
  const validate = (value: any) =>
    typeof value?.query === "string" ? { value } : { issues: [{ message: "`query` should be a text", path: ["query"] }] };
  return { "~standard": { version: 1, vendor: KEY, validate, jsonSchema: { input: told, output: told } } };
}

function modelName(model: unknown): string {
  return typeof model === "string" ? model : ((model as { modelId?: string } | undefined)?.modelId ?? "");
}
