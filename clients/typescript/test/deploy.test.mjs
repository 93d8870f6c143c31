// What a deploy does to a run: services are replaced, away for a while, and of other files. Each is a real `cuecard serve`.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import * as ai from "ai";
import { z } from "zod";
import { Cuecard } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";
import { balancer, calls, says, scripted, search } from "./support.mjs";

/** Two replicas of one agent, the process of the first, the file of its tools, and a replica of other files. */
const { service, next, pid, file, other } = JSON.parse(process.env.CUECARD_DEPLOY);
const made = [];
const tools = (...names) => Object.fromEntries(names.map((name) => [name, ai.tool({ description: name, inputSchema: z.object({}), execute: async () => (made.push(name), "made") })]));
const agentOf = (url, model, names = ["create_order", "delete_order"]) =>
  new ai.ToolLoopAgent({ model, tools: tools(...names), ...aiSdk(new Cuecard({ url }), { agent: "shop" }) });
const told = ({ messages }) => JSON.stringify(messages.filter((message) => message.role === "tool").at(-1));

test("a run goes on in strict turns between replicas of other files, and the model reads no error", async (t) => {
  const { url, seen } = await balancer(t, (_, number) => [service, other][number % 2]);
  const { model, saw } = scripted(search("c1", "create one order"), calls(["c2", "create_order"]), search("c3", "delete one order"), calls(["c4", "delete_order"]), says("Done."));
  made.length = 0;
  assert.equal((await agentOf(url, model).generate({ prompt: "An order" })).text, "Done.");
  assert.deepEqual(made, ["create_order", "delete_order"]);
  for (const request of saw.slice(1)) assert.doesNotMatch(told(request), /stale|files|409/);
  assert.ok(seen.some(({ body }) => body.includes('"anew"')), "a call was prepared anew, or nothing was tried");
});

test("an entry that a deploy of the prompts adds is found while Node goes on", async () => {
  const { model, saw } = scripted(says("Hi."), search("c1", "void one payment"), calls(["c2", "void_payment"]), says("End."));
  const agent = agentOf(service, model, ["create_order", "void_payment"]);
  const client = new Cuecard({ url: service });
  const known = async () => (await client.agents()).agents[0].tools.some(({ name }) => name === "void_payment");
  made.length = 0;
  await agent.generate({ prompt: "Hello" });
  assert.equal(await known(), false);
  appendFileSync(file, "  void_payment: {description: void one payment., before: B, after: A, next: N, gotcha: G}\n");
  for (let looks = 0; looks < 300 && !(await known()); looks++) await new Promise((resolve) => setTimeout(resolve, 100));
  await agent.generate({ prompt: "Void it" });
  assert.match(told(saw[2]), /void_payment/);
  assert.deepEqual(made, ["void_payment"]);
});

test("a run outlasts five seconds without a replica, with what is set unless told", async (t) => {
  let gone = Infinity;
  const { url, seen } = await balancer(t, () => (performance.now() < gone + 5000 ? service : next)); // 502 while it is away
  const killed = async () => {
    process.kill(pid, "SIGKILL"); // an end without a word, as of a container
    gone = performance.now();
    return calls(["c2", "create_order"]);
  };
  const { model } = scripted(search("c1", "create one order"), killed, says("Done."));
  made.length = 0;
  assert.equal((await agentOf(url, model).generate({ prompt: "An order" })).text, "Done.");
  assert.deepEqual(made, ["create_order"]);
  assert.ok(seen.length > 5, "it was asked again");
});
