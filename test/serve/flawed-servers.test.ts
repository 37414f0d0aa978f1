// The servers end with the session or with what serves it, which each test closes.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
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

const keys = Object.keys(flaws) as Key[];
const entries = keys.flatMap(entriesOf);
const lists = keys.map((key) => {
  const ofKey = entries.filter((one) => one.key === key).map(({ entry }) => entry);
  return [methods[key], { [key]: ofKey }] as const;
});
const { "tools/list": tools = {}, ...others } = Object.fromEntries(lists);
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
    expect([...listed.keys()]).toEqual(expect.arrayContaining(["good", ...entries.map(({ name }) => name)]));
    for (const { name, path } of entries)
      expect(at(listed.get(name), path), `${name} ${path}`).toEqual(replaced.get(path));
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

test("what a pack answers is read as what servers answer, and is reported once, with the pack, the item and the key", async () => {
  const all = [[textBlock, textBlock], ...blocks, ...unusable.slice(0, 1)] as [Json, Json][];
  const content = all.map(([block]) => block);
  const expected = all.map(([, rest]) => rest);
  const messages = content.map((one) => ({ role: "user", content: one }));
  const said = expected.map((one) => ({ role: "user", content: one }));
  const pack = toolPack(
    { result: {} },
    `export const result = () => ({ content: ${JSON.stringify(content)}, isError: null, _meta: null });
     export const ask = () => ({ messages: ${JSON.stringify(messages)}, description: null });`,
    {
      "package.json": { trailblaze: { prompts: ["ask"] } },
      "trailblaze/prompts/ask.json": { name: "ask", handler: "./handlers.js#ask" },
    },
  );
  const cwd = makeProject({ "@acme/flawed": pack }, { "trailblaze.config.json": { logDir: "logs" } });
  const session = await openForTest(cwd);
  for (let call = 0; call < 2; call++)
    expect((await session.callTool("result", {})).content).toEqual(expected);
  expect((await session.getPrompt("ask")).messages).toEqual(said);
  for (const client of (await connectTo("acme/flawed", cwd)) as unknown as Client[]) {
    expect(await client.callTool({ name: "result" })).toMatchObject({ content: expected });
    expect((await client.getPrompt({ name: "ask" })).messages).toEqual(said);
  }
  const found = session.problems.filter(({ code }) => code === "ServerResultIncomplete");
  const reported = found.map(({ message }) => message);
  const start =
    '"content[].annotations" in the result of `tools/call` for "result" of pack "@acme/flawed" is left';
  expect(reported).toContainEqual(expect.stringContaining(start));
  expect(new Set(reported).size).toBe(reported.length);
  expect(found[0]).toMatchObject({ severity: "warning", pack: "@acme/flawed" });
});
