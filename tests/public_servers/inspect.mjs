// Asks one server a list of questions with the client of the official inspector, as its command line does: the words of
// the server's command in the arguments, [[method, ...arguments], ...] on standard input, the answers in the same order.
import { readFileSync } from 'node:fs';
import { callTool, connect, disconnect, getPrompt, listPrompts, listResources, readResource } from '@modelcontextprotocol/inspector-cli/build/client/index.js';
import { createTransport } from '@modelcontextprotocol/inspector-cli/build/transport.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';

const methods = {
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'resources/list': listResources,
  'resources/read': readResource,
  'tools/call': callTool,
};
const [command, ...args] = process.argv.slice(2);
const transport = createTransport({ transportType: 'stdio', command, args });
const client = new Client({ name: 'inspector-cli', version: '0.5.1' });
const answers = [];

await connect(client, transport);
for (const [method, ...given] of JSON.parse(readFileSync(0, 'utf8'))) {
  answers.push(await methods[method](client, ...given));
}
await disconnect(transport);
console.log(JSON.stringify(answers));
