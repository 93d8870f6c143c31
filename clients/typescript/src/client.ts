import type { components } from "./api.js";
import { Conversation } from "./conversation.js";
import { CuecardError, objectIn } from "./errors.js";

type Schemas = components["schemas"];

/** What is sent: undefined stands for a key that is left out, as it does in JSON. */
type Sent<T> = T extends readonly (infer Item)[]
  ? Sent<Item>[]
  : T extends object
    ? { [Key in keyof T]: {} extends Pick<T, Key> ? Sent<T[Key]> | undefined : Sent<T[Key]> }
    : T;

export type Turn = Sent<Schemas["TurnBody"]>;
/** Values of inputs by name. */
export type Inputs = Record<string, unknown>;
export type Result = Sent<Schemas["ResultBody"]>;
export type Entity = Sent<Schemas["EntityEntry"]>;
export type Step = Schemas["StepShape"];
export type Block = Schemas["AppendedShape"];
export type Placed = Schemas["PlacedShape"];
export type PreparedCall = Schemas["PreparedCall"];
export type PreparedStep = Schemas["PreparedStep"];
export type Found = Schemas["SearchAnswer"];
export type Remembered = Schemas["MemoryAnswer"];
export type Agent = Schemas["AgentShape"];
/** What an agent reads of results. */
export type Reads = Schemas["ReadsShape"];

export interface Options {
  /** Where the service is, such as `http://127.0.0.1:8765`. */
  url: string | URL;
  /** One of those that the service was started with as CUECARD_TOKEN. */
  token?: string | undefined;
  /** Milliseconds until an answer has come, all tries together; 20,000 unless told. */
  timeout?: number | undefined;
  /** How often a request is sent again that no replica could answer; 12 unless told. Repeating one is harmless. */
  retries?: number | undefined;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

export interface Asking {
  /** Ends the request, and its tries; what is thrown then is the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The number of the service's interface that this client speaks. */
export const API = 2;

const AGAIN = [408, 429, 503];
const NEVER = Infinity;

/** The service, path by path. It keeps nothing: each answer has the conversation for the next request. */
export class Cuecard {
  /** What the agents read of results, as their last calls told. */
  readonly reads = new Map<string | undefined, Reads>();
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** A new conversation, or the one that goes on from a signed text. */
  conversation(options?: { agent?: string | undefined; text?: string | undefined }): Conversation {
    return new Conversation(this, options);
  }

  agents(asking?: Asking) {
    return this.#ask<Schemas["AgentsAnswer"]>("agents", undefined, asking);
  }

  prepareCall(body: Sent<Schemas["PrepareCall"]>, asking?: Asking) {
    return this.#ask<PreparedCall>("prepare-call", body, asking);
  }

  prepareStep(body: Sent<Schemas["PrepareStep"]>, asking?: Asking) {
    return this.#ask<PreparedStep>("prepare-step", body, asking);
  }

  searchTools(body: Sent<Schemas["SearchTools"]>, asking?: Asking) {
    return this.#ask<Found>("search-tools", body, asking);
  }

  remember(body: Sent<Schemas["Remember"]>, asking?: Asking) {
    return this.#ask<Remembered>("remember", body, asking);
  }

  async #ask<Answer>(path: string, body?: unknown, { signal }: Asking = {}): Promise<Answer> {
    const { timeout = 20_000, retries = 12 } = this.#options;
    const ends = performance.now() + timeout;
    const late = AbortSignal.timeout(Math.min(2e9, timeout)); // a longer one ends at once
    const either = signal ? AbortSignal.any([signal, late]) : late;
    const id = crypto.randomUUID();
    for (let tries = 0; ; tries++) {
      const { told, error, after } = await this.#try(path, body, either, id, late);
      if (!error) return told;
      signal?.throwIfAborted();
      const wait = after ?? Math.min(2000, 100 * 2 ** tries) * (0.75 + Math.random() / 2);
      if (tries >= retries || !(performance.now() + wait < ends)) throw error;
      await new Promise((resolve) => (setTimeout(resolve, wait), signal?.addEventListener("abort", resolve, { once: true })));
    }
  }

  async #try(path: string, body: unknown, signal: AbortSignal, requestId: string, late: AbortSignal): Promise<Tried> {
    const { url, token, fetch: send = fetch } = this.#options;
    const sent = body === undefined ? null : JSON.stringify(body);
    let answer: Response;
    let text: string;
    try {
      answer = await send(`${String(url).replace(/\/+$/, "")}/v1/${path}`, {
        method: sent ? "POST" : "GET",
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(sent && { "content-type": "application/json" }),
          "x-request-id": requestId,
          "cuecard-packed": "1",
        },
        signal,
        body: sent,
      });
      text = await answer.text();
    } catch (cause) {
      const [code, told] = late.aborted ? ["deadline", "is too slow"] : ["unreachable", "does not answer"];
      const error = new CuecardError(`${path}: the service ${told} (request ${requestId})`, 0, code, [], { cause, requestId });
      return { error, after: signal.aborted ? NEVER : undefined };
    }
    requestId = answer.headers.get("x-request-id") ?? requestId;
    const { status } = answer;
    const told = objectIn(text);
    const ours = typeof told.code === "string" && !answer.redirected; // a redirect loses bodies and tokens
    const fails = (said: string, code: string) =>
      new CuecardError(`${path}: ${said} (request ${requestId})`, status, code, ours ? told.problems : [], { requestId });
    const isAnswer = answer.ok && (told.conversation ?? told.agents ?? told.tools);
    const other = told.api ?? (isAnswer || ["unknown-key", "bad-conversation"].includes(told.code) ? 1 : API);
    const versions = `the service has API ${other}, this client API ${API}: use one version`;
    if (other !== API) return { error: fails(versions, "other-api"), after: NEVER };
    if (isAnswer) return { told };
    const between = answer.redirected ? "the service redirects: use its target" : `${status} of something in between`;
    const error = ours ? fails(told.detail || told.code, told.code) : fails(between, "wrong-answer");
    const again = answer.ok || AGAIN.includes(status) || (!ours && status >= 500);
    return { error, after: again ? waitOf(answer.headers) : NEVER };
  }
}

interface Tried {
  told?: any;
  error?: CuecardError;
  /** The milliseconds after which another try may have an answer, where somebody has said so. */
  after?: number | undefined;
}

/** The milliseconds that an answer asks to wait; a date counts from that of the answer, by the same clock. */
function waitOf(headers: Headers): number | undefined {
  const told = headers.get("retry-after") ?? "";
  const wait = /^\d+$/.test(told) ? +told * 1000 : Date.parse(told) - Date.parse(headers.get("date") ?? "");
  return wait >= 0 ? wait : undefined;
}
