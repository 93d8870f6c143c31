import type { Block, Step } from "./client.js";

/** A message of the AI SDK, as far as it matters here. */
export interface Message {
  role: string;
  content: unknown;
  providerOptions?: Record<string, any>;
}

/** In which role blocks are sent. */
export type Role = "user" | "system";

const MARK = "cuecard";

/**
 * The messages with the step's blocks in their places, and no others: the same places in each request.
 *
 * Where the model checks its thinking, that of turns whose own texts are gone goes with them.
 */
export function placed(messages: readonly Message[], step: Step, role: Role): Message[] {
  const stored = messages.filter((message) => !message.providerOptions?.[MARK]);
  const bare = step.checks_thinking ? withoutThinking(stored, step) : stored;
  const after = homes(bare, step);
  const block = (text: string, id: string): Message => ({
    role,
    content: role === "user" ? step.reminder.replace("{text}", () => text) : text,
    providerOptions: { [MARK]: { block: id } },
  });
  return bare.flatMap((message, at) => [message, ...(after.get(at) ?? []).map((b) => block(b.text, b.id))]);
}

function homes(bare: readonly Message[], step: Step): Map<number, Step["appended"]> {
  const ids = bare.map(callIds);
  const anchors = bare.flatMap((message, at) => (message.role === "user" || ids[at]!.length ? [at] : []));
  const where = new Map(ids.flatMap((held, at) => held.map((id) => [id, at] as const)).reverse());
  const turns = turnPlaces(bare, ids, step.turns);
  const found = new Map<number, Step["appended"]>();
  const moves = (block: Block) => block.lifetime === "step"; // behind what stays in its place in the next request
  for (const block of [...step.appended.filter((block) => !moves(block)), ...step.appended.filter(moves)]) {
    let place = anchors.at(-1) ?? bare.length - 1;
    if (block.after_call_id !== null) {
      const held = where.get(block.after_call_id);
      place = held === undefined ? (anchors[0] ?? place) : batchEnd(ids, held);
    } else if (block.turn !== null && block.turn < step.turns.length) {
      place = turns.get(block.turn) ?? anchors[0] ?? place;
    }
    found.set(place, [...(found.get(place) ?? []), block]);
  }
  return found;
}

/** The message of each turn: counted behind the last result that was known as it began, since a window drops the first. */
function turnPlaces(bare: readonly Message[], ids: string[][], turns: readonly (string | null)[]): Map<number, number> {
  const where = new Map(ids.flatMap((held, at) => held.map((id) => [id, at] as const)));
  const groups: { start: number; members: number[] }[] = [{ start: -1, members: [] }];
  turns.forEach((since, turn) => {
    const held = since ? where.get(since) : undefined;
    const start = held === undefined ? -1 : batchEnd(ids, held);
    if (start > groups.at(-1)!.start) groups.push({ start, members: [] });
    groups.at(-1)!.members.push(turn);
  });
  const found = new Map<number, number>();
  groups.forEach(({ start, members }, number) => {
    const end = groups[number + 1]?.start ?? bare.length;
    const users = bare.flatMap((message, at) => (message.role === "user" && at > start && at < end ? [at] : []));
    const first = start < 0 && turns[0] !== "" ? Math.max(0, users.length - members.length) : 0;
    const lost = Math.max(0, members.length - users.length);
    members.slice(lost).forEach((turn, at) => found.set(turn, users[first + at]!));
  });
  return found;
}

/** Of each turn whose own texts have ended, the model's messages behind the first of those lose their thinking. */
function withoutThinking(messages: readonly Message[], step: Step): Message[] {
  const ids = messages.map(callIds);
  const where = new Map(ids.flatMap((held, at) => held.map((id) => [id, at] as const)).reverse());
  const places = turnPlaces(messages, ids, step.turns);
  const starts = [...new Set(places.values())].sort((a, b) => a - b);
  const bare = new Set<number>();
  for (const [turn, place] of places) {
    const calls = (step.ended ?? []).filter((text) => text.turn === turn).map((text) => text.after_call_id);
    if (!calls.length || turn >= step.turns.length - 1) continue;
    const behind = calls.flatMap((call) => (call !== null && where.has(call) ? [batchEnd(ids, where.get(call)!)] : []));
    const first = calls.includes(null) || !behind.length ? place : Math.min(...behind);
    const end = starts.find((start) => start > first) ?? messages.length;
    for (let at = first + 1; at < end; at++) bare.add(at);
  }
  return messages.flatMap((message, at) => {
    if (!bare.has(at) || message.role !== "assistant" || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((part) => part.type !== "reasoning" && part.type !== "reasoning-file");
    return content.length ? [{ ...message, content }] : [];
  });
}

function batchEnd(ids: string[][], place: number): number {
  while (ids[place + 1]?.length) place++;
  return place;
}

function callIds(message: Message): string[] {
  if (message.role !== "tool" || !Array.isArray(message.content)) return [];
  return message.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId as string] : []));
}
