import type { components } from "./api.js";

type Schemas = components["schemas"];

export type Turn = Partial<Schemas["TurnBody"]>;
/** Values of inputs by name. */
export type Inputs = Record<string, unknown>;
export type Result = Partial<Schemas["ResultBody"]>;
export type Entity = Pick<Schemas["EntityEntry"], "type" | "id" | "name"> & { key?: string };
export type Step = Schemas["StepShape"];
export type Block = Schemas["AppendedShape"];
export type PreparedCall = Schemas["PreparedCall"];
export type PreparedStep = Schemas["PreparedStep"];
export type Found = Schemas["SearchAnswer"];
export type Remembered = Schemas["MemoryAnswer"];
export type Agent = Schemas["AgentShape"];
export type Problem = Schemas["ProblemShape"];

export interface Options {
  /** Where the service is, such as `http://127.0.0.1:8765`. */
  url: string | URL;
  /** What the service was started with as CUECARD_TOKEN. */
  token?: string;
  /** Milliseconds that one try may take; 15,000 unless told. */
  timeout?: number;
  /** How often a request is sent again that no replica could answer; 2 unless told. Repeating one is harmless. */
  retries?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
}

/** What the service refuses, with its problems; or that it cannot be reached (`status` 0). */
export class CuecardError extends Error {
  override readonly name = "CuecardError";

  constructor(
    message: string,
    /** The HTTP status; 0 where there was no answer. */
    readonly status: number,
    /** The stable code of the first problem, such as `old-conversation`; `unreachable` where there was no answer. */
    readonly code: string,
    readonly problems: readonly Problem[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The service, path by path. It keeps nothing: each answer has the conversation for the next request. */
export class Cuecard {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: Options) {
    this.#url = String(options.url).replace(/\/+$/, "");
    this.#headers = options.token ? { authorization: `Bearer ${options.token}` } : {};
    this.#timeout = options.timeout ?? 15_000;
    this.#retries = options.retries ?? 2;
    this.#fetch = options.fetch ?? ((...asked) => fetch(...asked));
  }

  agents(): Promise<Schemas["AgentsAnswer"]> {
    return this.#ask("GET", "/v1/agents");
  }

  prepareCall(body: Partial<Omit<Schemas["PrepareCall"], "turn" | "results">> & { turn?: Turn; results?: Result[] }) {
    return this.#ask<PreparedCall>("POST", "/v1/prepare-call", body);
  }

  prepareStep(body: { conversation: string; agent?: string; results?: Result[]; inputs?: Inputs; manifest?: boolean }) {
    return this.#ask<PreparedStep>("POST", "/v1/prepare-step", body);
  }

  searchTools(body: { query: string; agent?: string; limit?: number; conversation?: string; results?: Result[] }) {
    return this.#ask<Found>("POST", "/v1/search-tools", body);
  }

  remember(body: {
    agent?: string;
    conversation?: string;
    entities?: Entity[];
    forget?: string[];
    forget_type?: string;
    forget_all?: boolean;
    ended?: boolean;
  }) {
    return this.#ask<Remembered>("POST", "/v1/remember", body);
  }

  async #ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      const tried = await this.#try(method, path, body);
      if (!(tried instanceof CuecardError)) return tried as Answer;
      if (tries >= this.#retries || (tried.status !== 0 && tried.status !== 503)) throw tried;
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tries * (1 + Math.random())));
    }
  }

  async #try(method: string, path: string, body: unknown): Promise<unknown> {
    try {
      const answer = await this.#fetch(this.#url + path, {
        method,
        headers: { ...this.#headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        signal: AbortSignal.timeout(this.#timeout),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const told: any = await answer.json().catch(() => ({}));
      if (answer.ok) return told;
      const detail = told.detail ?? `${answer.status} ${answer.statusText}`;
      return new CuecardError(`${path}: ${detail}`, answer.status, told.code ?? "", told.problems ?? []);
    } catch (cause) {
      return new CuecardError(`${path}: ${this.#url} does not answer: ${cause}`, 0, "unreachable", [], { cause });
    }
  }
}
