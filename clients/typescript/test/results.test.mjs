// Results of tools as the texts of the agent file: what the real AI SDK sends, and what its messages keep.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ai6 from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import * as ai7 from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { Conversation, Cuecard } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";
import { balancer } from "./support.mjs";

const client = new Cuecard({ url: process.env.CUECARD_SHELL_URL });
const TOLD = "<out>0 ls ls ls l[45]s ls </out>";
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const answer = (unified, ...content) => ({ content, finishReason: { unified, raw: undefined }, usage, warnings: [] });
const call = (toolCallId, toolName, input) => ({ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) });
const calls = (...made) => answer("tool-calls", ...made.map((each) => call(...each)));
const done = answer("stop", { type: "text", text: "done" });
const outputs = (prompt) => prompt.flatMap((m) => (m.role === "tool" ? m.content.map((part) => part.output) : []));

function agent(ai, Model, conversation, answers) {
  const saw = [];
  const model = new Model({ doGenerate: async ({ prompt }) => (saw.push(outputs(prompt)), answers[saw.length - 1]) });
  const shell = ai.tool({
    description: "Run a command.",
    inputSchema: z.object({ command: z.string() }),
    execute: ({ command }) => {
      if (command === "fail") throw new Error("the disk is full");
      return { code: 0, printed: `${command} `.repeat(20) };
    },
  });
  const words = ai.tool({ description: "Say something.", inputSchema: z.object({}), execute: () => "some words" });
  const picture = ai.tool({
    description: "Show a picture.",
    inputSchema: z.object({}),
    execute: () => "eA==",
    toModelOutput: () => ({ type: "content", value: [{ type: "media", data: "eA==", mediaType: "image/png" }] }),
  });
  const settings = aiSdk(client, { agent: "shell", conversation: () => conversation });
  return { saw, loop: new ai.ToolLoopAgent({ model, tools: { shell, words, picture }, ...settings }) };
}

for (const [name, ai, Model] of [["ai 6", ai6, MockLanguageModelV3], ["ai 7", ai7, MockLanguageModelV4]]) {
  test(`${name}: requests hold the texts, and the messages what the tools returned`, async () => {
    const chat = new Conversation(client, { agent: "shell" });
    const { saw, loop } = agent(ai, Model, chat, [
      calls(["c1", "shell", { command: "ls" }]),
      calls(["c2", "words", {}], ["c3", "shell", { command: "fail" }], ["c4", "picture", {}]),
      done,
    ]);
    const asked = [{ role: "user", content: "go" }];
    const first = await loop.generate({ messages: asked });

    assert.deepEqual(saw[1], [{ type: "text", value: TOLD }]);
    assert.deepEqual(saw[2].slice(0, 2), [{ type: "text", value: TOLD }, { type: "text", value: "(some words)" }]);
    assert.equal(saw[2][2].type, "error-text");
    assert.match(saw[2][2].value, /^<failed>.*full<\/failed>$/);
    assert.equal(saw[2][3].type, "content");
    const messages = first.responseMessages ?? first.response.messages;
    const kept = outputs(messages);
    assert.ok(kept[0].value.printed.startsWith("ls ls ls ls"));
    assert.ok(!JSON.stringify(kept).includes("<out>"));

    // The next message, by another process that has the signed text and the messages.
    const again = agent(ai, Model, new Conversation(client, { agent: "shell", text: chat.text }), [done]);
    await again.loop.generate({ messages: [...asked, ...messages, { role: "user", content: "and now?" }] });
    assert.deepEqual(again.saw[0], saw[2]);
  });
}

