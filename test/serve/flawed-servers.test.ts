// The servers end with the session or with what serves it, which each test closes.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { describe, expect, test } from "vitest";
import { makeProject, openForTest } from "../session/support/session.ts";
import { connectLegacy, connectModern, serveForTest } from "../support/clients.ts";
import { inRepository } from "../support/repository.ts";

const fixture = inRepository("test/mcp/client/fixtures/server.mjs");
type Json = Readonly<Record<string, unknown>>;

/** A server that answers methods with these results. */
const serverOf = (results: Json, pages: readonly object[] = [{ tools: [] }]) => {
  const none = { "prompts/list": { prompts: [] }, "resources/list": { resources: [] } };
  const all = { ...none, "resources/templates/list": { resourceTemplates: [] }, ...results };
  const answers = Object.entries(all).map(([method, result]) => [
    method,
    // A number that JavaScript cannot write.
    `${JSON.stringify({ jsonrpc: "2.0", id: "ID", ...("error" in (result as object) ? (result as object) : { result }) }).replaceAll('"1e400"', "1e400")}\n`,
  ]);
  const capabilities = { tools: {}, prompts: {}, resources: {} };
  const options = { capabilities, pages, answers: Object.fromEntries(answers) };
  return { command: process.execPath, args: [fixture, JSON.stringify(options)] };
};

const good = serverOf({}, [{ tools: [{ name: "good", inputSchema: { type: "object" } }] }]);
const configOf = (flawed: object) => ({ logDir: "logs", mcpServers: { good, flawed } });

/** The strict clients of both SDKs, of the session with this server. */
const connectBoth = (flawed: object) =>
  connectTo(null, makeProject({}, { "trailblaze.config.json": configOf(flawed) }));

/** The same of the session of a project, or of a server in it. */
async function connectTo(server: string | null, cwd: string) {
  const session = server === null ? { watch: false } : undefined;
  const { url } = await serveForTest(server, { cwd, session });
  return [await connectLegacy(url), await connectModern(url)] as const;
}

/** The same value with another one at a path. */
function change(base: Json, path: readonly string[], value: unknown): Json {
  const [key = "", ...rest] = path;
  return { ...base, [key]: rest.length === 0 ? value : change((base[key] ?? {}) as Json, rest, value) };
}

/** The value at a path. */
const at = (value: unknown, path: string) =>
  path.split(".").reduce<unknown>((inner, step) => (inner as Json | undefined)?.[step], value);

type Flaw = readonly [path: string, ...values: unknown[]];

const ofText: Flaw[] = [
  ["title", 5],
  ["description", null],
  ["icons", "x"],
  ["_meta", "x"],
];
const ofAnnotations: Flaw[] = [
  ["annotations", "x"],
  ["annotations.audience", "user"],
  ["annotations.priority", 7],
  ["annotations.lastModified", "yesterday"],
];
const ofResource: Flaw[] = [...ofText, ...ofAnnotations, ["mimeType", 5]];
const object = { type: "object" };

/** The optional keys of what is listed, with values that strict clients reject. */
const flaws = {
  tools: {
    base: { inputSchema: object },
    flaws: [
      ...ofText,
      ["annotations", "x"],
      ["annotations.readOnlyHint", "yes"],
      ["execution.taskSupport", "sometimes"],
      ["inputSchema.properties", []],
      ["inputSchema.properties.q", 5],
      ["inputSchema.required", "q"],
      ["inputSchema.type", "string"],
      [
        "outputSchema",
        ...[null, { ...object, properties: { a: { $ref: "#/$defs/Gone" } } }],
        { ...object, properties: { a: { type: "string", pattern: "(?i)^[a-z]+$" } } },
        { $schema: "http://json-schema.org/draft-04/schema#", id: "old", ...object },
        { ...object, properties: { a: { $ref: "https://example.com/schema.json" } } },
      ],
    ] as Flaw[],
  },
  prompts: { base: {}, flaws: [...ofText, ["arguments", "x"]] as Flaw[] },
  resources: { base: { uri: "a:NAME" }, flaws: [...ofResource, ["size", "5", "1e400"]] as Flaw[] },
  resourceTemplates: { base: { uriTemplate: "t:NAME/{x}" }, flaws: ofResource },
};
type Key = keyof typeof flaws;

