// What a team with the AI SDK relies on: nothing lost, nothing sent twice, the host's word kept, over real connections.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ai from "ai";
import { z } from "zod";
import { Conversation, Cuecard, CuecardError } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";
import { balancer, calls, says, scripted, search } from "./support.mjs";

const url = process.env.CUECARD_URL;
const made = [];
const hostTools = (extra = {}, output = (name) => ({ success: true, page: { id: `p-${name}`, name } })) => ({
  ...Object.fromEntries(
    ["cms_createPage", "cms_deletePage", "cms_listPages"].map((name) => [
      name,
      ai.tool({ description: name, inputSchema: z.object({}), execute: async () => (made.push(name), output(name)) }),
    ]),
  ),
  ...extra,
});
const bounded = (client, options) => aiSdk(client, { agent: "cms", conversation: (given) => given?.chat, ...options });
const client = new Cuecard({ url });

test("an answer that is cut is asked for again, and the conversation stays", async (t) => {
  let cut = false;
  const { url: there, seen } = await balancer(t, () => (cut ? ((cut = false), { cut: true }) : url));
  const chat = new Conversation(new Cuecard({ url: there }), { agent: "cms" });
  await chat.user();
  cut = true;
  assert.ok((await chat.next()).system);
  assert.equal(typeof chat.text, "string");
  assert.deepEqual(seen.map(({ path }) => path), ["prepare-call", "prepare-step", "prepare-step"]);
  assert.equal(seen[1].id, seen[2].id);
});

test("what is no answer is an error with a code, and no word of an address", async (t) => {
  const { url: there } = await balancer(t, () => ({ headers: { "content-type": "text/html" }, body: "<html>Log in</html>" }));
  const page = new Conversation(new Cuecard({ url: there, retries: 0 }), { agent: "cms", text: undefined });
  await assert.rejects(page.user(), (error) => {
    assert.ok(error instanceof CuecardError);
    assert.deepEqual([error.code, error.status], ["wrong-answer", 200]);
    assert.match(error.message, new RegExp(error.requestId));
    assert.doesNotMatch(error.message, /127\.0|http|html/);
    return true;
  });
  assert.equal(page.text, undefined);
  const gone = new Cuecard({ url: "http://127.0.0.1:9", retries: 0 });
  await assert.rejects(gone.agents(), (error) => error.code === "unreachable" && !/127\.0|ECONN/.test(error.message));
});

test("a replica that is being replaced is asked again; when, it says itself", async (t) => {
  for (const status of [408, 429, 500, 502, 503, 504, 521]) {
    let once = true;
    const { url: there, seen } = await balancer(t, () => (once ? ((once = false), { status, headers: { "retry-after": "0" }, body: "<html>" }) : url));
    await new Conversation(new Cuecard({ url: there }), { agent: "cms" }).user();
    assert.equal(seen.length, 2);
  }
  const { url: busy, seen } = await balancer(t, () => ({ status: 503, headers: { "retry-after": "3600" } }));
  await assert.rejects(new Cuecard({ url: busy }).agents(), { status: 503 });
  assert.equal(seen.length, 1);
});

test("an address that redirects is told as such: on the way, bodies and tokens are lost", async (t) => {
  const { url: there } = await balancer(t, ({ path }) => (path === "elsewhere" ? url : { status: 302, headers: { location: "/v1/elsewhere" } }));
  const asked = new Conversation(new Cuecard({ url: there }), { agent: "cms" }).user();
  await assert.rejects(asked, (error) => error.code === "wrong-answer" && /redirects/.test(error.message));
});

test("there is one deadline, and it has a code of its own", async (t) => {
  const { url: there, seen } = await balancer(t, () => ({ silent: true }));
  await assert.rejects(new Cuecard({ url: there, timeout: 100 }).agents(), { code: "deadline", status: 0 });
  assert.equal(seen.length, 1);
  for (const timeout of [Infinity, 3e9]) assert.ok((await new Cuecard({ url, timeout }).agents()).agents.length);
});