for (const [name, ai, Model] of [["ai 6", ai6, MockLanguageModelV3], ["ai 7", ai7, MockLanguageModelV4]]) {
  test(`${name}: calls to which the model gives one id are told apart, in each request alike`, async (t) => {
    const { url, seen } = await balancer(t, () => process.env.CUECARD_SHELL_URL);
    const long = "an id of forty characters, all of its own";
    const answers = [calls(["c1", "shell", { command: "ls" }]), calls([long, "words", {}]), calls(["c1", "shell", { command: "fail" }], [long, "shell", { command: "pwd" }]), calls(["c1", "words", {}], ["c1", "shell", { command: "ls" }])];
    const saw = [];
    const run = (text, messages) => {
      const chat = new Conversation(new Cuecard({ url }), { agent: "shell", text });
      const model = new Model({ doGenerate: async ({ prompt }) => (saw.push(prompt.filter(({ role }) => role !== "system")), answers.shift() ?? done) });
      const tools = {
        shell: ai.tool({ inputSchema: z.object({ command: z.string() }), execute: ({ command }) => (command === "fail" ? Promise.reject(new Error("full")) : { code: 0, printed: command }) }),
        words: ai.tool({ inputSchema: z.object({}), execute: () => "some words" }),
      };
      const settings = aiSdk(new Cuecard({ url }), { agent: "shell", conversation: () => chat });
      return new ai.ToolLoopAgent({ model, tools, ...settings }).generate({ messages }).then((ended) => [chat.text, ended.responseMessages ?? ended.response.messages]);
    };
    const asked = [{ role: "user", content: "go" }];
    const [text, messages] = await run(undefined, asked);
    const ids = (type) => saw[4].flatMap(({ content }) => content.filter((part) => part.type === type).map((part) => part.toolCallId));
    assert.deepEqual(ids("tool-call"), ["c1", long, "c1-2", `${long.slice(0, -2)}-2`, "c1-3", "c1-4"]);
    assert.deepEqual(ids("tool-result"), ids("tool-call"));
    assert.deepEqual(outputs(saw[4]).map(({ value }) => value.replace(/<failed>.*full/, "full")), ["<out>0 ls</out>", "(some words)", "full</failed>", "<out>0 pwd</out>", "(some words)", "<out>0 ls</out>"]);
    for (const [at, prompt] of saw.slice(1).entries()) assert.deepEqual(prompt.slice(0, saw[at].length), saw[at]);

    seen.length = 0;
    await run(text, JSON.parse(JSON.stringify([...asked, ...messages, { role: "user", content: "and now?" }])));
    assert.deepEqual(saw[5].slice(0, saw[4].length), saw[4]);
    assert.ok(seen.every(({ body }) => !body.includes('"result"')), "no result travels again");
  });
}

test("what waits for a confirmation is told anew once it is done, under the same id", async (t) => {
  const { url, seen } = await balancer(t, () => process.env.CUECARD_SHELL_URL);
  const asks = { requiresConfirmation: true };
  for (const pending of [{ result: "sure?", pending: true }, { result: asks }, { result: JSON.stringify(asks, null, 2) }]) {
    let chat = new Conversation(new Cuecard({ url }), { agent: "shell" });
    const result = (told) => ({ tool: "words", call_id: "c1", ...told });
    await chat.user({}, [], null, { tools: ["words"] });
    await chat.next([result(pending)]);
    assert.match(chat.resultText("c1"), /sure|requires/);
    await chat.next([result(pending)]);
    assert.deepEqual(JSON.parse(seen.at(-1).body).results, [], "it is known");
    chat = new Conversation(new Cuecard({ url }), { agent: "shell", text: chat.text });
    await chat.user({}, [result(pending)], null, { tools: ["words"] });
    assert.match(chat.resultText("c1"), /sure|requires/);
    await chat.next([result({ result: "done" })]);
    assert.equal(chat.resultText("c1"), "(done)");
    chat = new Conversation(new Cuecard({ url }), { agent: "shell", text: chat.text });
    await chat.user({}, [result({ result: "done" })], null, { tools: ["words"] });
    assert.equal(chat.resultText("c1"), "(done)");
  }

  // The SDK hands on what the model was told: the question is no answer to itself.
  seen.length = 0;
  const answers = [calls(["c1", "words", {}]), calls(["c2", "words", {}]), done];
  const model = new MockLanguageModelV4({ doGenerate: async () => answers.shift() });
  const words = ai7.tool({ inputSchema: z.object({}), execute: () => asks });
  await new ai7.ToolLoopAgent({ model, tools: { words }, ...aiSdk(new Cuecard({ url }), { agent: "shell" }) }).generate({ prompt: "go" });
  assert.deepEqual(seen.map(({ body }) => JSON.parse(body).results?.map(({ call_id }) => call_id)), [[], ["c1"], ["c2"]]);
});

