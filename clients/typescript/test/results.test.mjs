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
