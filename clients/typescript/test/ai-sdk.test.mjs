// The real AI SDK, both versions, with its own mock model, against a running service: what the model saw.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ai6 from "ai6";
import { MockLanguageModelV3 } from "ai6/test";
import * as ai7 from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { Conversation, Cuecard } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";

const client = new Cuecard({ url: process.env.CUECARD_URL });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const versions = [
  { name: "ai 6", ai: ai6, Model: MockLanguageModelV3 },
  { name: "ai 7", ai: ai7, Model: MockLanguageModelV4 },
];

const calls = (...made) => ({
  content: made.map(([toolCallId, toolName, input]) => ({ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) })),
  finishReason: { unified: "tool-calls", raw: undefined },
  usage,
  warnings: [],
});
const says = (text) => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw: undefined },
  usage,
  warnings: [],
});

/** A model that answers by turns, and keeps what it saw. */
function scripted(Model, answers) {
  const saw = [];
  const model = new Model({
    modelId: "scripted",
    doGenerate: async ({ prompt, tools }) => {
      saw.push({
        system: prompt.filter((m) => m.role === "system").map((m) => m.content).join("\n"),
        messages: prompt.filter((m) => m.role !== "system"),
        tools: (tools ?? []).map((t) => t.name),
      });
      return answers[saw.length - 1];
    },
  });
  return { model, saw };
}

function hostTools(ai, made) {
  const noted = (name, answer) => async (input) => (made.push([name, input]), answer(input));
  return {
    cms_createPage: ai.tool({
      description: "Create a page.",
      inputSchema: z.object({ name: z.string() }),
      execute: noted("cms_createPage", ({ name }) => ({ success: true, page: { id: `page-${name}`, name } })),
    }),
    cms_deletePage: ai.tool({
      description: "Delete a page.",
      inputSchema: z.object({ id: z.string() }),
      execute: noted("cms_deletePage", () => ({ success: true })),
    }),
    weather: ai.tool({ description: "No tool of the agent.", inputSchema: z.object({}), execute: noted("weather", () => "rain") }),
  };
}

const text = (message) => (typeof message.content === "string" ? message.content : message.content.map((p) => p.text ?? "").join(""));
const roles = ({ messages }) => messages.map((m) => m.role).join(" ");

