import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../src/extension-schema/index.ts";

const document = {
  kind: "Mcp.StdioServer",
  metadata: { name: "desk" },
  tools: ["greetings"],
};

describe("a server definition that is an MCP server document", () => {
  test("an MCP server document is a valid server definition", () => {
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
    ["resources", { resources: ["hello"] }, "`resources`"],
    [
      "all of them",
      { prompts: [], toolsets: [], script: "a", command: "b" },
      "`toolsets`, `prompts`, `command`, `script`",
    ],
  ])("an MCP server document mixed with %s is invalid", (_what, fields, named) => {
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
  test.each(["tools", "toolsets"])("a bundle mixed with a list of references in %s is invalid", (key) => {
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
    ["resource", "InvalidResourceDefinition", "`defineResource`"],
  ] as const)(
    "a function as the definition of a %s is one problem, which names the cause",
    (kind, code, helper) => {
      const { definition, problems } = checkDefinition(kind, { $function: "greet" }, "validation");
      expect(definition).toBeUndefined();
      const args = { reason: expect.stringContaining("function"), hint: expect.stringContaining(helper) };
      expect(problems).toMatchObject([{ code, path: [], args }]);
    },
  );

  test("a definition with a key like a function's marker and other keys is not a function", () => {
    const { problems } = checkDefinition("prompt", { $function: "a", name: "b", content: "c" }, "validation");
    expect(problems).toEqual([]);
  });
});

describe("server definitions that are pasted from a client's config", () => {
  test.each([
    [{ mcpServers: { clock: { command: "npx", args: ["-y", "clock"] } } }, "mcpServers", '"clock"'],
    [{ mcpServers: {} }, "mcpServers", "`command`"],
    [{ url: "https://example.com/mcp" }, "url", "`command`"],
    [{ type: "http", url: "https://example.com/mcp", headers: {} }, "url", "`command`"],
  ])(
    "a server pasted from a client's config is invalid at the config's key, with a hint: %j",
    (content, key, named) => {
      const { problems } = checkDefinition("server", content, "validation");
      const args = { reason: expect.stringContaining(`\`${key}\``), hint: expect.stringContaining(named) };
      expect(problems).toMatchObject([{ code: "InvalidServerDefinition", path: [key], args }]);
    },
  );

  test.each([
    { command: "npx", mcpServers: {} },
    { script: "./a.js", url: "a" },
  ])("a server definition with a program may have keys of a client's config: %j", (content) => {
    expect(checkDefinition("server", content, "validation").problems).toEqual([]);
  });
});
