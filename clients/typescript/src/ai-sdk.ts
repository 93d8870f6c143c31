import { Cuecard, CuecardError, type Agent, type Inputs, type Step, type Turn } from "./client.js";
import { Conversation } from "./conversation.js";
import { placed, type Message, type Role } from "./placing.js";
import { resultsIn, withTexts } from "./results.js";

export interface AiSdkOptions {
  /** The agent's name; may be left out where the service has only one. */
  agent?: string;
  /** What the host knows of a message: the same for all, or made of the call's `options`. */
  turn?: Turn | ((options: any) => Turn);
  /** Inputs that have changed since the last request, asked before each but the first: those of that one are in `turn`. */
  inputs?: (options: any, request: any) => Inputs | undefined | Promise<Inputs | undefined>;
  /** The conversation of a call; each call is one of its own unless told. */
  conversation?: (options: any) => Conversation | undefined;
  /** In which role new instructions are sent; `system` only where the model heeds it mid-conversation. */
  role?: Role;
  /** Told of each step before the model is asked. */
  onStep?: (conversation: Conversation) => void;
}

/** `prepareCall`, `prepareStep` and `onFinish` for a `ToolLoopAgent` of the AI SDK, versions 6 and 7. */
export interface AiSdkSettings {
  prepareCall: (options: any) => Promise<any>; // the SDK's own types differ between versions, and depend on the host's tools
  prepareStep: (options: any) => Promise<any>;
  /** Ends the turn in the conversation; a host with an `onEnd` or `onFinish` of its own in the settings calls it there. */
  onFinish: (event: any) => Promise<void>;
}

const KEY = "cuecard";

export function aiSdk(client: Cuecard, options: AiSdkOptions = {}): AiSdkSettings {
  const role = options.role ?? "user";
  let known: Promise<Agent> | undefined;
  const agent = () => (known ??= agentOf(client, options.agent).catch((error) => ((known = undefined), Promise.reject(error))));

  return {
    async prepareCall({ options: asked, ...rest }) {
      const served = await agent();
      const chat = options.conversation?.(asked) ?? new Conversation(client, { agent: served.name });
      const bound = boundTools(rest.tools ?? {}, served, chat);
      const told = typeof options.turn === "function" ? options.turn(asked) : options.turn;
      const turn: Turn = { tools: Object.keys(bound).filter((name) => isOurs(name, served)), model: modelName(rest.model), ...told };
      const step = await chat.user(role === "user" ? { authority: "user", ...turn } : turn, resultsIn(history(rest)));
      const tools = offered(bound, step);
      refuseKeptHistory(chat, turn, rest.providerOptions);
      const run = { chat, served, names: Object.keys(tools), options: asked };
      return {
        ...rest,
        onFinish: rest.onFinish === onFinish ? onFinish : endedThen(rest.onFinish), // version 6; version 7 has it from the settings
        tools,
        instructions: step.system,
        ...(role === "system" ? { allowSystemInMessages: true } : {}),
        runtimeContext: { ...rest.runtimeContext, [KEY]: run },
        experimental_context: { ...rest.experimental_context, [KEY]: run },
      };
    },

    async prepareStep(request) {
      const { steps, stepNumber, messages } = request;
      const run = runOf(request);
      if (!run) throw new CuecardError("pass `prepareCall` to the agent, too: it begins the call", 0, "no-call");
      const next = async () => run.chat.next(resultsIn(messages, steps), await options.inputs?.(run.options, request));
      const step = stepNumber === 0 ? run.chat.step! : await next();
      if (step.stopped) {
        const told = `the run has come to its limit without an answer (${step.stopped})`;
        throw new CuecardError(`${told}: end the turn and tell the user`, 0, "run-limit");
      }
      options.onStep?.(run.chat);
      return {
        system: step.system, // version 6
        instructions: step.system, // version 7, where it carries forward: so it is always the whole text
        messages: withTexts(placed(messages, step, role), (call) => run.chat.resultText(call)),
        activeTools: shown(run, step.active_tools),
        ...(step.forced_tool && run.names.includes(step.forced_tool)
          ? { toolChoice: { type: "tool", toolName: step.forced_tool } }
          : {}),
      };
    },

    onFinish,
  };
}