for (const { name, ai, Model } of versions) {
  test(`${name}: two turns of several steps`, async () => {
    const made = [];
    const { model, saw } = scripted(Model, [
      calls(["c1", "cms_deletePage", { id: "p" }]),
      calls(["c2", "tool_search", { query: "create a page" }]),
      calls(["c3", "cms_createPage", { name: "About" }], ["c4", "weather", {}]),
      says("Done."),
      calls(["c5", "cms_createPage", { name: "Team" }]),
      says("Done again."),
    ]);
    const chat = new Conversation(client, { agent: "cms" });
    const agent = new ai.ToolLoopAgent({
      model,
      tools: hostTools(ai, made),
      ...aiSdk(client, { agent: "cms", conversation: (options) => options.chat }),
    });
    const messages = [{ role: "user", content: "Make a page." }];
    const first = await agent.generate({ messages, options: { chat } });
    const second = await agent.generate({
      messages: [...messages, ...(first.responseMessages ?? first.response.messages), { role: "user", content: "One more." }],
      options: { chat: new Conversation(client, { agent: "cms", text: chat.text }) },
    });

    assert.equal(first.text, "Done.");
    assert.equal(second.text, "Done again.");
    assert.equal(saw.length, 6);
    assert.deepEqual(made, [["cms_createPage", { name: "About" }], ["weather", {}], ["cms_createPage", { name: "Team" }]]);

    // The system prompt is the agent's, and the same in every request; so are the definitions in front of it.
    assert.match(saw[0].system, /<agent>/);
    assert.doesNotMatch(saw[0].system, /<cms_createPage>/);
    for (const each of saw) assert.deepEqual([each.system, each.tools], [saw[0].system, saw[0].tools]);
    assert.deepEqual([...saw[0].tools].sort(), ["cms_createPage", "cms_deletePage", "tool_search", "weather"]);

    // A tool that nobody has searched for is refused with what to do, and has not run.
    const refused = JSON.stringify(saw[1].messages.at(-1).content);
    assert.match(refused, /`cms_deletePage` is not active\. Call `tool_search`/);

    // What the search has found comes with its instructions, once, behind the result, and stays there.
    assert.equal(roles(saw[2]), "user assistant tool assistant tool user");
    assert.match(text(saw[2].messages[5]), /<system-reminder>[^]*<cms_createPage>/);
    assert.match(JSON.stringify(saw[2].messages[4].content), /cms_createPage/);
    for (const [n, each] of saw.slice(3).entries()) {
      assert.deepEqual(each.messages.slice(0, 6), saw[2].messages, `request ${n + 4} begins as the third did`);
      assert.deepEqual(each.messages.slice(0, saw[n + 2].messages.length), saw[n + 2].messages);
    }

    // What the first turn has made is in the working memory of the second.
    assert.equal(roles(saw[4]), "user assistant tool assistant tool user assistant tool assistant user user");
    assert.match(text(saw[4].messages.at(-1)), /"About" \(page-About\)/);
  });

  test(`${name}: the limits of a run are carried out`, async () => {
    const made = [];
    const asked = [];
    const model = new Model({
      modelId: "scripted",
      doGenerate: async ({ toolChoice }) => {
        asked.push(toolChoice);
        return calls([`w${asked.length}`, "cms_createPage", { name: "About" }]);
      },
    });
    const run = { steps: 3, retries: 0, first_tool: "cms_createPage", force_first: true };
    const agent = new ai.ToolLoopAgent({
      model,
      tools: hostTools(ai, made),
      stopWhen: ai.stepCountIs?.(9) ?? ai.isStepCount(9),
      ...aiSdk(client, { agent: "cms", turn: { run, discovered: ["cms_createPage"] } }),
    });

    await assert.rejects(agent.generate({ prompt: "Make a page." }), /run\.steps: 3/);
    assert.deepEqual(asked[0], { type: "tool", toolName: "cms_createPage" });
    assert.deepEqual(asked.slice(1).map((choice) => choice?.type ?? "auto"), ["auto", "auto"]);
    assert.equal(made.length, 3);
  });

  test(`${name}: nobody is asked to approve a call that is refused, and an approved one is looked at again`, async () => {
    const made = [];
    const asking = (agent, answers) => {
      const { cms_deletePage, ...others } = hostTools(ai, made);
      const tools = { ...others, cms_deletePage: { ...cms_deletePage, needsApproval: true } };
      return new ai.ToolLoopAgent({ model: scripted(Model, answers).model, tools, ...aiSdk(client, { agent: "cms" }) });
    };
    const approvals = ({ content }) => content.filter((part) => part.type === "tool-approval-request");
    const call = calls(["c2", "cms_deletePage", { id: "p" }]);
    const refused = await asking("cms", [call, says("ok")]).generate({ prompt: "Delete it." });
    assert.deepEqual([refused.text, approvals(refused.steps[0])], ["ok", []]);

    const waiting = await asking("cms", [calls(["c1", "tool_search", { query: "delete a page", limit: 1 }]), call]).generate({ prompt: "Delete it." });
    const [asked] = approvals(waiting);
    assert.equal(asked.toolCall.toolName, "cms_deletePage");
    assert.deepEqual(made, []);

    const said = [{ role: "user", content: "Delete it." }, ...(waiting.responseMessages ?? waiting.response.messages)];
    const approved = { role: "tool", content: [{ type: "tool-approval-response", approvalId: asked.approvalId, approved: true }] };
    const unsearched = [said[0], ...said.slice(3)]; // as if nobody had found it
    await asking("cms", [says("no")]).generate({ messages: [...unsearched, approved] });
    assert.deepEqual(made, []);
    await asking("cms", [says("yes")]).generate({ messages: [...said, approved] });
    assert.deepEqual(made, [["cms_deletePage", { id: "p" }]]);
  });

  test(`${name}: a stream to a browser has nothing of the prompt`, async () => {
    const chunks = [
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "Hello" },
      { type: "text-end", id: "1" },
      { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage },
    ];
    const model = new Model({ doStream: async () => ({ stream: ai.simulateReadableStream({ chunks }) }) });
    const agent = new ai.ToolLoopAgent({ model, tools: hostTools(ai, []), ...aiSdk(client, { agent: "cms" }) });
    const told = [];
    for await (const chunk of (await agent.stream({ prompt: "Hi." })).toUIMessageStream()) told.push(chunk);

    assert.match(JSON.stringify(told), /Hello/);
    assert.doesNotMatch(JSON.stringify(told), /identity|content management|conversation/);
  });

  test(`${name}: ten runs at once do not see each other`, async () => {
    const found = ["cms_createPage", "cms_deletePage"];
    const answers = (prompt, n) =>
      prompt.filter((m) => m.role === "tool").length ? says(`run ${n}`) : calls([`c${n}`, "tool_search", { query: n % 2 ? "delete a page" : "create a page", limit: 1 }]);
    const saw = Array.from({ length: 10 }, () => []);
    const model = new Model({
      doGenerate: async ({ prompt }) => {
        const n = Number(/run (\d+)/.exec(JSON.stringify(prompt.filter((m) => m.role === "user")))[1]);
        saw[n].push(JSON.stringify(prompt));
        return answers(prompt, n);
      },
    });
    const agent = new ai.ToolLoopAgent({ model, tools: hostTools(ai, []), ...aiSdk(client, { agent: "cms" }) });
    const done = await Promise.all(saw.map((_, n) => agent.generate({ prompt: `run ${n}` })));

    for (const [n, requests] of saw.entries()) {
      assert.equal(done[n].text, `run ${n}`);
      assert.equal(requests.length, 2);
      assert.match(requests[1], new RegExp(`<${found[n % 2]}>`));
      assert.doesNotMatch(requests[1], new RegExp(`<${found[(n + 1) % 2]}>`));
      assert.equal(requests[1].match(/run \d+/g).every((told) => told === `run ${n}`), true);
    }
  });

  test(`${name}: under rewrite only active tools are shown`, async () => {
    const { model, saw } = scripted(Model, [calls(["c1", "tool_search", { query: "create a page", limit: 1 }]), says("ok")]);
    const settings = aiSdk(client, { agent: "cms", turn: { delivery: "rewrite" } });
    await new ai.ToolLoopAgent({ model, tools: hostTools(ai, []), ...settings }).generate({ prompt: "Hi" });

    assert.deepEqual([...saw[0].tools].sort(), ["tool_search", "weather"]);
    assert.deepEqual([...saw[1].tools].sort(), ["cms_createPage", "tool_search", "weather"]);
    assert.match(saw[1].system, /<cms_createPage>/);
    assert.equal(roles(saw[1]), "user assistant tool");
  });

  test(`${name}: blocks in the role of the system, streamed`, async () => {
    const requests = [];
    const chunks = [
      [{ type: "tool-call", toolCallId: "c1", toolName: "tool_search", input: '{"query":"create a page","limit":1}' }, "tool-calls"],
      [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "ok" }, { type: "text-end", id: "1" }, "stop"],
    ];
    const model = new Model({
      doStream: async ({ prompt }) => {
        const made = chunks[requests.push(prompt) - 1];
        const finish = { type: "finish", finishReason: { unified: made.at(-1), raw: undefined }, usage };
        return { stream: ai.simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...made.slice(0, -1), finish] }) };
      },
    });
    const settings = aiSdk(client, { agent: "cms", role: "system", turn: { authority: "system" } });
    const result = await new ai.ToolLoopAgent({ model, tools: hostTools(ai, []), ...settings }).stream({ prompt: "Hi" });

    assert.equal(await result.text, "ok");
    assert.equal(requests[1].map((m) => m.role).join(" "), "system user assistant tool system");
    assert.match(requests[1][4].content, /<cms_createPage>/);
  });

  test(`${name}: an agent that the service does not have, and a missing prepareCall`, async () => {
    const { model } = scripted(Model, [says("no")]);
    const wrong = new ai.ToolLoopAgent({ model, ...aiSdk(client, { agent: "cmss" }) });
    const half = new ai.ToolLoopAgent({ model, prepareStep: aiSdk(client, { agent: "cms" }).prepareStep });

    await assert.rejects(wrong.generate({ prompt: "Hi" }), /no agent `cmss` is served here; did you mean `cms`/);
    await assert.rejects(half.generate({ prompt: "Hi" }), /give the agent `prepareCall`/);
  });
}

