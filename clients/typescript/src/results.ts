import type { Reads, Result } from "./client.js";
import { objectIn } from "./errors.js";
import { unmarked, type Message } from "./placing.js";

/**
 * The messages without blocks, in which each call has an id of its own, and the results in them.
 *
 * A model may repeat an id, or give none. Of several calls with one id, a result answers the first of the last answer
 * that has none yet. Read again, the messages get the same ids.
 *
 * The SDK reads from stored messages what it had otherwise in the run: all results of an answer in one message, in the
 * order of the calls, and a denied call as one that failed. So they are that here, and each request begins as the last.
 *
 * A tool of an MCP server that fails is a result like others to the SDK, and only its raw output, in the last of the
 * `steps`, says so.
 */
export function toldApart(messages: readonly Message[], steps: readonly any[] = []): { messages: Message[]; results: Result[] } {
  const asked = new Map<string, unknown>();
  const last = new Map<string, string>();
  const waiting = new Map<string, string[]>();
  const results: Result[] = [];
  const stored = joined(unmarked(messages));
  const answered = stored.map(({ role }) => role).lastIndexOf("assistant");
  const told = stored.map((message, at) => {
    const { role, content } = message;
    let batch: string | undefined; // results of one message belong to calls of one message
    if (role === "assistant") waiting.clear();
    const order = [...waiting.keys()]; // nothing while an answer is read, whose parts stay in theirs
    const place = ({ toolCallId }: any) => order.indexOf(toolCallId || "call") >>> 0; // last, where it is not there
    const named = (each: any) => {
      const part = failed(each);
      const { type, toolCallId, toolName: tool, output } = part;
      if (toolCallId === undefined) return part;
      const id: string = toolCallId || "call";
      let name = last.get(id) ?? id;
      if (type === "tool-call") {
        for (let number = 1; asked.has(name); number++) name = numbered(id, number);
        asked.set(name, part.input);
        waiting.set(id, [...(waiting.get(id) ?? []), name]);
      } else if (type === "tool-result") {
        name = waiting.get(id)?.shift() ?? name;
        const given = asked.get(name) ?? null;
        asked.set(name, given);
        const isRaw = (raw: any) => raw.toolCallId === toolCallId && raw.toolName === tool && raw.output?.isError === true;
        const is_error = /^error-|^execution-denied$/.test(output?.type) || (at > answered && !!steps.at(-1)?.toolResults?.some(isRaw));
        if (role === "tool") results.push({ tool, call_id: name, result: output?.value ?? null, is_error, batch: (batch ??= name), arguments: given });
      }
      last.set(id, name);
      return { ...part, toolCallId: name };
    };
    if (!Array.isArray(content)) return message;
    return { ...message, content: [...content].sort((one, other) => place(one) - place(other)).map(named) };
  });
  return { messages: told, results };
}

/** The messages with results that follow each other in one. */
function joined(messages: readonly Message[]): Message[] {
  const made: any[] = [];
  for (const message of messages) {
    const follows = message.role === "tool" && made.at(-1)?.role === "tool";
    made.push(follows ? { ...message, content: made.pop().content.concat(message.content) } : message);
  }
  return made;
}

/** The result of a denied call as one that failed; what a provider has denied itself, it knows by what it said. */
function failed(part: any): any {
  const { type, reason = "Tool call execution denied.", providerOptions } = part.output ?? {};
  return type === "execution-denied" && !providerOptions ? { ...part, output: { type: "error-text", value: reason } } : part;
}

/** The messages with results as the texts that the agent file makes of them; one with media in it stays as it is. */
export function withTexts(messages: readonly Message[], text: (callId: string) => string | undefined): Message[] {
  const one = (part: any) => {
    const made = part.type === "tool-result" && isText(part.output) ? text(part.toolCallId) : undefined;
    if (made === undefined) return part;
    return { ...part, output: { type: part.output.type.startsWith("error-") ? "error-text" : "text", value: made } };
  };
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(one) } : message,
  );
}