const methods = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
};

/** What stands instead of an invalid value that is not left out. A property without a schema allows any value. */
const replaced = new Map<string, unknown>([
  ["inputSchema.type", "object"],
  ["inputSchema.properties.q", {}],
]);

/** An entry for each flaw, and what must be left out of it. */
function entriesOf(key: Key) {
  const { base, flaws: known } = flaws[key];
  const cases = known.flatMap(([path, ...values]) => values.map((value) => ({ path, value })));
  return cases.map(({ path, value }, index) => {
    const name = `${key}${index}_`;
    const named = JSON.parse(JSON.stringify({ name, ...base }).replaceAll("NAME", name));
    return { key, name, path, entry: change(named, path.split("."), value) };
  });
}

/** The first page of what a client lists. */
async function listAll(client: Client): Promise<Json[]> {
  const lists = await Promise.all([
    client.listTools(),
    client.listPrompts(),
    client.listResources(),
    client.listResourceTemplates(),
  ]);
  return lists.flatMap((list) => Object.values(list).filter(Array.isArray).flat() as Json[]);
}

describe("what a server lists", () => {
  const keys = Object.keys(flaws) as Key[];
  const entries = keys.flatMap(entriesOf);
  const results = keys.map((key) => {
    const ofKey = entries.filter((one) => one.key === key).map(({ entry }) => entry);
    return [methods[key], { [key]: ofKey }] as const;
  });
  const { "tools/list": tools = {}, ...others } = Object.fromEntries(results);
  const flawed = serverOf(others, [tools]);

  test("each invalid key is left out alone, with a warning, and strict clients get the whole lists", async () => {
    const session = await openForTest(makeProject({}), { config: configOf(flawed) });
    const messages = session.problems.map(({ code, message }) => `${code} ${message}`);
    for (const { name, path } of entries) {
      const start = `ServerListIncomplete "${path}" in "`;
      const found = messages.find((one) => one.startsWith(start) && one.includes(name));
      expect(found, `${name} ${path}`).toContain('of server "flawed" is left out: it ');
    }
    expect(session.problems).toHaveLength(entries.length);
    for (const client of await connectBoth(flawed)) {
      const listed = new Map((await listAll(client as unknown as Client)).map((one) => [one.name, one]));
      expect([...listed.keys()]).toEqual(
        expect.arrayContaining(["good", ...entries.map(({ name }) => name)]),
      );
      for (const { name, path } of entries)
        expect(at(listed.get(name), path), `${name} ${path}`).toEqual(replaced.get(path));
    }
  });
});

test("elements of lists are left out alone, and what is only unusual is kept", async () => {
  const tool = {
    name: "odd",
    icons: [{}, { src: "a:b", sizes: "1x1", theme: "blue" }],
    inputSchema: { properties: { any: true, none: false } },
    outputSchema: { ...object, properties: { a: { enum: [1, 2] } } },
  };
  const prompt = { name: "ask", arguments: [{}, { name: "a", required: "yes", title: null }], other: 1 };
  const $schema = "https://json-schema.org/draft/2019-09/schema";
  const same = ["one", "two"].map((name) => {
    const outputSchema = { $schema, $id: "https://example.com/schema", ...object };
    return { name, inputSchema: object, outputSchema };
  });
  const page = { tools: [{ ...tool, other: 1 }, ...same] };
  const flawed = serverOf({ "prompts/list": { prompts: [prompt] } }, [page]);
  for (const client of await connectBoth(flawed)) {
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "odd")).toEqual({
      ...tool,
      icons: [{ src: "a:b" }],
      inputSchema: { type: "object", properties: { any: {}, none: { not: {} } } },
    });
    // Clients would compile two schemas with one `$id`.
    expect(tools.slice(-2).map((one) => one.outputSchema)).toEqual(same.map(() => ({ $schema, ...object })));
    expect((await client.listPrompts()).prompts).toEqual([{ name: "ask", arguments: [{ name: "a" }] }]);
  }
});

