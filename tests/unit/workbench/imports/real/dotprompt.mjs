import { readFileSync } from "node:fs";
import { Dotprompt } from "dotprompt";
const asked = JSON.parse(readFileSync(0, "utf8"));
const history = asked.history.map(([role, text]) => ({ role, content: [{ text }] }));
const data = { input: asked.input, messages: history };
const made = await (await new Dotprompt({ partials: asked.partials }).compile(asked.source))(data);
const messages = made.messages.map((each) => [each.role, each.content.map((part) => part.text ?? "").join("")]);
console.log(JSON.stringify(messages));
