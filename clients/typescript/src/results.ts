import type { Reads, Result } from "./client.js";
import { objectIn } from "./errors.js";
import type { Message } from "./placing.js";

/**
 * The tool results in messages of the AI SDK.
 *
 * A tool of an MCP server that fails is a result like others to the SDK, and only its raw output, in `steps`, says so.
 */
export function resultsIn(messages: readonly Message[], steps: readonly any[] = []): Result[] {
  const raw = steps.flatMap((step) => step.toolResults ?? []);
  const failed = new Set(raw.filter((result) => result.output?.isError === true).map((result) => result.toolCallId));
  const asked = new Map<string, unknown>(partsOf(messages, "tool-call").map((part) => [part.toolCallId, part.input]));
  return messages.flatMap((message, at) =>
    message.role === "tool" && Array.isArray(message.content)
      ? partsOf([message], "tool-result").map((part) =>
          toResult(part, batchOf(messages, at), failed.has(part.toolCallId), asked.get(part.toolCallId)),
        )
      : [],
  );
}

/** The messages with results as the texts that the agent file makes of them; one with media in it stays as it is. */
export function withTexts(messages: readonly Message[], text: (callId: string) => string | undefined): Message[] {
  const one = (part: any) => {
    const made = part.type === "tool-result" && isText(part.output) ? text(part.toolCallId) : undefined;
    if (made === undefined) return part;
    return { ...part, output: { type: part.output.type.startsWith("error-") ? "error-text" : "text", value: made } };
  };
  return messages.map((message) =>
    message.role === "tool" && Array.isArray(message.content) ? { ...message, content: message.content.map(one) } : message,
  );
}

function isText(output: any): boolean {
  if (output?.type === "content") return output.value.every((part: any) => part.type === "text");
  return /^(error-)?(text|json)$/.test(output?.type);
}

function partsOf(messages: readonly Message[], type: string): any[] {
  const parts = messages.flatMap((message) => (Array.isArray(message.content) ? (message.content as any[]) : []));
  return parts.filter((part) => part.type === type);
}

function toResult(part: any, batch: string, failed: boolean, asked: unknown): Result {
  const { type, value } = part.output ?? {};
  return {
    tool: part.toolName,
    call_id: part.toolCallId,
    result: value ?? null,
    is_error: failed || /^error-|^execution-denied$/.test(type),
    batch,
    arguments: asked ?? null,
  };
}

/** Results that follow each other belong to calls of one message. */
function batchOf(messages: readonly Message[], at: number): string {
  while (messages[at - 1]?.role === "tool") at--;
  const first: any = (messages[at]!.content as any[])[0];
  return `batch-${first?.toolCallId ?? at}`;
}

/**
 * What is sent of results: no body that the agent does not read, of lists what it reads, and nothing that is too large.
 *
 * `isKnown` says of which the conversation knows; of those, only the ones that are told in the agent's words go again.
 */
export function sendable(results: readonly Result[], reads: Reads | undefined, isKnown: (id: string) => boolean): Result[] {
  const sent = results.flatMap((result): { result: Result; most?: number }[] => {
    const { tool, result: body, arguments: _, ...bare } = result;
    const isNew = !isKnown(result.call_id ?? "");
    const read = reads && tool ? reads.tools[tool] : WHOLE;
    if (read === TOLD || (read === WHOLE && isNew)) return [{ result: { ...result, result: body ?? null }, most: Infinity }];
    const text = JSON.stringify(body) ?? "";
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