const listed = { name: "b", inputSchema: object };
test.each<[what: string, server: object, tools: string[], messages: string[]]>([
  [
    "with entries that cannot be offered",
    serverOf({ "resources/list": { resources: [{ uri: "a:b" }] } }, [
      { tools: [{ name: "a" }, { ...listed, name: "" }, listed, null] },
    ]),
    ["good", "b"],
    [
      '"a" of the tools of server "flawed" is left out: it has no `inputSchema`.',
      'One of the tools of server "flawed" is left out: it has no valid `name`, ',
      'One of the tools of server "flawed" is left out: it is null.',
      '"a:b" of the resources of server "flawed" is left out: it has no `name`.',
    ],
  ],
  [
    "with a number as its cursor",
    serverOf({}, [{ tools: [listed], nextCursor: 1 }]),
    ["good", "b"],
    ["its cursor is not a string with characters."],
  ],
  [
    "that its server does not know",
    serverOf({ "tools/list": { error: { code: -32601, message: "Method not found" } } }),
    ["good"],
    ['The tools of server "flawed" are left out: it answered `tools/list` with the error -32601: '],
  ],
])("a list %s keeps what can be used, and the rest is told", async (_, server, tools, messages) => {
  const session = await openForTest(makeProject({}), { config: configOf(server) });
  expect(session.tools.map(({ name }) => name)).toEqual(tools);
  expect(session.problems).toMatchObject(
    messages.map((message) => ({ code: "ServerListIncomplete", message: expect.stringContaining(message) })),
  );
});

/** Removes what stands at a path. */
const without = (block: Json, path: string): Json =>
  JSON.parse(JSON.stringify(change(block, path.split("."), undefined)));

const textBlock = { type: "text", text: "3 rows" };
const link = { type: "resource_link", uri: "a:b", name: "b" };
const image = { type: "image", data: "aGk=", mimeType: "image/png" };
const embedded = { type: "resource", resource: { uri: "a:b", text: "hi" } };
const ofBlock: Flaw[] = [...ofAnnotations, ["_meta", 5]];

/** Blocks with the optional keys that strict clients reject, and what remains of them. */
const blocks = (
  [
    [textBlock, ofBlock],
    [image, [["annotations.priority", 7]]],
    [link, [...ofResource, ["size", 2 ** 60]]],
    [
      embedded,
      [
        ["resource.mimeType", 5],
        ["resource._meta", null],
      ],
    ],
  ] as [Json, Flaw[]][]
).flatMap(([base, paths]) =>
  paths.map(([path, value]): [Json, Json] => [change(base, path.split("."), value), without(base, path)]),
);

const leftOut = (what: string) => ({ type: "text", text: `[Content${what}]` });
/** Blocks that strict clients reject whatever is left out, and what they become. */
const unusable: [Json, Json][] = [
  [
    { type: "a_later_kind", value: 1 },
    leftOut(' of the type "a_later_kind" is left out: it has a type that clients do not know.'),
  ],
  [{}, leftOut(" is left out: it has no `type`.")],
  [
    { ...image, data: "%" },
    leftOut(' of the type "image" is left out: it has no valid `data`, which is not base64.'),
  ],
];

const resultTool = serverOf({}, [{ tools: [{ name: "result", inputSchema: object }] }]);

/** What remains of results of a server's tool, in a session and for clients of both eras alike. */
const results: [Json, Json][] = [
  [{ content: null }, { content: [] }],
  [{}, { content: [] }],
  [{ content: [textBlock], structuredContent: null, isError: null }, { content: [textBlock] }],
  [
    { content: [textBlock], isError: "yes" },
    { content: [textBlock], isError: true },
  ],
  [{ content: [textBlock], _meta: 5 }, { content: [textBlock] }],
  [
    { content: [textBlock], _meta: { own: 1, trailblaze: { memoryDelta: {} }, progressToken: {} } },
    { content: [textBlock], _meta: { own: 1 } },
  ],
  ...[...blocks, ...unusable].map(([block, rest]): [Json, Json] => [
    { content: [textBlock, block] },
    { content: [textBlock, rest] },
  ]),
];

