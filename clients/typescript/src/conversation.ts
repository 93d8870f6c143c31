import type { Asking, Cuecard, Entity, Found, Inputs, Placed, PreparedCall, PreparedStep, Result, Step, Turn } from "./client.js";
import { CuecardError, objectIn, twoAtOnce } from "./errors.js";
import { outline, type Message } from "./placing.js";
import { numbered, sendable, waits } from "./results.js";

type Begin = Parameters<Cuecard["prepareCall"]>[0];
type Again = { results?: Result[]; inputs?: Inputs; anew?: Begin };

/** What else is known as the model is asked again. */
export interface GoingOn extends Asking {
  /** Every tool of the request; those that the agent does not know are left alone. */
  tools?: string[] | undefined;
  /** Every tool whose definition can be sent, in their order; `step.front` then has those to send, those of tools that are gone among them. */
  definitions?: string[] | undefined;
  /** The messages of the request without blocks, for `placed`. */
  messages?: readonly Message[] | undefined;
}

/** What else is known as a message begins. */
export interface Beginning extends GoingOn {
  /** Whether the turn goes on, as after an approval, so that no message of the user is new. */
  resumed?: boolean;
  /** The messages: the last one has the words that an agent with `tools.ahead` searches by, or is not the user's if the turn goes on. */
  messages?: readonly Message[] | undefined;
}

/** One conversation: a handle over the text that the service has signed. Use it for one run at a time. */
export class Conversation {
  /** The text that this handle went on from: what is stored is another one if somebody else has answered meanwhile. */
  readonly from: string | undefined;
  /** The step that was prepared last. */
  step: Step | undefined;
  /** Where the texts of the step belong, if the messages were told. */
  placed: Placed | undefined;
  /** What the last call said of delivery and files. */
  call: Omit<PreparedCall, "api"> | undefined;
  /** How many messages of the user this handle has begun. */
  begun = 0;

  readonly #client: Cuecard;
  readonly #agent: { agent?: string };
  readonly #asked = new Set<string>();
  /** The results that the conversation has, by `#key`: the text of each, null without one; undefined where nobody knows. */
  readonly #had: Map<string, string | null | undefined>;
  #signed: string | undefined;
  #begin: Begin | undefined;
  #since: Result[] = [];
  #inputs: Inputs = {};
  #outline = "";
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(client: Cuecard, options: { agent?: string | undefined; text?: string | undefined } = {}) {
    this.#client = client;
    this.#agent = options.agent === undefined ? {} : { agent: options.agent };
    this.from = options.text;
    const [signed, had] = options.text?.split(/\r?\n/) ?? []; // a database may end lines in its own way
    const isText = (held: unknown) => held === null || typeof held === "string";
    this.#signed = signed;
    this.#had = new Map(Object.entries<any>(had?.startsWith("{") ? objectIn(had) : {}).filter(([, held]) => isText(held)));
    const earlier: Result[] = objectIn(signed).conversation?.state?.results ?? []; // from before texts were kept
    if (!had) for (const { call_id } of earlier) if (call_id) this.#had.set(call_id, undefined);
  }

  /**
   * The signed text: keep it where you keep the messages, and go on with `new Conversation(client, { agent, text })`.
   *
   * Behind a line break are the texts of results, so that neither they nor the results travel again.
   */
  get text(): string | undefined {
    const had = JSON.stringify(Object.fromEntries(this.#had));
    return this.#signed && (had === "{}" ? this.#signed : `${this.#signed}\n${had}`);
  }

  /** The user has said something: the step for the first request to the model. */
  async user(turn: Turn = {}, results: Result[] = [], compacted: number | null = null, more: Beginning = {}): Promise<Step> {
    if (this.#waiting) throw twoAtOnce();
    const { tools, definitions, messages = [], resumed = messages.length > 0 && messages.at(-1)!.role !== "user", ...asking } = more;
    const said = resumed ? "" : textOf(messages.at(-1)?.content);
    const begin = {
      ...this.#goingOn(),
      turn,
      ...(compacted === null ? {} : { compacted }),
      host_tools: tools,
      definitions,
      ...(resumed && { resumed }),
      ...this.#outlined(more.messages),
    };
    return this.#alone(async () => {
      if (compacted !== null) this.#forgetAllBut(results);
      const whole = (reads = this.#reads) => ({ ...begin, results: this.#fresh(results, reads), ...(reads?.said && said && { said }) });
      let asked = whole(this.#reads ?? { tools: {}, items: 0, lists: [], words: [], room: 0, said: false });
      let told = await this.#client.prepareCall(asked, asking);
      this.#note(told);
      // What is sent depends on what the agent reads, which only its answer says.
      const wanted = whole();
      if (JSON.stringify(wanted) !== JSON.stringify(asked)) told = await this.#client.prepareCall((asked = wanted), asking);
      this.#begin = asked;
      this.#since = [];
      this.#inputs = {};
      this.begun++;
      this.#note(told);
      return this.#take(told, results, asked.results!);
    });
  }

  /**
   * The step for the next request to the model; results may be all so far, or those since the last step.
   *
   * `inputs` are values that count from this request on, of inputs with `tier: step` in the agent file.
   */
  next(results: Result[] = [], inputs: Inputs = {}, { tools, definitions, messages, ...asking }: GoingOn = {}): Promise<Step> {
    return this.#alone(async () => {
      const fresh = this.#fresh(results);
      const given = { ...this.#inputs, ...inputs };
      const now = { results: fresh, ...(Object.keys(inputs).length ? { inputs } : {}) };
      const all = [...this.#since, ...fresh];
      const told = await this.#orAnew(now, { results: all, inputs: given }, (body) =>
        this.#client.prepareStep({ ...this.#agent, conversation: this.#text(), host_tools: tools, definitions, ...this.#outlined(messages), ...body }, asking),
      );
      this.#since.push(...fresh);
      this.#inputs = given;
      if (told.anew) this.#note({ ...this.call!, ...told.anew });
      return this.#take(told, results, told.anew ? all : fresh);
    });
  }

  /** Whether the step that was prepared last is of other results or messages; `begun` as it was when their run began. */
  misses(results: Result[], begun = this.begun, messages?: readonly Message[]): boolean {
    if (begun !== this.begun) throw twoAtOnce();
    return this.#fresh(results).length > 0 || (messages !== undefined && JSON.stringify(outline(messages)) !== this.#outline);
  }

  /** What the search tool answers; only what the next step will have active is announced. A limit out of range is brought into it. */
  async search(query: string, limit?: number, asking?: Asking): Promise<Found> {
    const most = Math.min(Math.max(Math.trunc(limit ?? 0), 0), 1000); // a model may ask for anything
    const asked = { query, bounded: true, ...(most ? { limit: most } : {}) };
    const told = await this.#orAnew({}, { results: this.#since }, (body) =>
      this.#client.searchTools({ ...this.#goingOn(), ...asked, ...body }, asking),
    );
    if (told.conversation) this.#signed = told.conversation;
    return told;
  }

  /** Put what was touched by other ways into the working memory, or take out what is gone, of one type or of any. */
  async remember(entities: Entity[], forget: string[] = [], type = "", asking?: Asking) {
    return (await this.#remembered({ entities, forget, ...(type && { forget_type: type }) }, asking)).memory;
  }

  /**
   * The turn has ended: the signed text without what belonged to that turn alone, to be stored with the messages.
   *
   * What comes next is `user()`. Ending a turn twice does no harm.
   */
  async end(asking?: Asking): Promise<string> {
    this.#text();
    await this.#remembered({ ended: true }, asking);
    return this.text!;
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
    if (!step) return `\`${tool}\` was not called: its instructions are not known here. Read them, then call it again.`;
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
    return this.#had.get(this.#had.has(callId) ? callId : waiting(callId)) ?? undefined;
  }

  #text(): string {
    if (this.#signed === undefined) throw new CuecardError("there is no user message yet: begin with `user()`", 0, "no-call");
    return this.#signed;
  }

  #goingOn() {
    return { ...this.#agent, ...(this.#signed === undefined ? {} : { conversation: this.#signed }) };
  }

  #outlined(messages: readonly Message[] | undefined) {
    if (!messages) return {};
    const told = outline(messages);
    this.#outline = JSON.stringify(told);
    return { messages: told };
  }

  get #reads() {
    return this.#client.reads.get(this.#agent.agent);
  }

