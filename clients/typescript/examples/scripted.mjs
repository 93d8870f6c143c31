// A model that follows a script, for the example without a key: each line is one answer, made of what the tools said.
import { MockLanguageModelV4 } from "ai/test";

const SCRIPT = [
  () => ["acknowledge", { message: "I'll create the page." }],
  () => ["tool_search", { query: "create a page" }],
  () => ["cms_createPage", { title: "About Us", slug: "about" }],
  () => ["final_answer", { answer: "The page About Us is there." }],
  () => ["acknowledge", { message: "I'll put it there." }],
  () => ["tool_search", { query: "add a menu entry" }],
  (page) => ["cms_addNavigationItem", { label: "About", href: `/pages/${page.slug}?locale=en`, location: "header" }],
  () => ["final_answer", { answer: "It is in the menu." }],
];

export function scripted() {
  let line = 0;
  let page;
  return new MockLanguageModelV4({
    modelId: "scripted",
    doGenerate: async ({ prompt }) => {
      for (const { output } of prompt.filter((m) => m.role === "tool").flatMap((m) => m.content)) {
        page = pageIn(output) ?? page;
      }
      const [toolName, input] = SCRIPT[line++](page);
      return {
        content: [{ type: "tool-call", toolCallId: `call-${line}`, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: "tool-calls", raw: undefined },
        usage: { inputTokens: { total: 0 }, outputTokens: { total: 0 } },
        warnings: [],
      };
    },
  });
}

/** The page in a result of the CMS: what an MCP server says reaches a model as content. */
function pageIn({ type, value }) {
  const told = type === "content" ? JSON.parse(value[0].text) : value;
  if (told.error || type.startsWith("error")) throw new Error(`a tool has failed: ${JSON.stringify(told)}`);
  return told.page;
}
