// Where blocks stand: behind their results and with their messages, in whatever the host has kept of a conversation.
import assert from "node:assert/strict";
import { test } from "node:test";
import { placed } from "../dist/placing.js";
import { toldApart } from "../dist/results.js";

const user = (content) => ({ role: "user", content });
const called = (id) => ({ role: "assistant", content: [{ type: "tool-call", toolCallId: id }] });
const result = (id) => ({ role: "tool", content: [{ type: "tool-result", toolCallId: id }] });
const block = (id, after_call_id, turn = null) => ({ id, text: `$& ${id}`, after_call_id, turn });
const step = (appended, turns = [null]) => ({ appended, turns, reminder: "<r>{text}</r>" });
const seen = (messages) => messages.map((m) => m.providerOptions?.cuecard.block ?? (m.role === "user" ? m.content : m.role[0])).join(" ");

test("behind the last result of the batch, once, however often", () => {
  const messages = [user("Hi"), called("a"), result("a"), result("b"), called("c"), result("c")];
  const found = step([block("X", "a"), block("Y", "c")]);
  const once = placed(messages, found, "user");

  assert.equal(seen(once), "Hi a t t X a t Y");
  assert.equal(once[4].content, "<r>$& X</r>");
  assert.deepEqual(placed(once, found, "user"), once);
  assert.equal(placed(messages, found, "system")[4].content, "$& X");
});

test("with the user's message, also where others of before the first turn are there, or the first are gone", () => {
  const found = step([block("X", null, 0), block("Y", null, 1), block("Z", "gone")], [null, "a"]);
  const messages = [user("of before"), called("0"), user("one"), called("a"), result("a"), user("two")];

  assert.equal(seen(placed(messages, found, "user")), "of before Z a one X a t two Y");
  assert.equal(seen(placed(messages.slice(4), found, "user")), "t X Z two Y");
});

test("at the end where nobody knows better", () => {
  assert.equal(seen(placed([user("Hi"), called("a")], step([block("X", null)]), "user")), "Hi X a");
});

test("what failed is told, also where only the raw output says so", () => {
  const output = (type, value) => ({ type: "tool-result", toolCallId: type, toolName: "t", output: { type, value } });
  const messages = [{ role: "tool", content: ["json", "text", "error-text", "execution-denied", "content"].map((type) => output(type, "x")) }];
  const steps = [{ toolResults: [{ toolCallId: "content", toolName: "t", output: { isError: true } }, { toolCallId: "json", toolName: "t", output: {} }] }];

  assert.deepEqual(toldApart(messages, steps).results.map((each) => each.is_error), [false, false, true, true, true]);
  assert.deepEqual(new Set(toldApart(messages).results.map((each) => each.batch)), new Set(["json"]));
});