test("who aborts hears the reason, in every method", async (t) => {
  const { url: there } = await balancer(t, () => ({ silent: true }));
  const slow = new Cuecard({ url: there });
  const asked = [(s) => slow.agents(s), (s) => slow.prepareCall({}, s), (s) => slow.prepareStep({ conversation: "" }, s), (s) => slow.searchTools({ query: "" }, s), (s) => slow.remember({}, s)];
  for (const ask of asked) {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")), 20);
    await assert.rejects(ask({ signal: stop.signal }), /enough/);
  }
});

test("a service of another interface is named once, with both numbers", async (t) => {
  const old = (status, body) => balancer(t, () => ({ status, body: JSON.stringify(body) }));
  const older = [await old(422, { code: "unknown-key", detail: "unknown key `host_tools`", problems: [] }), await old(422, { code: "bad-conversation", problems: [] }), await old(200, { conversation: "x" })];
  const newer = await balancer(t, () => ({ body: '{"api": 7, "conversation": "x"}' }));
  for (const [there, both] of [...older.map((each) => [each, /API 1.*API 2/]), [newer, /API 7.*API 2/]]) {
    await assert.rejects(new Conversation(new Cuecard({ url: there.url })).user(), (error) => error.code === "other-api" && both.test(error.message));
    assert.equal(there.seen.length, 1);
  }
});

const rows = () => Array.from({ length: 700 }, (_, at) => ({ id: `page-${at}`, name: `Page number ${at}`, views: at, status: "published" }));
const bodies = { texts: () => "x".repeat(60_000), "JSON in texts": () => JSON.stringify({ data: rows() }) };
for (const [name, body] of Object.entries(bodies)) {
  test(`a conversation of 12 messages with ${name} as results moves little of their bytes, and nothing of foreign tools`, async (t) => {
    const { url: there, seen } = await balancer(t, () => url);
    const c = new Cuecard({ url: there });
    const weather = ai.tool({ description: "w", inputSchema: z.object({}), execute: async () => "SECRET-RAIN".repeat(120_000) });
    const messages = [];
    let text;
    for (let turn = 0; turn < 12; turn++) {
      messages.push({ role: "user", content: "List the pages" });
      const { model } = scripted(search(`s${turn}`, "list pages"), calls([`a${turn}`, "cms_listPages"]), calls([`b${turn}`, "cms_listPages"], [`w${turn}`, "weather"]), says("Here."));
      const chat = new Conversation(c, { agent: "cms", text });
      const agent = new ai.ToolLoopAgent({ model, ...bounded(c), tools: hostTools({ weather }, body) });
      messages.push(...(await agent.generate({ messages, options: { chat } })).responseMessages);
      text = chat.text;
    }
    const moved = seen.reduce((sum, { size }) => sum + size, 0);
    assert.ok(moved <= 1.2 * 12 * 2 * 60_000, `${moved} bytes`);
    assert.doesNotMatch(seen.map(({ body }) => body).join(""), /SECRET-RAIN/);
  });
}

test("what the memory learns from long lists, and what it forgets by them, is all there", async (t) => {
  const { url: there, seen } = await balancer(t, () => url);
  const chat = new Conversation(new Cuecard({ url: there }), { agent: "cms" });
  await chat.user();
  const listed = await chat.next([{ tool: "cms_listPages", call_id: "c1", result: JSON.stringify({ data: rows(), next: "12345678901234567" }) }]);
  assert.ok(listed && seen.at(-1).size > 40_000, "a text with a number that JavaScript rounds is sent as it is");
  const ids = async () => (await chat.remember([])).map(({ id }) => id);
  assert.deepEqual(await ids(), ["page-0", "page-1", "page-2", "page-3", "page-4"]);
  await chat.next([{ tool: "cms_listPages", call_id: "c2", result: { data: rows().slice(100) } }]);
  assert.ok(seen.at(-1).size < 40_000);
  assert.deepEqual((await ids()).slice(0, 5), ["page-100", "page-101", "page-102", "page-103", "page-104"]);
  const gone = rows().slice(0, 200).map(({ id }) => ({ id }));
  await chat.next([{ tool: "cms_deletePage", call_id: "c3", result: { success: true, deleted: gone.reverse() } }]);
  assert.deepEqual(await ids(), []);
});

