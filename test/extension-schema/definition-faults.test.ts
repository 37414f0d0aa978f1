import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../src/extension-schema/check-definition.ts";
import type { Kind } from "../../src/kinds.ts";

type Fields = Record<string, unknown>;

/** The faults of a definition: the path, the reason and the hint of each. */
function faultsOf(kind: Kind, content: unknown) {
  return checkDefinition(kind, content, "validation").problems.map(({ path = [], args }) => {
    const { reason, hint } = args as { reason: string; hint?: string };
    return { place: path.join("."), reason, hint };
  });
}

const run = "./lib/a.js#run";
const tool = (fields: Fields) => ({ name: "greet", inputSchema: {}, handler: run, ...fields });
const short = (fields: Fields) => ({ name: "greet", parameters: {}, handler: run, ...fields });
const prompt = (fields: Fields) => ({ name: "one", content: "Hello", ...fields });
const resource = (fields: Fields) => ({ name: "page", uri: "docs://page", text: "", ...fields });
const bundle = (fields: Fields) => ({
  kind: "Mcp.Tools",
  metadata: { name: "all" },
  entries: [],
  ...fields,
});

describe("the shape of a definition", () => {
  test.each<[Kind, Fields, string]>([
    ["tool", tool({}), "tool"],
    ["tool", short({}), "tool"],
    ["prompt", prompt({}), "prompt"],
    ["prompt", prompt({ content: undefined, handler: run }), "prompt"],
    ["resource", resource({}), "resource"],
    ["toolset", { name: "a", tools: [] }, "toolsetList"],
    ["toolset", { name: "a", toolsets: ["b"] }, "toolsetList"],
    ["toolset", bundle({}), "toolsBundle"],
    ["server", { tools: [] }, "composedServer"],
    ["server", { toolsets: [] }, "composedServer"],
    ["server", { prompts: [] }, "composedServer"],
    ["server", { resources: [] }, "composedServer"],
    ["server", { command: "node" }, "subprocessServer"],
    ["server", { script: "./a.js" }, "subprocessServer"],
    ["server", { package: "@acme/mcp", bin: "mcp" }, "subprocessServer"],
    ["server", { command: "npx", mcpServers: {} }, "subprocessServer"],
    ["server", { script: "./a.js", url: "a" }, "subprocessServer"],
    ["prompt", prompt({ $function: "a" }), "prompt"],
    ["server", { kind: "Mcp.StdioServer", metadata: { name: "a" }, tools: ["b"] }, "serverDocument"],
  ])("of a %s with the keys of %j is %s", (kind, content, shape) => {
    const checked = checkDefinition(kind, content, "validation");
    expect(checked).toEqual({ shape, definition: content, problems: [] });
  });

  test("a definition with faults has its shape, and their severity depends on the operation", () => {
    const content = tool({ title: 5 });
    const { shape, definition, problems } = checkDefinition("tool", content, "operation");
    expect([shape, definition]).toEqual(["tool", content]);
    expect(problems).toMatchObject([{ code: "InvalidToolDefinition", path: ["title"] }]);
  });
});

describe("a content that is no definition", () => {
  test.each<[unknown, string]>([
    [null, "it is empty"],
    [[], "expected an object, found an array"],
    ["a", "expected an object, found a string"],
    [5, "expected an object, found a number"],
    [{ $function: "greet" }, "expected an object, found a function"],
  ])("%j has one fault at its top: %s", (content, reason) => {
    expect(faultsOf("tool", content)).toMatchObject([{ place: "", reason }]);
    expect(checkDefinition("tool", content, "validation").shape).toBeUndefined();
  });

  test.each([
    ["server", "InvalidServerDefinition", "`defineServer`"],
    ["tool", "InvalidToolDefinition", "`defineTool`"],
    ["toolset", "InvalidToolsetDefinition", "`defineToolset`"],
    ["prompt", "InvalidPromptDefinition", "`definePrompt`"],
    ["resource", "InvalidResourceDefinition", "`defineResource`"],
  ] as const)("a function as the definition of a %s is %s, whose hint names %s", (kind, code, helper) => {
    const { problems } = checkDefinition(kind, { $function: "greet" }, "validation");
    expect(problems).toMatchObject([{ code, path: [], args: { hint: expect.stringContaining(helper) } }]);
  });

  test("the hint for a function says that it may be a handler", () => {
    const hintOf = (kind: Kind) => faultsOf(kind, { $function: "greet" })[0]?.hint;
    for (const kind of ["tool", "prompt", "resource"] as const) expect(hintOf(kind)).toContain("`handler`");
    for (const kind of ["server", "toolset"] as const) expect(hintOf(kind)).not.toContain("`handler`");
    expect(faultsOf("tool", [])[0]?.hint).toBeUndefined();
  });
});

