// What a deploy does to a run: services are replaced, away for a while, and of other files. Each is a real `cuecard serve`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import * as ai from "ai";
import { z } from "zod";
import { Cuecard } from "../dist/index.js";
import { aiSdk } from "../dist/ai-sdk.js";
import { balancer, calls, says, scripted, search } from "./support.mjs";

const folder = mkdtempSync(join(tmpdir(), "cuecard-deploy-"));
const running = new Set();
after(() => {
  for (const process of running) process.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const entry = (name) => `  ${name}: {description: ${name.replace("_", " one ")}., before: B, after: A, next: N, gotcha: G}\n`;

function agentFiles(name, text) {
  const home = mkdtempSync(join(folder, name));
  const [file, tools] = [join(home, "agent.yaml"), join(home, "tools.yaml")];
  writeFileSync(tools, `category: shop\ntools:\n${entry("create_order")}${entry("delete_order")}`);
  const sections = `sections:\n  - {id: role, text: ${text}}\n  - {id: tools, text: "{{{activeProtocols}}}"}\n`;
  writeFileSync(file, `agent: shop\n${sections}tools: {instructions: tools.yaml}\ndelivery: append\n`);
  return { file, tools, states: join(home, "states") };
}

/** A service of its own process, once it is ready; `end` is its end without a word, as of a container. */
async function serve({ file, states }) {
  const command = join(dirname(process.env.PYTHON), "cuecard");
  const env = { ...process.env, CUECARD_KEY: "the key of both replicas, which is long enough", CUECARD_STATES: states };
  const started = spawn(command, ["serve", file, "--port", "0"], { env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(started);
  let told = "";
  const url = await new Promise((resolve, reject) => {
    const read = (piece) => {
      told += piece;
      const found = told.match(/"port": (\d+)/);
      if (found) resolve(`http://127.0.0.1:${found[1]}`);
    };
    started.stdout.on("data", read);
    started.stderr.on("data", read);
    started.on("exit", () => reject(new Error(told)));
  });
  const ended = new Promise((resolve) => started.once("exit", resolve));
  return { url, end: () => (started.kill("SIGKILL"), ended) };
}

const made = [];
const tools = (...names) => Object.fromEntries(names.map((name) => [name, ai.tool({ description: name, inputSchema: z.object({}), execute: async () => (made.push(name), "made") })]));
const agentOf = (url, model, names = ["create_order", "delete_order"]) =>
  new ai.ToolLoopAgent({ model, tools: tools(...names), ...aiSdk(new Cuecard({ url }), { agent: "shop" }) });
const told = ({ messages }) => JSON.stringify(messages.filter((message) => message.role === "tool").at(-1));

const files = agentFiles("a", "You run a shop.");
const service = await serve(files);

test("a run goes on in strict turns between replicas of other files, and the model reads no error", async (t) => {
  const other = await serve(agentFiles("b", "You run a small shop."));
  const { url, seen } = await balancer(t, (_, number) => [service.url, other.url][number % 2]);
  const { model, saw } = scripted(search("c1", "create one order"), calls(["c2", "create_order"]), search("c3", "delete one order"), calls(["c4", "delete_order"]), says("Done."));
  made.length = 0;
  assert.equal((await agentOf(url, model).generate({ prompt: "An order" })).text, "Done.");
  assert.deepEqual(made, ["create_order", "delete_order"]);
  for (const request of saw.slice(1)) assert.doesNotMatch(told(request), /stale|files|409/);
  assert.ok(seen.some(({ body }) => body.includes('"anew"')), "a call was prepared anew, or nothing was tried");
});

test("an entry that a deploy of the prompts adds is found while Node goes on", async () => {
  const { model, saw } = scripted(says("Hi."), search("c1", "void one payment"), calls(["c2", "void_payment"]), says("End."));
  const agent = agentOf(service.url, model, ["create_order", "void_payment"]);
  const client = new Cuecard({ url: service.url });
  const known = async () => (await client.agents()).agents[0].tools.some(({ name }) => name === "void_payment");
  made.length = 0;
  await agent.generate({ prompt: "Hello" });
  assert.equal(await known(), false);
  appendFileSync(files.tools, entry("void_payment"));
  for (let looks = 0; looks < 300 && !(await known()); looks++) await new Promise((resolve) => setTimeout(resolve, 100));
  await agent.generate({ prompt: "Void it" });
  assert.match(told(saw[2]), /void_payment/);
  assert.deepEqual(made, ["void_payment"]);
});

test("a run outlasts five seconds without a replica, with what is set unless told", async (t) => {
  const next = await serve(files);
  let gone = Infinity;
  const { url, seen } = await balancer(t, () => (performance.now() < gone + 5000 ? service.url : next.url)); // 502 while it is away
  const killed = async () => {
    await service.end();
    gone = performance.now();
    return calls(["c2", "create_order"]);
  };
  const { model } = scripted(search("c1", "create one order"), killed, says("Done."));
  made.length = 0;
  assert.equal((await agentOf(url, model).generate({ prompt: "An order" })).text, "Done.");
  assert.deepEqual(made, ["create_order"]);
  assert.ok(seen.length > 5, "it was asked again");
});
