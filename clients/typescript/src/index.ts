export * from "./client.js";
export { Conversation } from "./conversation.js";
export { CuecardError, type Problem } from "./errors.js";
export type { components, paths } from "./api.js";