test("where the host has dropped messages, the text of one call is not told for another of the same id", async () => {
  const chat = new Conversation(client, { agent: "shell" });
  const result = (call_id, result) => ({ tool: "words", call_id, result });
  await chat.user({}, [], null, { tools: ["words"] });
  await chat.next([result("c1", "first"), result("c1-2", "second")]);
  await chat.user({}, [result("c1", "second")], 1, { tools: ["words"] });
  assert.equal(chat.resultText("c1"), "(second)");
  assert.deepEqual(JSON.parse(chat.text.split("\n")[1]), { c1: "(second)" });
});

const shapes = {
  text: () => "words ".repeat(10_000),
  rows: () => ({ rows: Array.from({ length: 900 }, (_, at) => ({ id: at, note: "what a row may say of itself, and more" })) }),
  pictures: () => ({ rows: Array.from({ length: 1200 }, (_, at) => ({ id: at, format: "jpeg", name: `Picture ${at}` })) }),
};
for (const [name, shape] of Object.entries(shapes)) {
  test(`five messages with two long results each, told by a template (${name}): each travels once, and is told once`, async (t) => {
    const { url, seen } = await balancer(t, () => process.env.CUECARD_SHELL_URL);
    const messages = [];
    const saw = [];
    let text;
    for (let turn = 0; turn < 5; turn++) {
      const answers = [calls([`a${turn}`, "long", {}]), calls([`b${turn}`, "long", {}]), done];
      const model = new MockLanguageModelV4({ doGenerate: async ({ prompt }) => (saw.push(outputs(prompt)), answers.shift()) });
      const long = ai7.tool({ description: "Much.", inputSchema: z.object({}), execute: shape });
      const chat = new Conversation(new Cuecard({ url }), { agent: "shell", text }); // a process of its own
      messages.push({ role: "user", content: "go on" });
      const loop = new ai7.ToolLoopAgent({ model, tools: { long }, ...aiSdk(new Cuecard({ url }), { conversation: () => chat }) });
      messages.push(...(await loop.generate({ messages })).responseMessages);
      text = chat.text;
    }
    const own = JSON.stringify(messages).length;
    const moved = seen.reduce((sum, { size }) => sum + size, 0);
    assert.ok(moved <= 1.2 * own, `${moved} bytes for ${own}`);
    assert.match(saw.at(-1)[0].value, /^\(/);
    assert.equal(saw.at(-1).length, 10);
    assert.deepEqual(saw.at(-1).slice(0, 8), saw[12]);
  });
}

test("texts that were not kept are made again, and those of messages that are gone are not kept", async (t) => {
  const { url, seen } = await balancer(t, () => process.env.CUECARD_SHELL_URL);
  const chat = new Conversation(new Cuecard({ url }), { agent: "shell" });
  const results = ["c1", "c2"].map((call_id) => ({ tool: "words", call_id, result: "some words" }));
  await chat.user();
  await chat.next([{ ...results[0], call_id: "c0" }]);
  assert.equal(chat.resultText("c0"), undefined, "a body that was not sent is told by nobody");
  await chat.user({}, [], 0, { tools: ["words"] });
  await chat.next(results);
  const [signed, texts] = chat.text.split("\n");
  assert.deepEqual(JSON.parse(texts), { c1: "(some words)", c2: "(some words)" });

  for (const text of [signed, `${signed}\n{"c1": "(some`]) {
    const lost = new Conversation(new Cuecard({ url }), { agent: "shell", text });
    assert.equal(lost.text, signed);
    await lost.user({}, results, null, { tools: ["words"] });
    assert.equal(lost.resultText("c2"), "(some words)");
  }
  const kept = new Conversation(new Cuecard({ url }), { agent: "shell", text: chat.text });
  assert.equal(kept.text, kept.from);
  await kept.user({}, results.slice(1), 1, { tools: ["words"] });
  assert.ok(seen.every(({ body }) => !body.includes("(some")), "no text travels");
  assert.deepEqual(JSON.parse(kept.text.split("\n")[1]), { c2: "(some words)" });
  assert.equal(await kept.end(), kept.text);

  // A client of before, or one of another language: whole and without `cuecard-packed`.
  const asked = { method: "POST", headers: { "content-type": "application/json" } };
  const ask = (body) => fetch(`${url}/v1/prepare-call`, { ...asked, body: JSON.stringify({ agent: "shell", ...body }) }).then((answer) => answer.json());
  const plain = (await ask({ conversation: chat.text })).conversation;
  assert.deepEqual(JSON.parse(plain).conversation.state.results.map(({ call_id }) => call_id), ["c0", "c1", "c2"]);
  const earlier = new Conversation(new Cuecard({ url }), { agent: "shell", text: plain });
  assert.equal(earlier.text, plain);
  await earlier.user({}, results, null, { tools: ["words"] });
  assert.equal(earlier.resultText("c1"), "(some words)");
});

test("what returns nothing is told, too, and texts that a store has changed are no others", async () => {
  const client = new Cuecard({ url: process.env.CUECARD_SHELL_URL });
  const chat = new Conversation(client, { agent: "shell" });
  const result = { tool: "words", call_id: "c1", result: undefined };
  await chat.user({}, [], null, { tools: ["words"] });
  await chat.next([result]);
  assert.equal(chat.resultText("c1"), "(null)");
  const [signed, texts] = chat.text.split("\n");
  for (const text of [`${signed}\r\n${texts}\r\n`, `${signed}\n{"c1": 5}`, `${signed}\n[1, 2]`, `${signed}\n"text"`]) {
    const later = new Conversation(client, { agent: "shell", text });
    await later.user({}, [result], null, { tools: ["words"] });
    assert.deepEqual(JSON.parse(later.text.split("\n")[1]), { c1: "(null)" });
  }
});

test("what the model has read stays where a call is prepared anew", async () => {
  const answers = [];
  const fetch = async (_, { body }) => {
    const { anew, results = [] } = JSON.parse(body);
    answers.push(anew ? "anew" : "now");
    const stale = answers.length === 3 && { status: 409, body: { code: "stale-call", detail: "other files", problems: [] } };
    const said = results.map(({ call_id }, at) => ({ at, call_id, text: `${anew ? "new" : "old"} ${call_id}` }));
    const reads = { tools: { shell: 3 }, items: 2, lists: [], words: [], room: 10_000, said: false };
    const step = { active_tools: [], refusals: {}, appended: [] };
    const told = stale || { status: 200, body: { api: 2, conversation: "signed", step, results: said, reads, ...(anew && { anew: { reads } }) } };
    return new Response(JSON.stringify(told.body), { status: told.status });
  };
  const chat = new Conversation(new Cuecard({ url: "http://service", fetch }));
  const result = (call_id) => ({ tool: "shell", call_id, result: "printed" });
  await chat.user();
  await chat.next([result("c1")]);
  await chat.next([result("c1"), result("c2")]);
  assert.deepEqual(answers, ["now", "now", "now", "anew"]);
  assert.deepEqual([chat.resultText("c1"), chat.resultText("c2")], ["old c1", "new c2"]);
});