test("what a tool answers arrives without what is null or invalid, and unusable content is named", async () => {
  const session = await openForTest(makeProject({}), { config: configOf(resultTool) });
  const clients = (await connectBoth(resultTool)) as unknown as Client[];
  for (const [result, expected] of results) {
    const args = { result };
    const { content, structuredContent, variant, _meta } = await session.callTool("result", args);
    const isError = variant === "Success" ? undefined : true;
    expect({ content, structuredContent, isError, _meta }, JSON.stringify(result)).toEqual(expected);
    for (const client of clients) {
      const { resultType: _, ...answer } = (await client.callTool({
        name: "result",
        arguments: args,
      })) as Json;
      const { "io.modelcontextprotocol/serverInfo": __, ...meta } = (answer._meta ?? {}) as Json;
      const shown = { ...answer, _meta: Object.keys(meta).length === 0 ? undefined : meta };
      expect(shown, JSON.stringify(result)).toEqual(expected);
    }
  }
  expect(session.problems.map(({ code, message }) => `${code} ${message}`)).toContain(
    'ServerResultIncomplete "content[]" in the result of `tools/call` for "result" of server "flawed" is left out: it has no `type`.',
  );
});

test("prompts and resources arrive without what is null or invalid", async () => {
  const flawed = serverOf({
    "prompts/list": { prompts: [{ name: "ask" }] },
    "prompts/get": {
      description: null,
      messages: [
        { role: "user", content: { ...textBlock, annotations: null } },
        { role: "user", content: { type: "a_later_kind" } },
      ],
      _meta: { own: 1 },
    },
    "resources/list": { resources: [{ uri: "a:b", name: "b" }] },
    "resources/read": {
      contents: [{ uri: "a:b", text: "hi", mimeType: null, _meta: 5 }, { uri: "a:c" }],
      _meta: { own: 1, "io.modelcontextprotocol/serverInfo": { name: "x", version: "1" } },
    },
  });
  const prompt = [
    { role: "user", content: textBlock },
    { role: "user", content: unusable[0]?.[1] },
  ];
  const contents = [{ uri: "a:b", text: "hi" }];
  const session = await openForTest(makeProject({}), { config: configOf(flawed) });
  expect((await session.getPrompt("ask")).messages).toEqual(prompt);
  expect(await session.readResource("a:b")).toEqual({ contents, _meta: { own: 1 } });
  for (const client of (await connectBoth(flawed)) as unknown as Client[]) {
    expect(await client.getPrompt({ name: "ask" })).toMatchObject({ messages: prompt, _meta: { own: 1 } });
    expect(await client.readResource({ uri: "a:b" })).toMatchObject({ contents, _meta: { own: 1 } });
  }
});

