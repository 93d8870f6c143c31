import type { components } from "./api.js";

export type Problem = components["schemas"]["ProblemShape"];

/** What the service refuses, with its problems; or that no answer has come (`status` 0). No message has an address in it. */
export class CuecardError extends Error {
  override readonly name = "CuecardError";
  /** The id of the request, which the service logs; empty where none was sent. */
  readonly requestId: string;

  constructor(
    message: string,
    /** The HTTP status; 0 where there was no answer. */
    readonly status: number,
    /** The stable code of the first problem, such as `old-conversation`; `unreachable`, `deadline`, `wrong-answer` or `other-api`. */
    readonly code: string,
    readonly problems: readonly Problem[] = [],
    options: ErrorOptions & { requestId?: string } = {},
  ) {
    super(message, options);
    this.requestId = options.requestId ?? "";
  }
}

export function twoAtOnce(): CuecardError {
  return new CuecardError("another message of this conversation is being answered: send this one after it", 409, "two-at-once");
}

/** The object in a JSON text; an empty one where there is none. */
export function objectIn(text: string | undefined): any {
  try {
    return Object(JSON.parse(text!));
  } catch {
    return {};
  }
}