test("a result that is too large for a request does not end the run", async () => {
  const { model } = scripted(search("s", "list pages"), calls(["c", "cms_listPages"]), says("Many."));
  const agent = new ai.ToolLoopAgent({ model, ...bounded(client), tools: hostTools({}, () => "é".repeat(1_200_000)) });
  assert.equal((await agent.generate({ prompt: "All" })).text, "Many.");
});

test("what the host allows, tells and hands on stays its own", async () => {
  class Context {
    #db = 1;
    who() {
      return `ann${this.#db}`;
    }
  }
  const context = new Context();
  const { model, saw } = scripted(says("Hi."));
  const settings = bounded(client);
  let told, seen;
  const agent = new ai.ToolLoopAgent({
    model,
    instructions: "Answer in Welsh.",
    activeTools: ["cms_listPages"],
    runtimeContext: context,
    ...settings,
    tools: hostTools(),
    prepareStep: (request) => ((seen = request.runtimeContext), settings.prepareStep(request)),
    onStepEnd: (event) => (told = JSON.stringify(event)),
  });
  const done = await agent.generate({ prompt: "Hi" });
  assert.deepEqual([...saw[0].tools].sort(), ["cms_listPages", "tool_search"]);
  assert.match(saw[0].system, /<\/agent>\s*Answer in Welsh\.$/);
  assert.equal(seen, context);
  assert.equal(done.steps[0].runtimeContext.who(), "ann1");
  const plain = await new ai.ToolLoopAgent({ model: scripted(says("Hi.")).model, runtimeContext: { user: "ann" }, ...settings, onStepEnd: (event) => (told += JSON.stringify(event)) }).generate({ prompt: "Hi" });
  assert.equal(plain.steps[0].runtimeContext.user, "ann");
  assert.doesNotMatch(told + JSON.stringify(plain.steps), /<agent>|text_signature/);
});

test("a tool that goes within a run is not called any more, and what was sent of it stays", async () => {
  made.length = 0;
  const { model, saw } = scripted(search("c1", "create a page"), calls(["c2", "cms_createPage"]), calls(["c3", "cms_createPage"]), says("It is gone."));
  const left = ["cms_deletePage", "cms_listPages"];
  const agent = new ai.ToolLoopAgent({ model, ...bounded(client, { activeTools: (_, { stepNumber }) => (stepNumber > 1 ? left : undefined) }), tools: hostTools() });
  assert.equal((await agent.generate({ prompt: "Two pages", options: {} })).text, "It is gone.");
  assert.deepEqual(made, ["cms_createPage"]);
  assert.deepEqual(saw[3].tools, saw[0].tools);
  for (const at of [1, 2, 3]) assert.deepEqual(saw[at].messages.slice(0, saw[at - 1].messages.length), saw[at - 1].messages);
  assert.match(JSON.stringify(saw[2].messages.at(-1)), /cms_createPage/);
});

const said = (text) => ({ id: text, role: "user", parts: [{ type: "text", text }] });

/** The messages of a browser, as they are stored once the agent has answered them. */
async function stored(agent, chat, uiMessages) {
  let kept;
  const onEnd = ({ messages }) => (kept = JSON.stringify(messages));
  await (await ai.createAgentUIStreamResponse({ agent, uiMessages, options: { chat }, originalMessages: uiMessages, onEnd })).text();
  return JSON.parse(kept);
}

