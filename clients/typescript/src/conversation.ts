import { type Cuecard, CuecardError } from "./client.js";
import type { Entity, Found, Inputs, PreparedCall, PreparedStep, Result, Step, Turn } from "./client.js";

interface Begin {
  text: string | undefined;
  turn: Turn;
  results: Result[];
  compacted: number | null;
}

/** One conversation: a handle over the text that the service has signed. Use it for one run at a time. */
export class Conversation {
  /** The signed text: keep it where you keep the messages, and go on with `new Conversation(client, { agent, text })`. */
  text: string | undefined;
  /** The step that was prepared last. */
  step: Step | undefined;
  /** What the last call said of delivery and files. */
  call: PreparedCall | undefined;

  readonly #client: Cuecard;
  readonly #agent: { agent?: string };
  readonly #sent = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #texts = new Map<string, string>();
  #begin: Begin | undefined;
  #since: Result[] = [];
  #inputs: Inputs = {};

  constructor(client: Cuecard, options: { agent?: string; text?: string } = {}) {
    this.#client = client;
    this.#agent = options.agent === undefined ? {} : { agent: options.agent };
    this.text = options.text;
  }

  /** The user has said something: the step for the first request to the model. */
  async user(turn: Turn = {}, results: Result[] = [], compacted: number | null = null): Promise<Step> {
    const begin = { text: this.text, turn, results: this.#unsent(results), compacted };
    await this.#call(begin);
    this.#begin = begin;
    this.#since = [];
    this.#inputs = {};
    this.#note(begin.results);
    return this.step!;
  }

  /**
   * The step for the next request to the model; results may be all so far, or those since the last step.
   *
   * `inputs` are values that count from this request on, of inputs with `tier: step` in the agent file.
   */
  async next(results: Result[] = [], inputs: Inputs = {}): Promise<Step> {
    const fresh = this.#unsent(results);
    const given = { ...this.#inputs, ...inputs };
    try {
      await this.#next(fresh, inputs);
    } catch (error) {
      // Another replica has other files, and not those that made this call: make it anew, from where it began.
      if (!(error instanceof CuecardError && error.code === "stale-call" && this.#begin)) throw error;
      await this.#call(this.#begin);
      await this.#next([...this.#since, ...fresh], given);
    }
    this.#since.push(...fresh);
    this.#inputs = given;
    this.#note(fresh);
    return this.step!;
  }

  /** What the search tool answers; only what the next step will have active is announced. */
  search(query: string, limit?: number): Promise<Found> {
    const known = this.text === undefined ? {} : { conversation: this.text };
    return this.#client.searchTools({ ...this.#agent, ...known, query, ...(limit === undefined ? {} : { limit }) });
  }

  /** Put what was touched by other ways into the working memory, or take out what is gone, of one type or of any. */
  async remember(entities: Entity[], forget: string[] = [], type = ""): Promise<Entity[]> {
    const known = this.text === undefined ? {} : { conversation: this.text };
    const told = await this.#client.remember({ ...this.#agent, ...known, entities, forget, ...(type && { forget_type: type }) });
    this.text = told.conversation;
    return told.memory;
  }

  /**
   * The turn has ended: the signed text without what belonged to that turn alone, to be stored with the messages.
   *
   * What comes next is `user()`. Ending a turn twice does no harm.
   */
  async end(): Promise<string> {
    const told = await this.#client.remember({ ...this.#agent, conversation: this.#begun(), ended: true });
    return (this.text = told.conversation);
  }

  /**
   * What to answer in place of a call of this tool; undefined where it is active, or none of the agent's tools.
   *
   * A limit of the run may refuse it, too. Before this handle has prepared a step, nobody knows what may be called: then
   * every call is answered.
   */
  refusal(tool: string): string | undefined {
    this.#asked.add(tool);
    const step = this.step;
    if (!step) return `\`${tool}\` was not called: its instructions are not known here. Read them, and call it again if that is right.`;
    if (step.active_tools.includes(tool)) return this.#overLimit(tool, step.refusals);
    const { withheld, inactive, search, tools } = step.refusals;
    if (Object.hasOwn(withheld, tool)) return withheld[tool];
    const told = tools.includes(tool) ? inactive.replaceAll("{tool}", tool).replaceAll("{search}", search) : undefined;
    return told ?? this.#overLimit(tool, step.refusals);
  }

  /** What a limit of the run says of this tool; calls beside the first tool, in the same answer, are not too early. */
  #overLimit(tool: string, { tools, search, limited = {}, others, first, always = [] }: Step["refusals"]): string | undefined {
    if (always.includes(tool)) return undefined;
    if (Object.hasOwn(limited, tool)) return limited[tool];
    if (!others || (first && this.#asked.has(first)) || !(tools.includes(tool) || tool === search)) return undefined;
    return others.replaceAll("{tool}", tool);
  }

  /** What to send as the result of this call; undefined where the agent file has no template for it. */
  resultText(callId: string): string | undefined {
    return this.#texts.get(callId);
  }

  #begun(): string {
    if (this.text === undefined) throw new CuecardError("there is no call yet: begin with `user()`", 0, "no-call");
    return this.text;
  }

  async #next(results: Result[], inputs: Inputs): Promise<void> {
    const changed = Object.keys(inputs).length ? { inputs } : {};
    this.#take(await this.#client.prepareStep({ ...this.#agent, conversation: this.#begun(), results, ...changed }));
  }

  async #call(begin: Begin): Promise<void> {
    const known = begin.text === undefined ? {} : { conversation: begin.text };
    const { turn, results, compacted } = begin;
    this.call = await this.#client.prepareCall({ ...this.#agent, ...known, turn, results, compacted });
    this.#take(this.call);
  }

  #take(told: Pick<PreparedStep, "conversation" | "step" | "results">): void {
    this.text = told.conversation;
    this.step = told.step;
    this.#asked.clear();
    // A service of an earlier version has no `results`.
    for (const { call_id, text } of told.results ?? []) if (call_id !== null) this.#texts.set(call_id, text);
  }

  #unsent(results: Result[]): Result[] {
    return results.filter((result) => !result.call_id || !this.#sent.has(result.call_id));
  }

  #note(results: Result[]): void {
    for (const result of results) if (result.call_id) this.#sent.add(result.call_id);
  }
}
