// The CMS assistant as an agent of the AI SDK: its prompt comes from `cuecard serve cms`, its tools from the CMS's MCP server.
//   node examples/cms.mjs                              a script decides, and everything else is real
//   node examples/cms.mjs anthropic/claude-opus-4-8    a model decides (with the key of the AI SDK's gateway)
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { createMCPClient } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { hasToolCall, stepCountIs, tool, ToolLoopAgent } from "ai";
import { Conversation, Cuecard } from "cuecard-client";
import { aiSdk } from "cuecard-client/ai-sdk";
import { z } from "zod";
import { scripted } from "./scripted.mjs";

const cuecard = new Cuecard({ url: process.env.CUECARD_URL ?? "http://127.0.0.1:8765", token: process.env.CUECARD_TOKEN });
const server = fileURLToPath(new URL("../../../examples/cms/server.py", import.meta.url));
const data = process.env.CMS_DATA ?? mkdtempSync(`${tmpdir()}/cms-`);
const transport = new StdioMCPTransport({ command: process.env.PYTHON ?? "python3", args: [server, "--data", data] });
const cms = await createMCPClient({ transport, protocolVersionDiscovery: false });

const agent = new ToolLoopAgent({
  model: process.argv[2] ?? scripted(),
  tools: {
    ...(await cms.tools()),
    acknowledge: tool({
      description: "Say in one sentence what you are about to do.",
      inputSchema: z.object({ message: z.string() }),
      execute: ({ message }) => (console.log(`  ${message}`), { acknowledged: true }),
    }),
    final_answer: tool({
      description: "Answer the user, and end the turn.",
      inputSchema: z.object({ answer: z.string() }),
      execute: ({ answer }) => ({ answer }),
    }),
  },
  stopWhen: [hasToolCall("final_answer"), stepCountIs(15)],
  ...aiSdk(cuecard, {
    agent: "cms",
    conversation: (options) => options.chat,
    onStep: ({ step }) => console.log(`  ${step.system.length} characters of prompt, ${step.appended.length} blocks behind it`),
  }),
});

const messages = [];
let text; // the signed conversation: a real host stores it with the messages
for (const content of ["Create an About page", "Put it into the menu"]) {
  console.log(`> ${content}`);
  messages.push({ role: "user", content });
  const chat = new Conversation(cuecard, { agent: "cms", text });
  const done = await agent.generate({ messages, options: { chat } });
  messages.push(...done.responseMessages);
  text = chat.text;
  const last = done.toolResults.find((result) => result.toolName === "final_answer");
  console.log(last?.output.answer ?? done.text);
}
await cms.close();
