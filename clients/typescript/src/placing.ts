import type { Placed, Step } from "./client.js";

/** A message of the AI SDK, as far as it matters here. */
export interface Message {
  role: string;
  content: unknown;
  providerOptions?: Record<string, any>;
}

/** In which role blocks are sent. */
export type Role = "user" | "system";

const MARK = "cuecard";

/** The messages without the blocks of an earlier request. */
export function unmarked(messages: readonly Message[]): Message[] {
  return messages.filter(({ providerOptions }) => !providerOptions?.[MARK]);
}

/** What the service has to know of messages for the places of blocks: the ids of results, or the role. */
export function outline(messages: readonly Message[]): (string | string[])[] {
  return messages.map(({ role, content }) => {
    const parts: any[] = role === "tool" && Array.isArray(content) ? content : [];
    const ids = parts.filter(({ type }) => type === "tool-result").map(({ toolCallId }) => toolCallId);
    return ids.length ? ids : role;
  });
}

/**
 * The messages with the step's blocks behind them, as the service has told.
 *
 * Where the model checks its thinking, that of turns whose own texts are gone goes with them.
 */
export function placed(messages: readonly Message[], step: Step, { behind, thoughtless }: Placed, role: Role): Message[] {
  const block = (number: number): Message => {
    const { id, text } = step.appended[number]!;
    const content = role === "user" ? step.reminder.replace("{text}", () => text) : text;
    return { role, content, providerOptions: { [MARK]: { block: id } } };
  };
  let waiting: Message[] = [];
  return messages.flatMap((message, at) => {
    waiting.push(...behind[at]!.map(block));
    const own = thoughtless.includes(at) ? withoutThinking(message) : [message];
    // Models that take messages of the system mid-conversation take one, in front of an answer.
    if (role === "system") {
      if (messages[at + 1] && messages[at + 1]!.role !== "assistant") return own;
      if (waiting[1]) waiting = [{ ...waiting[0]!, content: waiting.map((each) => each.content).join("\n") }];
    }
    return [...own, ...waiting.splice(0)];
  });
}

function withoutThinking(message: Message): Message[] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return [message];
  const content = message.content.filter((part) => !/^reasoning(-file)?$/.test(part.type));
  return content.length ? [{ ...message, content }] : [];
}