test("stored messages keep their searches, and the second message begins as the first has ended", async () => {
  made.length = 0;
  const { model, saw } = scripted(search("c1", "create a page"), calls(["c2", "cms_createPage"]), says("Done."), calls(["c3", "cms_createPage"]), says("Again."));
  const settings = bounded(client);
  const agent = new ai.ToolLoopAgent({ model, ...settings, tools: { ...hostTools(), ...settings.tools } });
  let chat = new Conversation(client, { agent: "cms" });
  let kept = [];
  for (const words of ["A page", "One more"]) {
    chat = new Conversation(client, { agent: "cms", text: chat.text });
    kept = await stored(agent, chat, [...kept, said(words)]);
  }
  assert.deepEqual(made, ["cms_createPage", "cms_createPage"]);
  assert.deepEqual(saw[3].messages.slice(0, saw[2].messages.length), saw[2].messages);
  assert.deepEqual([saw[3].system, saw[3].tools], [saw[2].system, saw[2].tools]);
});

test("stored messages begin as the run has ended, whichever call was denied and whichever was answered first", async () => {
  made.length = 0;
  const both = calls(["c2", "cms_createPage"], ["c3", "cms_deletePage"], ["c4", "cms_listPages"], ["c5", "cms_deletePage"]);
  const find = calls(...["create a page", "delete a page", "list pages"].map((query, at) => [`c1-${at}`, "tool_search", { query, limit: 1 }]));
  const { model, saw } = scripted(find, both, says("One."), says("Bye."));
  const settings = bounded(client);
  const toolApproval = { cms_deletePage: "user-approval", cms_createPage: "user-approval" };
  const agent = new ai.ToolLoopAgent({ model, ...settings, toolApproval, tools: { ...hostTools(), ...settings.tools } });
  const chat = new Conversation(client, { agent: "cms" });
  const asked = await stored(agent, chat, [said("Tidy up")]);
  const waiting = asked.at(-1).parts.filter(({ state }) => state === "approval-requested");
  for (const part of waiting) {
    const approved = part.toolCallId !== "c3";
    Object.assign(part, { state: "approval-responded", approval: { ...part.approval, approved } });
  }
  const kept = await stored(agent, chat, asked);
  await stored(agent, chat, [...kept, said("Thanks")]);
  assert.deepEqual(made, ["cms_listPages", "cms_createPage", "cms_deletePage"]);
  assert.deepEqual(saw[3].messages.slice(0, saw[2].messages.length), saw[2].messages);
  const results = saw[3].messages.filter(({ role }) => role === "tool").at(-1).content;
  assert.deepEqual(results.map(({ toolCallId, output }) => [toolCallId, output.type]), [["c2", "json"], ["c3", "error-text"], ["c4", "json"], ["c5", "json"]]);
});

test("what a search finds under the id of an earlier call can be called, and stands behind its own result", async () => {
  made.length = 0;
  const { model, saw } = scripted(search("c1", "create a page"), calls(["c1", "cms_createPage"]), search("c1", "delete a page"), calls(["c1", "cms_deletePage"]), says("Done."));
  const chat = new Conversation(client, { agent: "cms" });
  await new ai.ToolLoopAgent({ model, ...bounded(client), tools: hostTools() }).generate({ prompt: "A page, then none", options: { chat } });
  assert.deepEqual(made, ["cms_createPage", "cms_deletePage"]);
  for (const at of [1, 2, 3, 4]) assert.deepEqual(saw[at].messages.slice(0, saw[at - 1].messages.length), saw[at - 1].messages);
  assert.deepEqual(chat.step.discovered.map(({ after_call_id }) => after_call_id), ["c1", "c1-3"]);
});