  /** Those that change the conversation wait for each other; no message begins while one `answers`. */
  async #alone<Answer>(work: () => Promise<Answer>, answers = 1): Promise<Answer> {
    this.#waiting += answers;
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done.finally(() => (this.#waiting -= answers));
  }

  #remembered(told: object, asking?: Asking) {
    return this.#alone(async () => {
      const answer = await this.#client.remember({ ...this.#goingOn(), ...told }, asking);
      this.#signed = answer.conversation;
      return answer;
    }, 0);
  }

  /** Where another replica has other files, and not those that made this call: the same, made anew from where it began. */
  async #orAnew<Answer>(now: Again, whole: Again, ask: (body: Again) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(now);
    } catch (error) {
      if (!(error instanceof CuecardError && error.code === "stale-call" && this.#begin)) throw error;
      return ask({ ...whole, anew: this.#begin });
    }
  }

  #note(call: Omit<PreparedCall, "api">): void {
    this.call = call;
    if (call.reads) this.#client.reads.set(this.#agent.agent, call.reads);
  }

  #take(told: Pick<PreparedStep, "conversation" | "step" | "results" | "placed">, given: Result[], sent: Result[]): Step {
    this.#signed = told.conversation;
    this.step = told.step;
    this.placed = told.placed ?? undefined;
    this.#asked.clear();
    const texts = new Map((told.results ?? []).map(({ at, text }) => [this.#key(sent[at]!), text]));
    for (const result of given.filter((each) => each.call_id && this.#isNew(each))) {
      const key = this.#key(result);
      // What the model has read stays, also where other files would tell it otherwise.
      this.#had.set(key, texts.get(key) ?? null);
    }
    return told.step;
  }

  /** What waits for a confirmation is not yet what it becomes, under the same id. */
  #key(result: Result): string {
    const id = result.call_id ?? "";
    return waits(result, this.#reads?.words) ? waiting(id) : id;
  }

  #isNew(result: Result): boolean {
    const id = result.call_id ?? "";
    if (this.#had.get(id) !== undefined) return false;
    const asked = this.#had.get(waiting(id)); // in place of the result, if the SDK hands on what it was told
    return asked === undefined || !(result.result === asked || this.#key(result) === waiting(id));
  }

  /** Without the results that are gone; and without the texts of those whose ids may have become those of others. */
  #forgetAllBut(results: Result[]): void {
    const kept = new Set(results.map((result) => this.#key(result)));
    for (const id of [...this.#had.keys()]) if (!kept.has(id) || this.#had.has(numbered(id, 2))) this.#had.delete(id);
  }

  #fresh(results: Result[], reads = this.#reads): Result[] {
    const unsent = results.filter((result) => this.#isNew(result));
    return sendable(unsent, reads, (result) => this.#had.has(this.#key(result)));
  }
}

/** Under which id the question of a call is kept that waits for a confirmation. */
function waiting(id: string): string {
  return `${id}?`;
}

/** What the user says, as far as a search reads it. */
function textOf(content: unknown): string {
  const parts: any[] = Array.isArray(content) ? content : [{ text: content }];
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n").slice(0, 2001);
}
