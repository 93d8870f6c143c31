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
  const ids = stored.map(callIds);
  const ends = ids.flatMap((held, at) => held.map((id) => [id, batchEnd(ids, at)] as const));
  const turns = turnPlaces(stored, new Map(ends), step.turns);
  const where = new Map(ends.reverse());
  const after = homes(stored, where, turns, step);
  const bare = step.checks_thinking ? thoughtless(stored.length, where, turns, step) : undefined;
  const block = ({ text, id }: Block): Message => ({
    role,
    content: role === "user" ? step.reminder.replace("{text}", () => text) : text,
    providerOptions: { [MARK]: { block: id } },
  });
  return stored.flatMap((message, at) => [...(bare?.has(at) ? withoutThinking(message) : [message]), ...(after.get(at) ?? []).map(block)]);
}

/** The position of each result's batch end, or of each turn's message. */
type Places<Key> = ReadonlyMap<Key, number>;

function homes(stored: readonly Message[], where: Places<string>, turns: Places<number>, step: Step): Map<number, Block[]> {
  const anchors = stored.flatMap((message, at) => (message.role === "user" || callIds(message).length ? [at] : []));
  const last = anchors.at(-1) ?? stored.length - 1;
  const first = anchors[0] ?? last;
  const found = new Map<number, Block[]>();
  const moves = (block: Block) => +(block.lifetime === "step"); // behind what stays in its place in the next request
  for (const block of [...step.appended].sort((a, b) => moves(a) - moves(b))) {
    const { after_call_id: call, turn } = block;
    const known = call === null ? turns.get(turn!) : where.get(call);
    const place = call === null && step.turns[turn!] === undefined ? last : (known ?? first);
    found.set(place, [...(found.get(place) ?? []), block]);
  }
  return found;
}

/** The message of each turn: counted behind the last result that was known as it began, since a window drops the first. */
function turnPlaces(stored: readonly Message[], where: Places<string>, turns: readonly (string | null)[]): Map<number, number> {
  const groups: { start: number; members: number[] }[] = [{ start: -1, members: [] }];
  turns.forEach((since, turn) => {
    const start = since ? (where.get(since) ?? -1) : -1;
    if (start > groups.at(-1)!.start) groups.push({ start, members: [] });
    groups.at(-1)!.members.push(turn);
  });
  const found = new Map<number, number>();
  groups.forEach(({ start, members }, number) => {
    const end = groups[number + 1]?.start ?? stored.length;
    const users = stored.flatMap((message, at) => (message.role === "user" && at > start && at < end ? [at] : []));
    const spare = users.length - members.length;
    const first = spare < 0 || (start < 0 && turns[0] !== "") ? spare : 0;
    members.forEach((turn, at) => at + first >= 0 && found.set(turn, users[at + first]!));
  });
  return found;
}

/** Of each turn whose own texts have ended, the positions behind the first of those: the model's thinking there goes. */
function thoughtless(total: number, where: Places<string>, turns: Places<number>, step: Step): Set<number> {
  const starts = [...turns.values()].sort((a, b) => a - b);
  const bare = new Set<number>();
  for (const [turn, place] of turns) {
    const ended = (step.ended ?? []).filter((text) => text.turn === turn);
    if (!ended.length || turn >= step.turns.length - 1) continue;
    const behind = ended.flatMap(({ after_call_id: call }) => (call === null ? place : (where.get(call) ?? [])));
    const first = behind.length ? Math.min(...behind) : place;
    const end = starts.find((start) => start > first) ?? total;
    for (let at = first + 1; at < end; at++) bare.add(at);
  }
  return bare;
}

function withoutThinking(message: Message): Message[] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return [message];
  const content = message.content.filter((part) => !/^reasoning(-file)?$/.test(part.type));
  return content.length ? [{ ...message, content }] : [];
}

function batchEnd(ids: string[][], place: number): number {
  while (ids[place + 1]?.length) place++;
  return place;
}

function callIds(message: Message): string[] {
  if (message.role !== "tool" || !Array.isArray(message.content)) return [];
  return message.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId as string] : []));
}
