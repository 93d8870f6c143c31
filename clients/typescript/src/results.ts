import type { Result } from "./client.js";
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
      ? message.content
          .filter((part) => part.type === "tool-result")
          .map((part) => toResult(part, batchOf(messages, at), failed.has(part.toolCallId), asked.get(part.toolCallId)))
      : [],
  );
}

/** The messages with results as the texts that the agent file makes of them; one with media in it stays as it is. */
export function withTexts(messages: readonly Message[], text: (callId: string) => string | undefined): Message[] {
  const one = (part: any) => {
    const made = part.type === "tool-result" && isText(part.output) ? text(part.toolCallId) : undefined;
    if (made === undefined) return part;
    const failed = part.output.type === "error-text" || part.output.type === "error-json";
    return { ...part, output: { type: failed ? "error-text" : "text", value: made } };
  };
  return messages.map((message) =>
    message.role === "tool" && Array.isArray(message.content) ? { ...message, content: message.content.map(one) } : message,
  );
}

function isText(output: any): boolean {
  if (output?.type === "content") return output.value.every((part: any) => part.type === "text");
  return ["text", "json", "error-text", "error-json"].includes(output?.type);
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
    is_error: failed || type === "error-text" || type === "error-json" || type === "execution-denied",
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