function isText(output: any): boolean {
  if (output?.type === "content") return output.value.every((part: any) => part.type === "text");
  return /^(error-)?(text|json)$/.test(output?.type);
}

/** The id with a number behind it from 2 on, no longer than every provider takes. */
export function numbered(id: string, number: number): string {
  const end = number > 1 ? `-${number}` : "";
  return id.slice(0, Math.max(id.length, 40) - end.length) + end;
}

/** Whether the tool has asked for a confirmation, and has done nothing yet; `words` as in what is read of results. */
export function waits({ pending, result }: Result, words: readonly string[] = []): boolean {
  return pending || words.some((word) => bareJson(result).includes(`${word}:true`));
}

/** The JSON of a body, in which that of a text in it reads alike. */
function bareJson(body: unknown): string {
  return (JSON.stringify(body) ?? "").replace(/\\|(:)\s+/g, "$1");
}

/**
 * What is sent of results: no body that the agent does not read, of lists what it reads, and nothing that is too large.
 *
 * `isKnown` says of which the conversation knows; of those, only the ones that are told in the agent's words go again.
 */
export function sendable(results: readonly Result[], reads: Reads | undefined, isKnown: (result: Result) => boolean): Result[] {
  const sent = results.flatMap((result): { result: Result; most?: number }[] => {
    const { tool, result: body, arguments: _, ...bare } = result;
    const isNew = !isKnown(result);
    const read = reads && tool ? reads.tools[tool] : WHOLE;
    if (read === TOLD || (read === WHOLE && isNew)) return [{ result: { ...result, result: body ?? null }, most: Infinity }];
    const text = bareJson(body);
    if (read !== undefined && reads!.words.some((word) => text.includes(word))) return [{ result, most: LONG }];
    if (!isNew) return [];
    if (read !== IN_PARTS) return [{ result: { tool: tool!, ...bare } }];
    return [{ result: reads!.lists.includes(tool!) ? result : { ...result, result: begun(body, reads!.items) }, most: LONG }];
  });
  const each = (reads?.room ?? Infinity) / sent.filter(({ most }) => most).length;
  return sent.map(({ result, most }) => (most ? fitting(result, each, most) : result));
}

/** The body with the first items of its lists, also within a text that is JSON; pieces of one text stay together. */
function begun(body: unknown, items: number): unknown {
  const cut = (_: string, value: any): unknown => {
    if (Array.isArray(value)) return value[0]?.text === undefined ? value.slice(0, items) : value;
    if (typeof value !== "string" || /\d{16}/.test(value)) return value; // a number that JavaScript would round
    const held = objectIn(value);
    return Object.keys(held).length ? JSON.stringify(held, cut) : value;
  };
  return JSON.parse(JSON.stringify(body ?? null, cut));
}

/** What is read of a tool's results. */
const [IN_PARTS, WHOLE, TOLD] = [1, 2, 3];

/** Characters of a text beyond which nobody looks for the id, the name or the key of something in it. */
const LONG = 1000;

/**
 * The result with texts in it cut in the middle that are longer than `most`; and shorter, until all of it has room.
 *
 * A text that may be JSON is cut only for want of room.
 */
function fitting(result: Result, room: number, most: number): Result {
  const { result: _, arguments: __, ...bare } = result;
  most = Math.min(most, room);
  for (let json = true; most >= 1; most /= json ? 1 : 4, json = false) {
    const cut = (_: string, value: unknown) =>
      typeof value === "string" && value.length > most && !(json && /^\s*[[{]/.test(value))
        ? entire(value.slice(0, most / 2)) + entire(value.slice(-most / 2))
        : value;
    const text = JSON.stringify(result, cut);
    if (text.length <= room) return JSON.parse(text);
  }
  return bare;
}

/** A part of a text without halves of characters at its ends. */
function entire(part: string): string {
  return part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
