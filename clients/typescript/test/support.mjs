// What tests of hosts share: a model that follows a script, and a load balancer.
import { createServer, request } from "node:http";
import { createGzip } from "node:zlib";
import * as ai from "ai";
import { MockLanguageModelV4 } from "ai/test";

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const answer = (unified, ...content) => ({ content, finishReason: { unified, raw: undefined }, usage, warnings: [] });
export const calls = (...made) => answer("tool-calls", ...made.map(([toolCallId, toolName, input = {}]) => ({ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) })));
export const says = (text) => answer("stop", { type: "text", text });
export const search = (id, query) => calls([id, "tool_search", { query, limit: 1 }]);

/** A model that gives these answers; one may be a function that makes it. `saw` is what it was asked. */
export function scripted(...answers) {
  const saw = [];
  const note = ({ prompt, tools }) => {
    const [system, messages] = [prompt.filter((m) => m.role === "system"), prompt.filter((m) => m.role !== "system")];
    saw.push({ system: system.map((m) => m.content).join("\n"), messages, tools: (tools ?? []).map((t) => t.name) });
    const told = answers[saw.length - 1];
    return typeof told === "function" ? told() : told;
  };
  const parts = ({ content, finishReason }) => [
    { type: "stream-start", warnings: [] },
    ...content.flatMap((part, at) => (part.type === "text" ? [{ type: "text-start", id: `${at}` }, { type: "text-delta", id: `${at}`, delta: part.text }, { type: "text-end", id: `${at}` }] : [part])),
    { type: "finish", finishReason, usage },
  ];
  const doStream = async (asked) => ({ stream: ai.simulateReadableStream({ chunks: parts(await note(asked)) }) });
  return { saw, model: new MockLanguageModelV4({ modelId: "scripted", doGenerate: async (asked) => note(asked), doStream }) };
}

/**
 * A load balancer: `route` says of a request an address, or an answer of its own; `cut` ends it in its body.
 *
 * It buffers what it is asked, may strip headers of it, strips some of the answer, and compresses that if told to.
 */
export async function balancer(t, route, { stripped = [], compresses = false } = {}) {
  const seen = [];
  const server = createServer((req, res) => {
    const pieces = [];
    req.on("data", (piece) => pieces.push(piece));
    req.on("end", async () => {
      const body = Buffer.concat(pieces);
      seen.push({ path: req.url.split("/").at(-1), body: body.toString(), size: body.length, id: req.headers["x-request-id"] });
      const to = await route(seen.at(-1), seen.length - 1);
      if (typeof to !== "string") {
        res.writeHead(to.status ?? 200, { ...to.headers, ...(to.cut ? { "content-length": "1000" } : {}) });
        return to.cut ? (res.write('{"conversation": "'), setTimeout(() => res.destroy(), 20)) : to.silent || res.end(to.body ?? "");
      }
      const headers = { ...req.headers, host: new URL(to).host };
      for (const name of stripped) delete headers[name];
      const out = request(to + req.url, { method: req.method, headers }, (answered) => {
        const { "x-request-id": _, "retry-after": __, ...kept } = answered.headers; // a proxy may strip what it does not know
        if (!compresses) return (res.writeHead(answered.statusCode, kept), answered.pipe(res));
        delete kept["content-length"];
        res.writeHead(answered.statusCode, { ...kept, "content-encoding": "gzip" });
        answered.pipe(createGzip()).pipe(res);
      });
      out.on("error", () => res.writeHead(502).end());
      out.end(body);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  return { seen, url: `http://127.0.0.1:${server.address().port}` };
}
