import type { Step } from "./client.js";

/** A message of the AI SDK, as far as it matters here. */
export interface Message {
  role: string;
  content: unknown;
  providerOptions?: Record<string, any>;
}

/** In which role blocks are sent. */
export type Role = "user" | "system";

const MARK = "cuecard";

/** The messages with the step's blocks in their places, and no others: the same places in each request. */
export function placed(messages: readonly Message[], step: Step, role: Role): Message[] {
  const bare = messages.filter((message) => !message.providerOptions?.[MARK]);
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
  for (const block of step.appended) {
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

function batchEnd(ids: string[][], place: number): number {
  while (ids[place + 1]?.length) place++;
  return place;
}

function callIds(message: Message): string[] {
  if (message.role !== "tool" || !Array.isArray(message.content)) return [];
  return message.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId as string] : []));
}
