// Texts of one turn and inputs per request: what the model saw, what the host stores, and what is left after a turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ai6 from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import * as ai7 from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { Conversation, Cuecard, CuecardError } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";

const paths = [];
const counted = (...asked) => (paths.push([new URL(asked[0]).pathname, JSON.parse(asked[1].body ?? "{}")]), fetch(...asked));
const client = new Cuecard({ url: process.env.CUECARD_URL, fetch: counted });
const asked = (path) => paths.filter(([known]) => known === path).map(([, body]) => body);
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const versions = [
  { name: "ai 6", ai: ai6, Model: MockLanguageModelV3 },
  { name: "ai 7", ai: ai7, Model: MockLanguageModelV4 },
];
const answer = (unified, ...content) => ({ content, finishReason: { unified, raw: undefined }, usage, warnings: [] });
const thinks = (text) => ({ type: "reasoning", text });
const looks = (toolCallId) => answer("tool-calls", thinks(`before ${toolCallId}`), { type: "tool-call", toolCallId, toolName: "look", input: "{}" });
const says = (text) => answer("stop", thinks(`before ${text}`), { type: "text", text });

function agentOf(ai, Model, answers, { modelId = "scripted", inputs, around, ...settings } = {}) {
  const saw = [];
  const model = new Model({ modelId, doGenerate: async ({ prompt }) => answers[saw.push(prompt) - 1] });
  const look = ai.tool({ description: "Look.", inputSchema: z.object({}), execute: async () => "seen" });
  const bound = aiSdk(client, {
    agent: "pilot",
    conversation: ({ chat }) => chat,
    turn: ({ turn }) => ({ delivery: "append", ...turn }),
    inputs,
  });
  return { saw, agent: new ai.ToolLoopAgent({ model, tools: { look }, ...bound, ...around?.(bound), ...settings }) };
}

const newChat = (text) => new Conversation(client, { agent: "pilot", text });
const inner = (message) => (typeof message.content === "string" ? message.content : message.content.map((p) => p.text ?? "").join(""));
const texts = (prompt) => prompt.filter((m) => m.role !== "system").map((m) => (m.role === "user" ? inner(m) : m.role));
const block = (text) => `<system-reminder>\n${text}\n</system-reminder>\n`;
const responses = (done) => done.responseMessages ?? done.response.messages;
const secret = { inputs: { screen: "home", note: "a secret", clock: "9:00" } };

