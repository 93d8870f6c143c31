import { readFileSync } from "node:fs";
import { Dotprompt } from "dotprompt";
const asked = JSON.parse(readFileSync(0, "utf8"));
const made = await (await new Dotprompt({ partials: asked.partials }).compile(asked.source))({ input: asked.input });
const messages = made.messages.map((each) => [each.role, each.content.map((part) => part.text ?? "").join("")]);
console.log(JSON.stringify(messages));