for (const { name, ai, Model } of versions) {
  test(`${name}: a tool that the user's own words find is there at once, whatever form they have`, async () => {
    const tools = Object.fromEntries(["create_order", "delete_order"].map((each) => [each, ai.tool({ description: each, inputSchema: z.object({}), execute: () => `${each} has run` })]));
    const forms = [
      { prompt: "Please delete an order" },
      { prompt: [{ role: "user", content: [{ type: "text", text: "Please delete" }, { type: "text", text: "an order" }] }] },
      { messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello." }, { role: "user", content: "Please delete an order" }] },
    ];
    const fresh = new Cuecard({ url: process.env.CUECARD_URL }); // nothing is known of the agent as the first one begins
    for (const form of forms) {
      const { model, saw } = scripted(Model, [calls(["c1", "delete_order", {}]), says("Gone.")]);
      await new ai.ToolLoopAgent({ model, tools, ...aiSdk(fresh, { agent: "finder" }) }).generate(form);
      assert.match(text(saw[0].messages.at(-1)), /It is gone for good/);
      assert.match(JSON.stringify(saw[1].messages), /delete_order has run/);
      assert.doesNotMatch(JSON.stringify(saw), /Prices are in cents/);
    }
    const settings = aiSdk(fresh, { agent: "finder", turn: { query: "create an order" } });
    const { model, saw } = scripted(Model, [says("Made.")]);
    await new ai.ToolLoopAgent({ model, tools, ...settings }).generate({ prompt: "Please delete an order" });
    assert.match(text(saw[0].messages.at(-1)), /Prices are in cents/, "what the host says counts");
    const much = scripted(Model, [says("Much.")]);
    await new ai.ToolLoopAgent({ model: much.model, tools, ...settings, ...aiSdk(fresh, { agent: "finder" }) }).generate({ prompt: "x".repeat(2_000_000) });
    assert.equal(much.saw.length, 1, "a long message ends no run");
  });
}