describe("keys that are missing, or exclude each other", () => {
  test.each<[Kind, Fields, string, RegExp]>([
    ["tool", { inputSchema: {}, handler: run }, "", /^`name` is missing$/],
    ["tool", { name: "a", inputSchema: {} }, "", /^`handler` is missing$/],
    ["tool", { name: "a", handler: run }, "", /^`inputSchema` or its short form `parameters` is missing$/],
    ["tool", { name: "a", handler: run, params: {} }, "params", /is missing$/],
    ["tool", { name: "a", inputSchema: {}, "x-handler": run, $handler: run }, "", /^`handler` is missing$/],
    ["tool", tool({ parameters: {} }), "parameters", /^`inputSchema` and `parameters` are both present$/],
    ["toolset", { name: "a" }, "", /^`tools` or `toolsets` is missing$/],
    ["toolset", { name: "a", tool: [] }, "tool", /is missing$/],
    ["toolset", { tools: [] }, "", /^`name` is missing$/],
    ["toolset", bundle({ tools: [] }), "tools", /combines a bundle with a list of references \(`tools`\)/],
    ["toolset", bundle({ toolsets: [] }), "toolsets", /\(`toolsets`\)/],
    ["toolset", bundle({ entries: undefined }), "", /^`entries` is missing$/],
    ["toolset", bundle({ entries: [{ name: "a" }] }), "entries.0", /^`handler` is missing in `entries\.0`$/],
    ["toolset", bundle({ entries: [{ name: "a", run }] }), "entries.0.run", /^`handler` is missing/],
    ["prompt", prompt({ content: undefined }), "", /^`content` or `handler` is missing$/],
    ["prompt", prompt({ handler: run }), "handler", /^`content` and `handler` are both present$/],
    ["prompt", prompt({ arguments: [{}] }), "arguments.0", /^`name` is missing in `arguments\.0`$/],
    ["prompt", prompt({ arguments: [{ nam: "a" }] }), "arguments.0.nam", /^`name` is missing/],
    ["resource", { name: "a", text: "" }, "", /^`uri` or `uriTemplate` is missing$/],
    ["resource", resource({ file: "./a.md" }), "file", /^`text` and `file` are both present$/],
    ["resource", { name: "a", uri: "docs:a" }, "", /^`text`, `file` or `handler` is missing$/],
    ["resource", resource({ uriTemplate: "docs://{a}" }), "uriTemplate", /are both present$/],
    ["server", { command: "a", script: "./a.js" }, "script", /^`command` and `script` are both present$/],
    ["server", { script: "./a.js", package: "a" }, "package", /^`script` and `package` are both present$/],
    ["server", { package: "a@1" }, "package", /^`package` is not an npm name$/],
    ["server", { command: "a", bin: "b" }, "bin", /^`bin` is present without `package`$/],
    [
      "server",
      { tools: [], command: "a" },
      "",
      /a composed server with a subprocess server \(`tools`, `command`\)/,
    ],
    [
      "server",
      { kind: "Mcp.StdioServer", metadata: {}, prompts: [], toolsets: [], script: "a", command: "b" },
      "",
      /combines a document .* \(`toolsets`, `prompts`, `command`, `script`\)/,
    ],
    ["server", { kind: "Mcp.StdioServer", metadata: { name: "a" } }, "", /^`tools` is missing$/],
    ["server", {}, "", /^none of the keys that define a server is present$/],
    ["resource", resource({ mimeType: "markdown" }), "mimeType", /not a media type$/],
    ["server", { cmd: "node" }, "cmd", /^none of the keys/],
    ["server", { toolset: [] }, "toolset", /^none of the keys/],
    ["server", { "x-tools": [], $tools: [] }, "", /^none of the keys/],
    ["server", { description: "tools" }, "", /^none of the keys/],
    ["server", { mcpServers: 5 }, "", /^none of the keys/],
    ["server", { mcpServers: { a: {} } }, "mcpServers", /^`mcpServers` is a key of client configs$/],
    ["server", { url: "https://a" }, "url", /^packs cannot define remote servers \(`url`\)$/],
  ])("a %s %j has a fault at %j: %s", (kind, content, place, reason) => {
    expect(faultsOf(kind, content)).toMatchObject([{ place, reason: expect.stringMatching(reason) }]);
  });

  test.each<[Kind, Fields, string]>([
    ["tool", { name: "a", handler: run }, "`inputSchema: { type: object }`"],
    ["tool", { name: "a", handler: run, params: {} }, 'Did you mean `parameters` instead of "params"?'],
    ["tool", { name: "a", inputSchema: {}, run }, 'Did you mean `handler` instead of "run"?'],
    ["tool", tool({ parameters: {} }), "Keep one of them."],
    ["tool", { name: "a", handler: run, schema: {} }, 'Did you mean `inputSchema` instead of "schema"?'],
    ["toolset", { name: "a", tool: [] }, 'Did you mean `tools` instead of "tool"?'],
    ["toolset", { name: "a", toolset: [] }, 'Did you mean `toolsets` instead of "toolset"?'],
    ["toolset", bundle({ tools: [] }), "`entries`"],
    ["prompt", prompt({ handler: run }), "Keep one of them."],
    ["server", { command: "a", script: "./a.js" }, "Keep `script`"],
    ["server", { package: "a@1" }, "without a version"],
    ["server", { command: "a", bin: "b" }, "Add `package`"],
    ["server", {}, "`tools`, `toolsets`, `prompts` or `resources`"],
    ["server", { cmd: "node" }, 'Did you mean `command` instead of "cmd"?'],
    ["server", { mcpServers: { "a b": {} } }, 'without `mcpServers` and "a b"'],
    ["server", { mcpServers: {} }, "without `mcpServers`."],
    ["server", { url: "https://a" }, "Use `command`, `script` or `package`"],
  ])("the hint for a %s %j contains %j", (kind, content, words) => {
    expect(faultsOf(kind, content)[0]?.hint).toContain(words);
  });

  test.each<[Kind, Fields]>([
    ["prompt", prompt({ content: undefined })],
    ["toolset", { name: "a" }],
    ["server", { tools: [], command: "a" }],
    ["server", { kind: "a", script: "b" }],
  ])("a %s %j has no hint, because the reason is enough", (kind, content) => {
    expect(faultsOf(kind, content)[0]?.hint).toBeUndefined();
  });
});

