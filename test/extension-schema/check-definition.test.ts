import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../src/extension-schema/index.ts";

const document = {
  kind: "Mcp.StdioServer",
  metadata: { name: "desk" },
  tools: ["greetings"],
};

describe("a server that is a document", () => {
  test("has the shape of one", () => {
    expect(checkDefinition("server", document, "validation")).toMatchObject({
      shape: "serverDocument",
      problems: [],
    });
  });

  test.each([
    ["a command", { command: "node" }, "`command`"],
    ["a script", { script: "./server.js" }, "`script`"],
    ["toolsets", { toolsets: ["triage"] }, "`toolsets`"],
    ["prompts", { prompts: ["hello"] }, "`prompts`"],
    [
      "all of them",
      { prompts: [], toolsets: [], script: "a", command: "b" },
      "`toolsets`, `prompts`, `command`, `script`",
    ],
  ])("mixed with %s has none", (_what, fields, named) => {
    const { shape, definition, problems } = checkDefinition(
      "server",
      { ...document, ...fields },
      "validation",
    );
    expect([shape, definition]).toEqual([undefined, undefined]);
    const args = { reason: expect.stringContaining(`(${named})`) };
    expect(problems).toMatchObject([{ code: "InvalidServerDefinition", severity: "error", path: [], args }]);
  });
});

describe("a bundle", () => {
  test.each(["tools", "toolsets"])("mixed with a list of references in %s is none", (key) => {
    const bundle = { kind: "Mcp.Tools", metadata: { name: "all" }, entries: [] };
    const { problems } = checkDefinition("toolset", { ...bundle, [key]: ["greet"] }, "validation");
    expect(problems).toMatchObject([{ code: "InvalidToolsetDefinition", path: [key] }]);
    expect(checkDefinition("toolset", bundle, "validation").problems).toEqual([]);
  });
});

describe("a definition that is a function", () => {
  test.each([
    ["server", "InvalidServerDefinition", "`defineServer`"],
    ["tool", "InvalidToolDefinition", "`defineTool`"],
    ["toolset", "InvalidToolsetDefinition", "`defineToolset`"],
    ["prompt", "InvalidPromptDefinition", "`definePrompt`"],
  ] as const)("of a %s is one fault that says so", (kind, code, helper) => {
    const { definition, problems } = checkDefinition(kind, { $function: "greet" }, "validation");
    expect(definition).toBeUndefined();
    const args = { reason: expect.stringContaining("function"), hint: expect.stringContaining(helper) };
    expect(problems).toMatchObject([{ code, path: [], args }]);
  });

  test("is told from one that has such a key besides others", () => {
    const { problems } = checkDefinition("prompt", { $function: "a", name: "b", content: "c" }, "validation");
    expect(problems).toEqual([]);
  });
});