test("after an approval the turn goes on: the prefix stays, and nobody is asked in vain", async () => {
  made.length = 0;
  const { model, saw } = scripted(search("c1", "create a page"), calls(["c2", "cms_createPage"]), search("c3", "delete a page"), calls(["c4", "cms_deletePage"]), says("Deleted."), says("Bye."));
  const settings = bounded(client);
  const agent = new ai.ToolLoopAgent({ model, ...settings, toolApproval: { cms_deletePage: "user-approval" }, tools: hostTools() });
  const messages = [{ role: "user", content: "Make a page, then delete it" }];
  let chat = new Conversation(client, { agent: "cms" });
  const first = await agent.generate({ messages, options: { chat } });
  const { approvalId } = first.content.find((part) => part.type === "tool-approval-request");
  messages.push(...first.responseMessages, { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] });
  chat = new Conversation(client, { agent: "cms", text: chat.text });
  assert.equal((await agent.generate({ messages, options: { chat } })).text, "Deleted.");
  assert.deepEqual(made, ["cms_createPage", "cms_deletePage"]);
  assert.deepEqual(saw[4].messages.slice(0, saw[3].messages.length), saw[3].messages);
  assert.equal(saw[4].system, saw[3].system);
  assert.equal(chat.step.turns.length, 1);

  const early = scripted(calls(["d1", "cms_deletePage"]), says("no"));
  const vain = await new ai.ToolLoopAgent({ model: early.model, ...settings, toolApproval: ({ toolCall }) => (toolCall.toolName === "cms_deletePage" ? "user-approval" : undefined), tools: hostTools() }).generate({ prompt: "Delete" });
  assert.equal(vain.text, "no");
});

test("a host that has trimmed its messages says so", async (t) => {
  const { url: there, seen } = await balancer(t, () => url);
  const c = new Cuecard({ url: there });
  const messages = ["one", "two", "three"].map((content) => ({ role: "user", content }));
  const agent = (compacted) => new ai.ToolLoopAgent({ model: scripted(says("ok")).model, ...bounded(c, { compacted: () => compacted }), tools: hostTools() });
  const told = [];
  for (const each of [true, 1, false]) {
    await agent(each).generate({ messages, options: {} });
    told.push(JSON.parse(seen.at(-1).body).compacted);
  }
  assert.deepEqual(told, [2, 1, undefined]);
});

test("streamText without an agent has a door of its own, and the wrong one says so", async () => {
  made.length = 0;
  const settings = bounded(client);
  const { model } = scripted(search("c1", "create a page"), calls(["c2", "cms_createPage"]), says("Done."));
  const streamed = ai.streamText({ ...(await settings.call({ model, tools: hostTools(), prompt: "A page" })), stopWhen: ai.isStepCount(9) });
  assert.equal(await streamed.text, "Done.");
  assert.deepEqual(made, ["cms_createPage"]);
  await assert.rejects(ai.generateText({ model, prompt: "x", ...settings }), /settings\.call/);
});

test("a search that fails tells the model what to do, and no address", async (t) => {
  const { url: there } = await balancer(t, ({ path }) => (path === "search-tools" ? { status: 500, body: "Traceback /srv/app.py" } : url));
  const { model, saw } = scripted(calls(["c1", "tool_search", { query: "create a page", limit: -3 }]), says("Sorry."));
  await new ai.ToolLoopAgent({ model, ...bounded(new Cuecard({ url: there, retries: 0 })), tools: hostTools() }).generate({ prompt: "x" });
  const told = JSON.stringify(saw[1].messages.at(-1));
  assert.match(told, /Search once more/);
  assert.doesNotMatch(told, /127\.0|Traceback|\/v1|CuecardError/);
  for (const limit of [0, -3, 2.7, 9999, NaN, "5"]) assert.ok((await new Conversation(client, { agent: "cms" }).search("create a page", limit)).tools.length);
});

test("a proxy that buffers, compresses and strips headers changes nothing, or is named", async (t) => {
  const { url: packed } = await balancer(t, () => url, { stripped: ["x-request-id", "accept-encoding"], compresses: true });
  const chat = new Conversation(new Cuecard({ url: packed }), { agent: "cms" });
  assert.equal((await chat.user()).system, (await new Conversation(client, { agent: "cms" }).user()).system);
  const { url: bare } = await balancer(t, () => url, { stripped: ["content-type"] });
  await assert.rejects(new Conversation(new Cuecard({ url: bare }), { agent: "cms" }).user(), { code: "wrong-media-type", status: 415 });
});

