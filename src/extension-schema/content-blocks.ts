/** The types of MCP's content blocks, each with the strings that it cannot do without; a resource's are inside it. */
export const textsOfBlock: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["text", ["text"]],
  ["image", ["data", "mimeType"]],
  ["audio", ["data", "mimeType"]],
  ["resource_link", ["uri", "name"]],
  ["resource", []],
]);