describe("values of the wrong type", () => {
  test.each<[Kind, Fields, string, RegExp]>([
    ["tool", tool({ title: 5 }), "title", /^`title` must be a string, but it is a number$/],
    ["tool", tool({ inputSchema: "a" }), "inputSchema", /must be an object, but it is a string$/],
    ["tool", tool({ name: " " }), "name", /^`name` is empty$/],
    ["tool", tool({ handler: 5 }), "handler", /^`handler` has none of the valid forms: it is a number$/],
    ["tool", tool({ annotations: { readOnlyHint: "yes" } }), "annotations.readOnlyHint", /must be a boolean/],
    ["tool", tool({ options: ["a"] }), "options", /must be an object, but it is an array$/],
    ["tool", short({ parameters: ["a"] }), "parameters", /must be an object/],
    ["tool", short({ parameters: { a: "string" } }), "parameters.a", /must be an object, but it is a string/],
    ["tool", short({ parameters: { a: { required: "yes" } } }), "parameters.a.required", /must be a boolean/],
    ["tool", short({ parameters: { "a/b~c": "string" } }), "parameters.a/b~c", /must be an object/],
    ["prompt", prompt({ arguments: { a: {} } }), "arguments", /must be an array, but it is an object$/],
    ["prompt", prompt({ arguments: ["a"] }), "arguments.0", /must be an object, but it is a string$/],
    ["prompt", prompt({ arguments: [{ name: "a", required: 1 }] }), "arguments.0.required", /a boolean/],
    ["prompt", prompt({ content: 5 }), "content", /must be a string or an array of messages/],
    ["toolset", { name: "a", tools: "b" }, "tools", /must be an array, but it is a string$/],
    ["toolset", { name: "a", tools: {} }, "tools", /must be an array, but it is an object$/],
    ["toolset", { name: "a", tools: [5] }, "tools.0", /must be a string, but it is a number$/],
    ["toolset", bundle({ kind: "Mcp.Tool" }), "kind", /^`kind` must be `Mcp\.Tools`$/],
    ["server", { tools: "a" }, "tools", /must be an array/],
    ["server", { tools: [], transport: "sse" }, "transport", /one of `stdio`.*`http`/],
    ["resource", resource({ complete: { page: 5 } }), "complete.page", /none of the valid forms/],
    [
      "resource",
      resource({ annotations: { audience: ["model"] } }),
      "annotations.audience.0",
      /must be one of `user`/,
    ],
    [
      "resource",
      resource({ annotations: { priority: 2 } }),
      "annotations.priority",
      /^`annotations\.priority` must be at most 1, but it is 2$/,
    ],
  ])("a %s %j has a fault at %s: %s", (kind, content, place, reason) => {
    expect(faultsOf(kind, content)[0]).toMatchObject({ place, reason: expect.stringMatching(reason) });
  });

  test.each<[Kind, Fields, string | undefined]>([
    ["tool", short({ parameters: ["a"] }), "`parameters: { city: { type: string } }`"],
    ["tool", short({ parameters: { a: "number" } }), "`{ type: number }`"],
    ["tool", short({ parameters: { a: "A number" } }), "`{ type: string }`"],
    ["tool", short({ parameters: { a: "number?" } }), "`{ type: string }`"],
    ["tool", short({ parameters: { a: "?number" } }), "`{ type: string }`"],
    ["tool", short({ parameters: { a: 5 } }), "`{ type: string }`"],
    ["tool", short({ parameters: { a: { required: "yes" } } }), "Write `required: true`, or remove it."],
    ["tool", tool({ options: ["a"] }), "`maxResults: { default: 50 }`"],
    ["tool", tool({ options: { a: 5 } }), "`maxResults: { default: 50 }`"],
    ["tool", tool({ handler: 5 }), "`./lib/tools.js#createIssue`"],
    ["tool", tool({ initialize: 5 }), "`./lib/tools.js#createIssue`"],
    ["resource", resource({ subscribe: 5 }), "`./lib/tools.js#createIssue`"],
    [
      "resource",
      { ...resource({}), uriTemplate: "docs://{a}", uri: undefined, complete: { a: 5 } },
      "`./lib/docs.js#completePage`",
    ],
    ["prompt", prompt({ arguments: "a" }), "`arguments: [{ name: city, required: true }]`"],
    ["prompt", prompt({ arguments: ["a"] }), "`arguments: [{ name: city, required: true }]`"],
    ["prompt", prompt({ arguments: [{ name: "a", required: 1 }] }), undefined],
    ["toolset", { name: "a", tools: "b" }, "`[b]`"],
    ["toolset", { name: "a", toolsets: {} }, "Write an array of references."],
    ["server", { tools: "a\nb" }, "Write an array of references."],
    ["server", { prompts: "a" }, "`[a]`"],
    ["server", { resources: "a" }, "`[a]`"],
    ["toolset", { name: "a", tools: [5] }, undefined],
    ["tool", tool({ title: 5 }), undefined],
    ["tool", tool({ annotations: { required: 1, title: 5 } }), undefined],
    ["tool", tool({ _meta: 5 }), undefined],
  ])("the hint for a %s %j is %j", (kind, content, words) => {
    const hint = faultsOf(kind, content)[0]?.hint;
    if (words === undefined) expect(hint).toBeUndefined();
    else expect(hint).toContain(words);
  });
});