for (const { name, ai, Model } of versions) {
  for (const given of [{ delivery: "rewrite" }, { delivery: "frozen", host: "system-only" }, { host: "system-only" }]) {
    test(`${name}: an instruction for one message stands behind the system prompt (${Object.values(given)})`, async () => {
      const { agent, saw } = agentOf(ai, Model, [looks("c1"), says("Done."), says("Again.")]);
      const chat = newChat();
      await agent.generate({ messages: [{ role: "user", content: "Hi" }], options: { chat, turn: { ...given, ephemeral: "Say it in Czech." } } });
      await agent.generate({ messages: [{ role: "user", content: "And?" }], options: { chat, turn: given } });

      assert.deepEqual(saw.map((prompt) => JSON.stringify(prompt).split("Say it in Czech.").length - 1), [1, 1, 0]);
    });
  }

  test(`${name}: texts have their places also in messages that the host changes behind prepareCall`, async () => {
    const older = [{ role: "user", content: "Before." }, { role: "assistant", content: "Yes." }];
    const around = ({ prepareCall }) => ({
      prepareCall: async (asked) => ({ ...(await prepareCall(asked)), messages: [...older, ...asked.messages] }),
    });
    const { agent, saw } = agentOf(ai, Model, [looks("c1"), says("Done.")], { around });
    await agent.generate({ messages: [{ role: "user", content: "Hi" }], options: { chat: newChat(), turn: { inputs: { note: "a secret" } } } });

    const begun = ["Before.", "assistant", "Hi", block("Note: a secret.")];
    assert.deepEqual(saw.map(texts), [begun, [...begun, "assistant", "tool"]]);
  });

  test(`${name}: texts of a turn are in its requests, and nowhere afterwards`, async () => {
    const screens = ["settings", undefined];
    const inputs = (options, { stepNumber }) => {
      assert.equal(options.turn, secret);
      const screen = screens[stepNumber - 1];
      return screen && { screen };
    };
    const { agent, saw } = agentOf(ai, Model, [looks("c1"), looks("c2"), says("Done."), says("Again.")], { inputs });
    const chat = newChat();
    const messages = [{ role: "user", content: "Hi" }];
    paths.length = 0;
    const first = await agent.generate({ messages, options: { chat, turn: secret } });

    const [home, note, clock] = ["The user sees home.", "Note: a secret.", "It is 9:00."].map(block);
    const changed = texts(saw[1])[5];
    assert.match(changed, /<system-reminder>[^]*The user sees settings\./);
    assert.deepEqual(texts(saw[0]), ["Hi", home, note, clock]);
    assert.deepEqual(texts(saw[1]), ["Hi", home, note, "assistant", "tool", changed, clock]);
    assert.deepEqual(texts(saw[2]), ["Hi", home, note, "assistant", "tool", changed, "assistant", "tool", clock]);
    assert.deepEqual(asked("/v1/prepare-step").map((body) => body.inputs), [{ screen: "settings" }, undefined]);

    // Neither the messages that the host stores nor the conversation hold them; the run has ended the turn itself.
    assert.deepEqual(asked("/v1/remember").map((body) => body.ended), [true]);
    const stored = [...messages, ...responses(first)];
    for (const held of [JSON.stringify(stored), chat.text]) assert.doesNotMatch(held, /a secret|home|settings|9:00/);
    await assert.rejects(chat.next(), { status: 409, code: "turn-ended" });

    await agent.generate({ messages: [...stored, { role: "user", content: "More" }], options: { chat: newChat(chat.text), turn: {} } });
    assert.deepEqual(texts(saw[3]), ["Hi", "assistant", "tool", "assistant", "tool", "assistant", "More"]);
    assert.deepEqual(saw[3][0], saw[0][0]);
    assert.match(JSON.stringify(saw[3]), /before c1.*before c2.*before Done/);
  });

  test(`${name}: the thinking of an ended turn goes where the model checks it`, async () => {
    const { agent, saw } = agentOf(ai, Model, [looks("c1"), says("Done."), looks("c2"), says("Again.")], { modelId: "claude-opus-5-5" });
    const turn = { profile: "calm", inputs: { note: "a secret" } };
    const chat = newChat();
    const messages = [{ role: "user", content: "Hi" }];
    messages.push(...responses(await agent.generate({ messages, options: { chat, turn } })), { role: "user", content: "More" });
    await agent.generate({ messages, options: { chat, turn } });

    assert.match(JSON.stringify(saw[1]), /before c1/);
    assert.match(JSON.stringify(messages), /before c1.*before Done/);
    assert.doesNotMatch(JSON.stringify(saw[2]), /before/);
    assert.doesNotMatch(JSON.stringify(saw[3]), /before c1|before Done/);
    assert.match(JSON.stringify(saw[3]), /before c2/);
    assert.deepEqual(texts(saw[3]), ["Hi", "assistant", "tool", "assistant", "More", block("Note: a secret."), "assistant", "tool"]);
  });

  test(`${name}: callbacks of the host are called, and what they store has ended`, async () => {
    const heard = [];
    const chat = newChat();
    const options = { chat, turn: secret };
    const ofTheCall = agentOf(ai, Model, [says("one")]).agent;
    await ofTheCall.generate({ prompt: "Hi", options, onFinish: async () => heard.push(await chat.end()) });
    const { onFinish } = aiSdk(client);
    const own = async (event) => (await onFinish(event), heard.push(chat.text));
    await agentOf(ai, Model, [says("two")], { onFinish: own }).agent.generate({ prompt: "Hi", options });

    assert.equal(heard.length, 2);
    for (const stored of heard) assert.doesNotMatch(stored, /a secret/);
  });

  test(`${name}: a streamed run ends its turn, too`, async () => {
    const parts = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "ok" }, { type: "text-end", id: "1" }];
    const finish = { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage };
    const doStream = async () => ({ stream: ai.simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...parts, finish] }) });
    const settings = aiSdk(client, { agent: "pilot", conversation: ({ chat }) => chat, turn: { delivery: "append", ...secret } });
    const chat = newChat();
    const streamed = await new ai.ToolLoopAgent({ model: new Model({ doStream }), ...settings }).stream({ prompt: "Hi", options: { chat } });
    await streamed.consumeStream();

    assert.equal(await streamed.text, "ok");
    assert.doesNotMatch(chat.text, /a secret/);
  });

  test(`${name}: a history that the provider keeps takes nothing back`, async () => {
    const kept = { providerOptions: { openai: { previousResponseId: "resp-1" } } };
    const { agent, saw } = agentOf(ai, Model, [says("no")], kept);

    await assert.rejects(agent.generate({ prompt: "Hi", options: { chat: newChat(), turn: secret } }), (error) => {
      assert.equal(error.code, "kept-history");
      assert.match(error.message, /host: "system-only"/);
      return error instanceof CuecardError;
    });
    assert.equal(saw.length, 0);

    await agent.generate({ prompt: "Hi", options: { chat: newChat(), turn: { ...secret, host: "system-only" } } });
    assert.match(JSON.stringify(saw[0][0].content), /a secret/);
    assert.deepEqual(texts(saw[0]), ["Hi"]);
  });

  test(`${name}: an agent without such texts costs no further request`, async () => {
    const model = new Model({ doGenerate: async () => says("ok") });
    paths.length = 0;
    await new ai.ToolLoopAgent({ model, ...aiSdk(client, { agent: "cms" }) }).generate({ prompt: "Hi" });

    assert.deepEqual(paths.map(([path]) => path), ["/v1/prepare-call"]);
  });
}

