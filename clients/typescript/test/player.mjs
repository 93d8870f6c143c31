// A host on the AI SDK that plays what it is told: each line that it reads is a message of the user, and it asks back
// what its tools answer. What it stores goes back with each answer, so that any process could go on.
import { createInterface } from "node:readline";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import * as ai from "ai";
import { z } from "zod";
import { Conversation, Cuecard } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";

globalThis.AI_SDK_LOG_WARNINGS = false;
const waiting = new Map();
const write = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);

/** What the other side says to a question. */
function ask(question) {
  const id = waiting.size ? Math.max(...waiting.keys()) + 1 : 1;
  return new Promise((resolve) => (waiting.set(id, resolve), write({ id, ...question })));
}

/** The service of several replicas in turn: it tells each step with its manifest, and fails a search for `x`. */
function replicas(urls) {
  let turn = 0;
  return async (address, { body, ...asked }) => {
    const { pathname } = new URL(address);
    const given = JSON.parse(body);
    if (pathname.endsWith("search-tools") && given.query === "x") return new Response("{}", { status: 400 });
    const steps = pathname.includes("/prepare-");
    const sent = JSON.stringify({ ...given, ...(steps && { manifest: true }) });
    const answer = await fetch(urls[turn++ % urls.length] + pathname, { ...asked, body: sent });
    const text = await answer.text();
    if (steps && answer.ok) {
      const { step, manifest } = JSON.parse(text);
      await ask({ step: { active_tools: step.active_tools, offers_search: step.offers_search, manifest } });
    }
    return new Response(text, { status: answer.status });
  };
}

/** The model, at its provider's client; where the run is aborted, the service's failure is what the user stops at. */
function modelOf({ model, url }, stop) {
  const send = async (address, asked) => {
    const answer = await fetch(address, asked);
    if (answer.ok || !stop) return answer;
    stop.abort();
    throw stop.signal.reason;
  };
  const at = { apiKey: "k", baseURL: `${url}/v1`, fetch: send };
  const [name, kind] = model.split(":").reverse();
  if (name.startsWith("claude")) return createAnthropic(at)(name);
  return kind ? createOpenAI(at).chat(name) : createOpenAI(at).responses(name);
}

function toolsOf({ tools, asks }) {
  const made = (name) =>
    ai.tool({
      description: "Does it.",
      inputSchema: z.object({ q: z.string().optional() }),
      ...(asks.includes(name) && { needsApproval: true }),
      async execute({ q = "" }) {
        const { error, result } = await ask({ run: name, q });
        if (error) throw new Error(error);
        return result;
      },
    });
  return Object.fromEntries(tools.map((name) => [name, made(name)]));
}

let process_;

/** What a process makes once. */
function started({ urls, agent, role }) {
  const client = new Cuecard({ url: urls[0], fetch: replicas(urls) });
  const settings = aiSdk(client, {
    agent,
    role,
    search: "find",
    conversation: ({ chat }) => chat,
    turn: ({ turn }) => turn,
    compacted: ({ compacted }) => compacted,
    activeTools: ({ allowed }) => allowed(),
  });
  return { client, settings };
}

async function say(told) {
  if (told.fresh) process_ = started(told);
  const { client, settings } = process_;
  const chat = told.fresh || told.text !== process_.chat?.text ? new Conversation(client, { agent: told.agent, text: told.text ?? undefined }) : process_.chat;
  process_.chat = chat;
  const stop = told.aborts ? new AbortController() : undefined;
  const kept = { messages: told.messages };
  const tools = toolsOf(told);
  const made = {
    model: modelOf(told, stop),
    maxRetries: 0,
    stopWhen: ai.isStepCount(50),
    onError: () => {},
    ...settings,
    tools: { ...tools, ...settings.tools },
    ...(told.allowed && { activeTools: told.allowed }),
    providerOptions: { openai: { store: false } },
    prepareStep: (request) => {
      kept.messages = [...told.messages, ...request.responseMessages];
      return settings.prepareStep(request);
    },
  };
  const allowed = async () => (await ask({ there: true })).there;
  const call = { options: { chat, allowed, turn: told.turn, compacted: told.compacted }, abortSignal: stop?.signal };
  let failed;
  try {
    await DOORS[told.door](made, call, told, kept, settings);
  } catch (error) {
    failed = String(error);
    if (chat.text) await chat.end();
  }
  return { ...kept, text: chat.text, failed };
}

const DOORS = {
  async agent(made, call, { messages }, kept) {
    const { responseMessages } = await new ai.ToolLoopAgent(made).generate({ messages, ...call });
    kept.messages = [...messages, ...responseMessages];
  },
  async stream(made, call, { messages }, kept) {
    const streamed = await new ai.ToolLoopAgent(made).stream({ messages, ...call });
    for await (const part of streamed.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw new Error("aborted");
    }
    kept.messages = [...messages, ...(await streamed.responseMessages)];
  },
  async text(made, { options, ...call }, { messages }, kept, settings) {
    const { prepareCall: _, prepareStep: __, onFinish: ___, ...plain } = made;
    const asked = await settings.call({ ...plain, ...call, messages, options, prepareStep: made.prepareStep });
    const { responseMessages } = await ai.generateText(asked);
    kept.messages = [...messages, ...responseMessages];
  },
  async ui(made, call, { messages }, kept) {
    let failed;
    const answer = await ai.createAgentUIStreamResponse({
      agent: new ai.ToolLoopAgent(made),
      uiMessages: messages,
      originalMessages: messages,
      ...call,
      onEnd: ({ messages: all, isAborted, outcome }) => {
        kept.messages = all;
        failed = isAborted ? new Error("aborted") : outcome.error;
      },
    });
    await answer.text();
    if (failed) throw failed;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...told } = JSON.parse(line);
  if (id) (waiting.get(id)(told), waiting.delete(id));
  else say(told).then(write, (error) => write({ broken: error.stack }));
}
