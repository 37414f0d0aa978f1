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
    `${JSON.stringify({ jsonrpc: "2.0", id: "ID", result }).replaceAll('"1e400"', "1e400")}\n`,
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
        ...[null, { type: "nothing" }, { ...object, properties: { a: { $ref: "#/$defs/Gone" } } }],
        { ...object, properties: { a: { type: "string", pattern: "(?i)^[a-z]+$" } } },
        { $schema: "http://json-schema.org/draft-04/schema#", id: "old", ...object },
        { ...object, properties: { a: { $id: "https://example.com/schema" } } },
        { ...object, properties: { a: { $ref: "https://example.com/schema.json" } } },
        { ...object, properties: { a: { nullable: true } } },
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

/** What a client lists, all pages of it. */
async function listAll(client: Client, key: Key): Promise<Json[]> {
  const ask = (cursor: string | undefined) => {
    const params = cursor === undefined ? {} : { cursor };
    if (key === "tools") return client.listTools(params);
    if (key === "prompts") return client.listPrompts(params);
    return key === "resources" ? client.listResources(params) : client.listResourceTemplates(params);
  };
  const found: Json[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = (await ask(cursor)) as unknown as Record<Key, Json[]> & { nextCursor?: string };
    found.push(...page[key]);
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
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
      const lists = await Promise.all(keys.map((key) => listAll(client as unknown as Client, key)));
      const listed = new Map(lists.flat().map((one) => [one.name, one]));
      expect([...listed.keys()]).toEqual(
        expect.arrayContaining(["good", ...entries.map(({ name }) => name)]),
      );
      for (const { name, path } of entries) {
        let value: unknown = listed.get(name);
        for (const step of path.split(".")) value = (value as Json | undefined)?.[step];
        expect(value, `${name} ${path}`).toEqual(replaced.get(path));
      }
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

test("a property without a valid schema stays, so that strict clients take results that have it", async () => {
  const outputSchema = {
    ...object,
    properties: { a: null, b: { type: "string" } },
    additionalProperties: false,
  };
  const structuredContent = { a: 1, b: "x" };
  const result = { content: [], structuredContent };
  const tools = [{ name: "closed", inputSchema: object, outputSchema }];
  for (const client of await connectBoth(serverOf({ "tools/call": result }, [{ tools }]))) {
    await client.listTools();
    expect(await client.callTool({ name: "closed" })).toMatchObject({ structuredContent });
  }
});

test("an entry that cannot be offered is left out alone, with its reason", async () => {
  const tools = [{ name: "a" }, { name: "", inputSchema: object }, { name: "b", inputSchema: object }, null];
  const session = await openForTest(makeProject({}), { config: configOf(serverOf({}, [{ tools }])) });
  expect(session.tools.map(({ name }) => name)).toEqual(["good", "b"]);
  expect(session.problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'ServerListIncomplete "a" of the tools of server "flawed" is left out: it has no `inputSchema`.',
    'ServerListIncomplete One of the tools of server "flawed" is left out: it has no valid `name`, which is not a string with characters.',
    'ServerListIncomplete One of the tools of server "flawed" is left out: it is null.',
  ]);
});

test.each([
  ["repeats a cursor", "0", "it repeats a cursor"],
  ["has a number as its cursor", 1, "its cursor is not a string with characters"],
])("a list that %s ends, and keeps what came", async (_, nextCursor, reason) => {
  const page = { tools: [{ name: "a", inputSchema: object }], nextCursor };
  const session = await openForTest(makeProject({}), { config: configOf(serverOf({}, [page])) });
  expect(session.tools.map(({ name }) => name)).toContain("a");
  expect(session.problems).toMatchObject([
    { code: "ServerListIncomplete", message: expect.stringContaining(`${reason}.`) },
  ]);
});

test("a server that declares tools and does not know `tools/list` has none, and the message says so", async () => {
  const error = { code: -32601, message: "Method not found" };
  const answers = { "tools/list": `${JSON.stringify({ jsonrpc: "2.0", id: "ID", error })}\n` };
  const flawed = { command: process.execPath, args: [fixture, JSON.stringify({ answers })] };
  const session = await openForTest(makeProject({}), { config: configOf(flawed) });
  expect(session.problems).toMatchObject([
    {
      code: "ServerListIncomplete",
      message:
        'The tools of server "flawed" are left out: it answered `tools/list` with the error -32601: Method not found.',
    },
  ]);
});

const textBlock = { type: "text", text: "3 rows" };
const link = { type: "resource_link", uri: "a:b", name: "b" };
const image = { type: "image", data: "aGk=", mimeType: "image/png" };
const embedded = { type: "resource", resource: { uri: "a:b", text: "hi" } };
const ofBlock: Flaw[] = [...ofAnnotations, ["_meta", 5]];

/** Blocks with the optional keys that strict clients reject. */
const blocks = (
  [
    [textBlock, ofBlock],
    [image, ofBlock],
    [link, [...ofResource, ["size", 2 ** 60]]],
    [embedded, [...ofBlock, ["resource.mimeType", 5], ["resource._meta", null]]],
  ] as [Json, Flaw[]][]
).flatMap(([base, known]) =>
  known.flatMap(([path, ...values]) =>
    values.map((value) => ({ path, block: change(base, path.split("."), value) })),
  ),
);

/** Blocks that strict clients reject whatever is left out, and what they become. */
const unusable: [unknown, string][] = [
  [
    { type: "a_later_kind", value: 1 },
    '[Content of the type "a_later_kind" is left out: it has a type that clients do not know.]',
  ],
  [{}, "[Content is left out: it has no `type`.]"],
  [
    { ...image, data: "%" },
    '[Content of the type "image" is left out: it has no valid `data`, which is not base64.]',
  ],
];

const resultTool = serverOf({}, [{ tools: [{ name: "result", inputSchema: object }] }]);

interface Caller {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

/** Calls through a session and through both eras of `start`; each answers with what remains of the result. */
async function callEverywhere(results: readonly Json[]): Promise<{ all: Json[][]; problems: string[] }> {
  const session = await openForTest(makeProject({}), { config: configOf(resultTool) });
  const clients: readonly Caller[] = (await connectBoth(resultTool)) as never;
  const all: Json[][] = [];
  for (const result of results) {
    const args = { result };
    const { content, structuredContent, variant, _meta } = await session.callTool("result", args);
    const isError = variant === "Success" ? undefined : true;
    const answers = [{ content, structuredContent, isError, _meta }];
    for (const client of clients) {
      const { resultType: _, ...answer } = (await client.callTool({
        name: "result",
        arguments: args,
      })) as Json;
      const { "io.modelcontextprotocol/serverInfo": __, ...meta } = (answer._meta ?? {}) as Json;
      answers.push({ ...answer, _meta: Object.keys(meta).length === 0 ? undefined : meta } as never);
    }
    all.push(answers as Json[]);
  }
  return { all, problems: session.problems.map(({ code, message }) => `${code} ${message}`) };
}

describe("what a tool of a server answers", () => {
  test("optional keys of content that are null or invalid are left out, and the rest arrives", async () => {
    const { all } = await callEverywhere(blocks.map(({ block }) => ({ content: [textBlock, block] })));
    expect(all).toHaveLength(blocks.length);
    for (const [index, answers] of all.entries()) {
      const { path = "" } = blocks[index] ?? {};
      for (const { content } of answers) {
        const [first, second] = content as Json[];
        let value: unknown = second;
        for (const step of path.split(".")) value = (value as Json | undefined)?.[step];
        expect([first, value], path).toEqual([textBlock, undefined]);
        expect(second).toMatchObject({ type: blocks[index]?.block.type });
      }
    }
  });

  test("content that no client can take becomes a text that names it", async () => {
    const { all, problems } = await callEverywhere(
      unusable.map(([block]) => ({ content: [textBlock, block] })),
    );
    for (const [index, answers] of all.entries()) {
      const text = { type: "text", text: unusable[index]?.[1] };
      for (const { content } of answers) expect(content).toEqual([textBlock, text]);
    }
    expect(problems).toContain(
      'ServerResultIncomplete "content[]" in the result of `tools/call` for "result" of server "flawed" is left out: it has no `type`.',
    );
  });

  test("results are read alike in sessions and by clients of both eras", async () => {
    const cases: [Json, Json][] = [
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
    ];
    const { all } = await callEverywhere(cases.map(([result]) => result));
    for (const [index, [result, expected]] of cases.entries())
      for (const answer of all[index] ?? []) expect(answer, JSON.stringify(result)).toEqual(expected);
    expect(all).toHaveLength(cases.length);
  });
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
    {
      role: "user",
      content: {
        type: "text",
        text: '[Content of the type "a_later_kind" is left out: it has a type that clients do not know.]',
      },
    },
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
  const content = [
    textBlock,
    ...blocks.map(({ block }) => block),
    // The definition of a prompt is checked, and must have none of these.
    ...unusable.slice(0, 1).map(([one]) => one),
  ];
  const undefinable = 1;
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
    "trailblaze/prompts/fill.json": { name: "fill", content: messages.slice(0, -undefinable) },
    "trailblaze/resources/doc.json": {
      name: "doc",
      uri: "test://doc",
      handler: "./code.js#doc",
      ...shown,
      annotations: { audience: ["user"] },
    },
  };
  const project = () =>
    makeProject({ "@acme/flawed": pack }, { "trailblaze.config.json": { logDir: "logs" } });

  /** The blocks without what is invalid, as a server's result has them. */
  async function readBlocks() {
    const { all } = await callEverywhere([{ content }]);
    return all[0]?.[0]?.content as Json[];
  }

  test("is read as what servers answer, and is reported once, with the pack, the item and the key", async () => {
    const expected = await readBlocks();
    const said = expected.map((one) => ({ role: "user", content: one }));
    const prompts = [
      ["ask", said],
      ["fill", said.slice(0, -undefinable)],
    ] as const;
    const cwd = project();
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
