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
  return messages.flatMap((message, at) =>
    message.role === "tool" && Array.isArray(message.content)
      ? message.content
          .filter((part) => part.type === "tool-result")
          .map((part) => toResult(part, batchOf(messages, at), failed.has(part.toolCallId)))
      : [],
  );
}

function toResult(part: any, batch: string, failed: boolean): Result {
  const { type, value } = part.output ?? {};
  return {
    tool: part.toolName,
    call_id: part.toolCallId,
    result: value ?? null,
    is_error: failed || type === "error-text" || type === "error-json" || type === "execution-denied",
    batch,
  };
}

/** Results that follow each other belong to calls of one message. */
function batchOf(messages: readonly Message[], at: number): string {
  while (messages[at - 1]?.role === "tool") at--;
  const first: any = (messages[at]!.content as any[])[0];
  return `batch-${first?.toolCallId ?? at}`;
}