describe("a whole JSON Schema in `parameters`", () => {
  const properties = { city: { type: "string" } };

  test.each([
    { type: "object", properties },
    { properties, required: ["city"] },
    { type: "object", properties, required: [] },
  ])("%j is one fault, which says where it belongs", (parameters) => {
    const reason = "`parameters` contains a whole JSON Schema";
    const hint = expect.stringContaining("`inputSchema`");
    expect(faultsOf("tool", short({ parameters }))).toEqual([{ place: "parameters", reason, hint }]);
  });

  test("other faults are reported too", () => {
    const parameters = { type: "object", properties };
    expect(faultsOf("tool", short({ parameters, title: 5 })).map(({ place }) => place)).toEqual([
      "title",
      "parameters",
    ]);
  });

  test.each([
    { properties, type: { type: "string" } },
    { type: { type: "string" }, required: { type: "string" } },
  ])("%j are parameters with the names of a schema's keys", (parameters) => {
    expect(faultsOf("tool", short({ parameters }))).toEqual([]);
  });
});

test("parameters with the name of one key of a schema are not a whole one", () => {
  const placesOf = (parameters: Fields) => faultsOf("tool", short({ parameters })).map(({ place }) => place);
  expect(placesOf({ properties: {}, city: "string" })).toEqual(["parameters.city"]);
  expect(placesOf({ type: "object", city: {} })).toEqual(["parameters.type"]);
});

test("the names in `complete` of a prompt are those of its arguments", () => {
  const complete = { city: ["Oslo"] };
  expect(faultsOf("prompt", prompt({ arguments: [{ name: "city" }], complete }))).toEqual([]);
  expect(faultsOf("prompt", prompt({ complete })).map(({ place }) => place)).toEqual(["complete.city"]);
  const odd = prompt({ arguments: [null], complete });
  expect(faultsOf("prompt", odd).map(({ place }) => place)).toEqual(["arguments.0", "complete.city"]);
});

test("faults of messages are reported once, with those of other keys", () => {
  const content = [{ role: "user", content: { type: "text" } }];
  expect(faultsOf("prompt", { content }).map(({ place }) => place)).toEqual(["", "content.0.content"]);
  expect(faultsOf("prompt", prompt({ content: 5, contents: 5 })).map(({ place }) => place)).toEqual([
    "content",
  ]);
});