test("inputs in a loop of one's own, whose mistakes come with their problems", async () => {
  const chat = newChat();
  await chat.user({ delivery: "append", ...secret });
  const step = await chat.next([{ tool: "look", call_id: "c1", result: "seen" }], { screen: "settings" });

  assert.match(step.appended.find((each) => each.after_call_id === "c1").text, /settings/);
  await assert.rejects(chat.next([], { name: "Bob", scren: "x" }), (error) => {
    assert.deepEqual(error.problems.map((each) => [each.code, each.name]).sort(), [["not-a-step-input", "inputs"], ["unknown-input", "inputs"]]);
    return error.status === 422;
  });
  assert.deepEqual((await chat.next()).appended, step.appended);
});

test("a call that is prepared anew has the inputs that had come since", async () => {
  const bodies = [];
  const answers = [
    { api: 2, conversation: "1", step: {}, results: [] },
    { api: 2, conversation: "2", step: {}, results: [] },
    { status: 409, code: "stale-call" },
    { api: 2, conversation: "3", step: {}, results: [] },
  ];
  const fake = async (_, { body }) => {
    const told = answers[bodies.push(JSON.parse(body)) - 1];
    return new Response(JSON.stringify(told), { status: told.status ?? 200 });
  };
  const chat = new Conversation(new Cuecard({ url: "http://service", fetch: fake }));
  const [one, two] = ["c1", "c2"].map((call_id) => ({ call_id, result: null }));
  await chat.user();
  await chat.next([one], { screen: "a", clock: "1" });
  await chat.next([two], { screen: "b" });

  assert.deepEqual(bodies.slice(1).map(({ results, inputs }) => ({ results, inputs })), [
    { results: [one], inputs: { screen: "a", clock: "1" } },
    { results: [two], inputs: { screen: "b" } },
    { results: [one, two], inputs: { screen: "b", clock: "1" } },
  ]);
  assert.deepEqual(bodies.at(-1).anew, bodies[0]);
});

test("there is no turn to end before the first message", async () => {
  await assert.rejects(newChat().end(), { code: "no-call" });
});
