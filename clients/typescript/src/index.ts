export * from "./client.js";
export { Conversation } from "./conversation.js";
export type { components, paths } from "./api.js";
