import { describe, expect, test } from "vitest";
import { createRegistry, type TrailblazeError } from "../../src/index.ts";

const item = (pack: string, name: string, description: string | null = null) => ({
  name,
  qualifiedName: `${pack}/${name}`,
  description,
});
const pack = (name: string, qualifiedName: string, tools: readonly string[], more: object = {}) => ({
  name,
  qualifiedName,
  version: "1.2.0",
  servers: [],
  tools: tools.map((tool) => item(qualifiedName, tool)),
  toolsets: [],
  prompts: [item(qualifiedName, "welcome", "Says hello.")],
  ...more,
});
const jira = pack("@acme/jira", "acme/jira", ["createIssue", "getIssue"]);
const hello = pack("hello", "hello", ["greet"]);

const codeOf = (run: () => unknown) => {
  try {
    return run();
  } catch (error) {
    return (error as TrailblazeError).code;
  }
};

describe("the registry of names", () => {
  const registry = createRegistry([jira, hello], { builtIns: ["tap", "swipe"] });

  test("the registry lists built-ins first, then the items of packs", () => {
    expect(registry.items("tool").map(({ qualifiedName }) => qualifiedName)).toEqual([
      "tap",
      "swipe",
      "acme/jira/createIssue",
      "acme/jira/getIssue",
      "hello/greet",
    ]);
    expect(registry.items("prompt")[1]).toEqual({
      kind: "prompt",
      name: "welcome",
      qualifiedName: "hello/welcome",
      description: "Says hello.",
      pack: "hello",
      version: "1.2.0",
    });
    expect(registry.items()).toHaveLength(7);
    expect(registry.builtIns).toEqual(["tap", "swipe"]);
  });

  test("the registry excludes shadowed copies", () => {
    const old = { ...pack("hello", "hello", ["bow"]), shadowed: true };
    const both = createRegistry([old, hello]);
    expect(both.items("tool").map(({ name }) => name)).toEqual(["greet"]);
    expect(codeOf(() => both.resolve("hello/bow"))).toBe("ToolNotFound");
  });
});
