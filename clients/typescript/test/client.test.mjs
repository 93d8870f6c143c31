// The plain client: errors, retries, replicas that answer in turn, conversations that are stored.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Conversation, Cuecard, CuecardError } from "../dist/index.js";

const url = process.env.CUECARD_URL;
const client = new Cuecard({ url, retries: 0 });
const FOUND = { tool: "tool_search", call_id: "c1", result: { tools: ["cms_createPage"] } };

test("a conversation, stored and gone on with", async () => {
  const chat = new Conversation(client, { agent: "cms" });
  assert.match(chat.refusal("cms_createPage"), /not called/, "nobody knows what may be called");
  await chat.user({ model: "claude-opus-4-8", run: { first_tool: "acknowledge" } });
  assert.equal(chat.call.delivery.authority, "system");
  assert.deepEqual((await chat.search("create a page", 1)).tools, ["cms_createPage"]);
  assert.match(chat.refusal("cms_createPage"), /not active/);

  const step = await chat.next([FOUND]);
  assert.match(chat.refusal("cms_createPage"), /call `acknowledge` first/, "the turn says so under `run`");
  assert.equal(chat.refusal("final_answer"), undefined);
  assert.equal(chat.refusal("acknowledge"), undefined);
  assert.equal(chat.refusal("cms_createPage"), undefined, "called beside it, in the same answer");
  await chat.next([{ tool: "acknowledge", call_id: "c2", result: {} }]);
  assert.equal(chat.refusal("cms_createPage"), undefined);
  assert.equal(chat.refusal("nobody_has_this"), undefined);
  assert.equal(step.appended[0].after_call_id, "c1");

  const later = new Conversation(client, { agent: "cms", text: chat.text });
  assert.match(later.refusal("cms_deletePage"), /not called/);
  assert.deepEqual(await later.remember([{ type: "page", id: "p1", name: "Home" }]), [{ type: "page", id: "p1", name: "Home", key: "" }]);
  assert.equal((await later.user()).system, step.system);
});

test("what is refused has its code and its problems", async () => {
  await assert.rejects(client.prepareCall({ agent: "cms", turn: { inptus: {} } }), (error) => {
    assert.ok(error instanceof CuecardError);
    assert.deepEqual([error.status, error.code, error.problems[0].hint], [422, "unknown-key", "did you mean `inputs`?"]);
    return true;
  });
  await assert.rejects(new Conversation(client).next(), { code: "no-call" });
  await assert.rejects(new Cuecard({ url: "http://127.0.0.1:9", retries: 1 }).agents(), { status: 0, code: "unreachable" });
});

test("a request that no replica could answer is sent again, and no other", async () => {
  let asked = 0;
  const flaky = createServer((request, response) => {
    asked += 1;
    if (asked === 1) return request.socket.destroy();
    if (asked === 2) return response.writeHead(503).end('{"code": "too-busy"}');
    response.writeHead(200, { "content-type": "application/json" }).end('{"api": 2, "agents": []}');
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => flaky.once("listening", resolve));
  const there = `http://127.0.0.1:${flaky.address().port}/`;

  assert.deepEqual(await new Cuecard({ url: there }).agents(), { api: 2, agents: [] });
  assert.equal(asked, 3);
  await assert.rejects(client.prepareCall({ agent: "nobody" }), { status: 404 });
  flaky.close();
});

test("a call that another replica cannot go on with is made anew, with all of its results", async () => {
  const sent = [];
  let stale = 0;
  const service = new Cuecard({
    url,
    fetch: async (address, init) => {
      const path = new URL(address).pathname;
      sent.push([path, JSON.parse(init.body)]);
      if (path === "/v1/prepare-step" && stale-- === 1) return Response.json({ code: "stale-call", detail: "" }, { status: 409 });
      return fetch(address, init);
    },
  });
  const chat = new Conversation(service, { agent: "cms" });
  await chat.user();
  await chat.next([FOUND]);
  stale = 1;
  const step = await chat.next([FOUND, { tool: "cms_createPage", call_id: "c2", result: {} }]);

  assert.deepEqual(sent.map(([path]) => path.slice(12)), ["call", "step", "step", "step"]);
  assert.deepEqual(sent.at(-1)[1].results.map((result) => result.call_id), ["c1", "c2"]);
  assert.deepEqual(sent[2][1].results.map((result) => result.call_id), ["c2"]);
  assert.ok(step.active_tools.includes("cms_createPage"));
});