describe("what a pack answers", () => {
  // The last one is refused in the definition of a prompt.
  const all = [[textBlock, textBlock], ...blocks, ...unusable.slice(0, 1)] as [Json, Json][];
  const content = all.map(([block]) => block);
  const expected = all.map(([, rest]) => rest);
  const messages = content.map((one) => ({ role: "user", content: one }));
  const contents = [{ text: "hi", mimeType: null, _meta: 5 }];
  const shown = { title: "Ask", _meta: { own: 1 } };
  const pack = {
    "package.json": { trailblaze: { tools: ["result"], prompts: ["ask", "fill"], resources: ["doc"] } },
    "code.js": [
      `export const result = () => ({ content: ${JSON.stringify(content)}, isError: null, _meta: null });`,
      `export const ask = () => ({ messages: ${JSON.stringify(messages)}, description: null });`,
      `export const doc = () => ({ contents: ${JSON.stringify(contents)} });`,
    ].join("\n"),
    "trailblaze/tools/result.json": {
      name: "result",
      description: "Answers.",
      inputSchema: object,
      handler: "./code.js#result",
    },
    "trailblaze/prompts/ask.json": { name: "ask", handler: "./code.js#ask" },
    "trailblaze/prompts/fill.json": { name: "fill", content: messages.slice(0, -1) },
    "trailblaze/resources/doc.json": {
      name: "doc",
      uri: "test://doc",
      handler: "./code.js#doc",
      ...shown,
      annotations: { audience: ["user"] },
    },
  };
  test("is read as what servers answer, and is reported once, with the pack, the item and the key", async () => {
    const said = expected.map((one) => ({ role: "user", content: one }));
    const prompts = [
      ["ask", said],
      ["fill", said.slice(0, -1)],
    ] as const;
    const cwd = makeProject({ "@acme/flawed": pack }, { "trailblaze.config.json": { logDir: "logs" } });
    const session = await openForTest(cwd);
    expect((await session.callTool("result", {})).content).toEqual(expected);
    for (const [name, filled] of prompts)
      expect((await session.getPrompt(name)).messages, name).toEqual(filled);
    expect(await session.readResource("test://doc")).toEqual({
      contents: [{ uri: "test://doc", text: "hi" }],
    });
    for (const client of (await connectTo("acme/flawed", cwd)) as unknown as Client[]) {
      expect(await client.callTool({ name: "result" })).toMatchObject({ content: expected });
      for (const [name, filled] of prompts)
        expect((await client.getPrompt({ name })).messages, name).toEqual(filled);
      expect(await client.readResource({ uri: "test://doc" })).toMatchObject({
        contents: [{ uri: "test://doc", text: "hi" }],
      });
      expect((await client.listResources()).resources).toMatchObject([
        { title: "Ask", annotations: { audience: ["user"] }, _meta: { own: 1 } },
      ]);
    }
    await session.callTool("result", {});
    const found = session.problems.filter(({ code }) => code === "ServerResultIncomplete");
    const start = (key: string, method: string, name: string) =>
      `"${key}" in the result of \`${method}\` for "${name}" of pack "@acme/flawed" is left out: it `;
    const messages = found.map(({ message }) => message);
    for (const one of [
      `${start("content[].annotations", "tools/call", "result")}is not an object.`,
      `${start("messages[].content", "prompts/get", "ask")}has a type that clients do not know.`,
      `${start("contents[]._meta", "resources/read", "test://doc")}is not an object.`,
    ])
      expect(messages).toContain(one);
    expect(new Set(messages).size).toBe(messages.length);
    expect(found[0]).toMatchObject({ severity: "warning", pack: "@acme/flawed" });
  });

  test("as an error reaches strict clients, also if its structuredContent does not match the outputSchema", async () => {
    const structuredContent = { reason: "locked" };
    const result = { content: [textBlock], isError: true, structuredContent };
    const outputSchema = { ...object, properties: { rows: { type: "number" } }, required: ["rows"] };
    const tool = { name: "fail", description: "Fails.", inputSchema: object, handler: "./code.js" };
    const failing = {
      "package.json": { trailblaze: { tools: ["fail"] } },
      "code.js": `export default () => (${JSON.stringify(result)});`,
      "trailblaze/tools/fail.json": { ...tool, outputSchema },
    };
    const cwd = makeProject({ "@acme/failing": failing });
    const session = await openForTest(cwd);
    // What reads it in a session can take any value.
    expect(await session.callTool("fail", {})).toMatchObject({ message: "3 rows", structuredContent });
    expect(session.problems).toEqual([]);
    for (const client of await connectTo("acme/failing", cwd)) {
      await client.listTools();
      const answer = await client.callTool({ name: "fail" });
      expect(answer).toMatchObject({ content: [textBlock], isError: true });
      expect(answer).not.toHaveProperty("structuredContent");
    }
  });
});
