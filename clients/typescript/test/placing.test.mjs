// Blocks among messages, where the service has placed them; and what of results the service is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { outline, placed } from "../dist/placing.js";
import { toldApart } from "../dist/results.js";

const user = (content) => ({ role: "user", content });
const called = (id) => ({ role: "assistant", content: [{ type: "reasoning", text: id }, { type: "tool-call", toolCallId: id }] });
const result = (...ids) => ({ role: "tool", content: ids.map((id) => ({ type: "tool-result", toolCallId: id })) });
const step = { appended: ["X", "Y"].map((id) => ({ id, text: `$& ${id}` })), reminder: "<r>{text}</r>" };
const messages = [user("Hi"), called("a"), result("a", "b"), { role: "assistant", content: [{ type: "reasoning", text: "c" }] }];

test("behind the messages that the service has told, once, however often", () => {
  const told = { behind: [[], [], [1, 0], []], thoughtless: [] };
  const once = placed(messages, step, told, "user");

  assert.deepEqual(outline(messages), ["user", "assistant", ["a", "b"], "assistant"]);
  assert.deepEqual(once.map((m) => m.providerOptions?.cuecard.block ?? m.role), ["user", "assistant", "tool", "Y", "X", "assistant"]);
  assert.equal(once[4].content, "<r>$& X</r>");
  assert.deepEqual(placed(toldApart(once).messages, step, told, "user"), once);
  assert.ok(placed(messages, step, told, "system").some(({ content }) => `${content}`.endsWith("$& X")));
});

test("without the thinking that goes, and the messages that are nothing else", () => {
  const bare = placed(messages, step, { behind: [[], [], [], [0]], thoughtless: [1, 2, 3] }, "user");

  assert.deepEqual(bare.slice(0, 3), [user("Hi"), { ...called("a"), content: called("a").content.slice(1) }, result("a", "b")]);
  assert.deepEqual(bare.slice(3).map((m) => m.content), ["<r>$& X</r>"]);
});

test("what failed is told, also where only the raw output says so", () => {
  const output = (type, value) => ({ type: "tool-result", toolCallId: type, toolName: "t", output: { type, value } });
  const messages = [{ role: "tool", content: ["json", "text", "error-text", "execution-denied", "content"].map((type) => output(type, "x")) }];
  const steps = [{ toolResults: [{ toolCallId: "content", toolName: "t", output: { isError: true } }, { toolCallId: "json", toolName: "t", output: {} }] }];

  assert.deepEqual(toldApart(messages, steps).results.map((each) => each.is_error), [false, false, true, true, true]);
  assert.deepEqual(new Set(toldApart(messages).results.map((each) => each.batch)), new Set(["json"]));
});