/** The run has its answer: what belonged to its turn alone leaves the conversation. */
async function onFinish(event: any): Promise<void> {
  const chat = runOf(event)?.chat;
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

function runOf({ runtimeContext, experimental_context }: any): Run | undefined {
  return runtimeContext?.[KEY] ?? experimental_context?.[KEY];
}

/** A provider that keeps the history takes nothing back, so that texts of one turn would stay in it. */
function refuseKeptHistory({ call }: Conversation, turn: Turn, providers: any): void {
  const kept = [providers?.openai, providers?.azure].some((told) => told?.previousResponseId ?? told?.conversation);
  if (!kept || !call?.one_turn || call.delivery.name === "rewrite" || turn.host === "system-only") return;
  const told = "the agent has texts that live for one turn, but the provider keeps the history and takes nothing back";
  const wayOut = 'pass `turn: { host: "system-only" }`, which puts them into the system prompt; or send the messages yourself';
  throw new CuecardError(`${told}: ${wayOut}`, 0, "kept-history");
}

interface Run {
  chat: Conversation;
  served: Agent;
  names: string[];
  options: unknown;
}

/** Under `append` all definitions stay in front, so that a discovery costs no cache, and calls are refused instead. */
function shown({ chat, served, names }: Run, active: readonly string[]): string[] {
  const rebuilt = chat.call?.delivery.name === "rewrite";
  return names.filter((name) => !rebuilt || !isOurs(name, served) || active.includes(name));
}

/** The host's tools, each of which answers what to do while it is not active; and the search tool. */
function boundTools(tools: Record<string, any>, served: Agent, chat: Conversation): Record<string, any> {
  const bound = Object.entries(tools).map(([name, tool]) => [name, tool.execute ? guarded(name, tool, chat) : tool]);
  return { [served.search_tool.name]: searchTool(served, chat), ...Object.fromEntries(bound) };
}

/** The tools of a request: without the search tool where the conversation has none. A service of an earlier version always has one. */
function offered(tools: Record<string, any>, step: Step): Record<string, any> {
  if (step.offers_search !== false) return tools;
  return Object.fromEntries(Object.entries(tools).filter(([name]) => name !== step.refusals.search));
}

function guarded(name: string, tool: any, chat: Conversation): any {
  return {
    ...tool,
    ...(tool.needsApproval === undefined ? {} : { needsApproval: asks }),
    execute(...given: unknown[]) {
      const refusal = chat.refusal(name);
      if (refusal !== undefined) throw new Error(refusal);
      return tool.execute(...given);
    },
  };

  /** Nobody is asked to approve a call that is refused. */
  async function asks(...given: unknown[]): Promise<boolean> {
    if (chat.refusal(name) !== undefined) return false;
    return typeof tool.needsApproval === "function" ? tool.needsApproval(...given) : tool.needsApproval;
  }
}

function searchTool({ search_tool: words }: Agent, chat: Conversation): any {
  return {
    description: words.description,
    inputSchema: standardSchema({
      type: "object",
      properties: {
        query: { type: "string", description: words.query },
        limit: { type: "integer", minimum: 1, description: words.limit },
      },
      required: ["query"],
      additionalProperties: false,
    }),
    async execute({ query, limit }: { query: string; limit?: number }) {
      const refusal = chat.refusal(words.name);
      if (refusal !== undefined) throw new Error(refusal);
      const { tools, withheld, categories, message } = await chat.search(query, limit);
      const more = Object.entries({ withheld, categories }).filter(([, told]) => Object.keys(told ?? {}).length);
      return { tools, ...Object.fromEntries(more), message };
    },
  };
}

/** A schema in the form that no library owns (Standard Schema and Standard JSON Schema). */
function standardSchema(schema: object): object {
  const told = () => schema;
  const validate = (value: any) =>
    typeof value?.query === "string" ? { value } : { issues: [{ message: "`query` should be a text", path: ["query"] }] };
  return { "~standard": { version: 1, vendor: "cuecard", validate, jsonSchema: { input: told, output: told } } };
}

async function agentOf(client: Cuecard, name: string | undefined): Promise<Agent> {
  const { agents } = await client.agents();
  const found = name === undefined && agents.length === 1 ? agents[0] : agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name).join(", ");
  const told = name === undefined ? "name an agent" : `the service has no agent \`${name}\``;
  throw new CuecardError(`${told}: it serves ${names}`, 404, "unknown-agent");
}

function isOurs(name: string, served: Agent): boolean {
  return name === served.search_tool.name || served.core_tools.includes(name) || served.tools.some((tool) => tool.name === name);
}

function modelName(model: unknown): string {
  return typeof model === "string" ? model : ((model as { modelId?: string } | undefined)?.modelId ?? "");
}

function history(rest: { messages?: Message[]; prompt?: unknown }): Message[] {
  return rest.messages ?? (Array.isArray(rest.prompt) ? rest.prompt : []);
}