test("a clock that jumps neither ends a request nor lets one wait for hours", async (t) => {
  const now = Date.now;
  t.after(() => (Date.now = now));
  const hours = (count) => (Date.now = () => now() + count * 3_600_000);
  for (const jump of [6, -6]) {
    let asked = 0;
    const headers = () => ({ date: new Date(now()).toUTCString(), "retry-after": new Date(now() + 1000).toUTCString() });
    const { url: there } = await balancer(t, () => (asked++ ? url : (hours(jump), { status: 503, headers: headers() })));
    const begun = performance.now();
    assert.ok((await new Conversation(new Cuecard({ url: there }), { agent: "cms" }).user()).system);
    assert.ok(performance.now() - begun < 15_000);
    Date.now = now;
  }
});

test("a stream that is aborted in mid-answer loses nothing, and the next message goes on", async () => {
  made.length = 0;
  const stop = new AbortController();
  const { model, saw } = scripted(search("c1", "create a page"), calls(["c2", "cms_createPage"]), says("You will never read all of this."), says("Here I am."));
  const chat = new Conversation(client, { agent: "cms" });
  const agent = new ai.ToolLoopAgent({ model, ...bounded(client), tools: hostTools() });
  const messages = [{ role: "user", content: "A page" }];
  const streamed = await agent.stream({ messages, options: { chat }, abortSignal: stop.signal });
  for await (const part of streamed.fullStream) if (part.type === "text-delta") stop.abort();
  assert.deepEqual(made, ["cms_createPage"]);
  const kept = new Conversation(client, { agent: "cms", text: await chat.end() });
  const shown = saw[2].messages.filter(({ providerOptions }) => !providerOptions?.cuecard);
  const again = await agent.generate({ messages: [...shown, { role: "user", content: "Are you there?" }], options: { chat: kept } });
  assert.equal(again.text, "Here I am.");
  assert.equal(saw[3].system, saw[2].system);
  assert.ok(kept.step.active_tools.includes("cms_createPage"), "what was found stays found");
});

test("of two tabs that send at once, the second to end is told that the conversation went on", async () => {
  const begun = new Conversation(client, { agent: "cms" });
  await begun.user();
  let stored = begun.text;
  const tab = async () => {
    const chat = new Conversation(client, { agent: "cms", text: stored });
    await new ai.ToolLoopAgent({ model: scripted(says("Hi.")).model, ...bounded(client), tools: hostTools() }).generate({ prompt: "Hi", options: { chat } });
    if (stored !== chat.from) return "told";
    stored = chat.text;
    return "stored";
  };
  assert.deepEqual((await Promise.all([tab(), tab()])).sort(), ["stored", "told"]);
});

test("two messages at once: the second is told, and the answer to the first goes on", async () => {
  const chat = new Conversation(client, { agent: "cms" });
  const [first, second] = await Promise.allSettled([chat.user(), chat.user()]);
  assert.equal(first.status, "fulfilled");
  assert.deepEqual([second.reason.code, second.reason.status], ["two-at-once", 409]);
  assert.equal(chat.from, undefined);
  const one = [{ type: "page", id: "p1", name: "Home" }];
  await Promise.all([chat.remember(one), chat.remember([{ type: "page", id: "p2", name: "Team" }]), chat.next()]);
  assert.deepEqual((await chat.remember([])).map(({ id }) => id).sort(), ["p1", "p2"]);
});

test("a message waits for what ends the one before", async () => {
  const chat = new Conversation(client, { agent: "cms" });
  await chat.user();
  const [, step] = await Promise.all([chat.end(), chat.user()]);
  assert.equal(step.turns.length, 2);
});
