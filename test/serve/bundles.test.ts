import { describe, expect, test } from "vitest";
import { startServer } from "../../src/serve.ts";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";
import { samplePack } from "../support/sample-packs.ts";

const { folder: weather } = samplePack("weather-tools");
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

const connect = async (server: string, cwd: string) =>
  connectLegacy((await serveForTest(server, { cwd })).url);

test("two bundles are served at one endpoint, and are toolsets of a session", async () => {
  const client = await connect("weather-tools/McpHttp", weather);
  const { tools } = await client.listTools();
  expect(namesOf(tools)).toEqual([
    "weather_currentConditions",
    "weather_weekendForecast",
    "weather_listStations",
  ]);
  expect(tools[0]?.inputSchema.required).toEqual(["city"]);
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  expect(await call("weather_currentConditions", { city: "Lisbon", units: "fahrenheit" })).toMatchObject({
    content: [{ type: "text", text: "Lisbon: 70 degrees fahrenheit, sunny" }],
    structuredContent: { place: "Lisbon" },
  });
  await expect(call("weather_currentConditions", { city: "Nowhere" })).rejects.toMatchObject({
    code: -32001,
    message: expect.stringContaining("There is no weather station in Nowhere"),
    data: { known: expect.arrayContaining(["Lisbon"]) },
  });
  const wrong = await call("weather_currentConditions", { city: 3 });
  expect(wrong).toMatchObject({ isError: true });
  expect(JSON.stringify(wrong.content)).toContain("/city");
  const session = await openForTest(weather);
  expect(session.toolsets).toContainEqual({ name: "StationTools", tools: ["weather_listStations"] });
  const failed = await session.callTool("weather_currentConditions", { city: "Nowhere" });
  expect(failed).toMatchObject({ variant: "ExceptionThrown", details: { code: -32001 } });
});

/** A pack whose bundles and servers are given, with a handler that echoes. */
const makePack = (bundles: Readonly<Record<string, unknown>>, servers: Readonly<Record<string, unknown>>) =>
  makeProject({
    pack: toolPack(
      {
        strict: {
          inputSchema: { type: "object", properties: { n: { type: "integer", default: 7 } } },
          handler: "./handlers.js#echo",
        },
      },
      "export const echo = (args) => args;",
      {
        "package.json": {
          trailblaze: { tools: ["strict"], toolsets: Object.keys(bundles), servers: Object.keys(servers) },
        },
        ...Object.fromEntries(
          Object.entries(bundles).map(([name, entries]) => [
            `trailblaze/toolsets/${name}.json`,
            { kind: "Mcp.Tools", metadata: { name }, entries },
          ]),
        ),
        ...Object.fromEntries(
          Object.entries(servers).map(([name, server]) => [`trailblaze/servers/${name}.json`, server]),
        ),
      },
    ),
  });
const entry = (name: string, more: object = {}) => ({
  name,
  description: "An entry.",
  argumentsSchema: { type: "object" },
  handler: "./handlers.js#echo",
  ...more,
});
const document = (...tools: string[]) => ({
  kind: "Mcp.HttpEndpoint",
  metadata: { name: "all" },
  serverInfo: { name: "shown", version: "4.5.6" },
  instructions: "Ask.",
  tools,
});

describe("bundles in servers and sessions", () => {
  test("a bundle passes its inputs to handlers and tools, and duplicate names are numbered", async () => {
    const cwd = makePack(
      {
        Bundle: [
          entry("strict", { handler: "strict", inputs: { n: "${{ request.arguments.x? }}" } }),
          entry("odd", {
            inputs: { keys: "${{ request.arguments }}", client: "${{ request.session.clientInfo.name }}" },
          }),
          entry("wrong", { handler: "strict", inputs: { n: "text" } }),
        ],
      },
      { all: { tools: ["strict"], toolsets: ["Bundle"] } },
    );
    const client = await connect("pack/all", cwd);
    expect(namesOf((await client.listTools()).tools)).toEqual(["strict1", "strict2", "odd", "wrong"]);
    const call = async (name: string, args: object) =>
      client.callTool({ name, arguments: args as Record<string, unknown> });
    expect((await call("strict2", { x: 3 })).structuredContent).toEqual({ n: 3 });
    expect((await call("strict2", {})).structuredContent).toEqual({ n: 7 });
    const names = JSON.parse('{ "constructor": 1, "__proto__x": 2 }');
    expect((await call("odd", names)).structuredContent).toEqual({ keys: names, client: "tester" });
    expect(await call("wrong", {})).toMatchObject({ isError: true });
  });

  test("a document of a server says its name, its version and its instructions", async () => {
    const client = await connect("pack/all", makePack({ Bundle: [entry("x")] }, { all: document("Bundle") }));
    expect(client.getServerVersion()).toMatchObject({ name: "shown", version: "4.5.6" });
    expect(client.getInstructions()).toBe("Ask.");
  });

  test.each([
    [
      "whose entry is in another one too",
      { A: [entry("x")], B: [entry("x")] },
      document("A", "B"),
      "DuplicateBundleEntry",
    ],
    ["that is listed twice", { A: [entry("x")] }, document("A", "A"), "DuplicateBundleEntry"],
    ["with a broken entry", { A: [entry("x", { handler: "./none.js" })] }, document("A"), "HandlerNotFound"],
  ])("a bundle %s is not served", async (_, bundles, server, code) => {
    const cwd = makePack(bundles, { all: server });
    const { error } = (await startServer("pack/all", { cwd, transport: { port: 0 } }).then(
      (running) => running.close(),
      (thrown) => ({ error: thrown }),
    )) as { error: { code: string; problem: { args: object } } };
    expect(error.code).toBe(code);
    if (code === "DuplicateBundleEntry")
      expect(error.problem.args).toMatchObject({ bundles: expect.arrayContaining(["pack/A"]) });
  });

  test("a bundle with invalid entries is registered in a session without them", async () => {
    const cwd = makePack(
      { Bad: [entry("x", { inputs: { a: "${{ 1 + }}" } }), entry("y")], Good: [entry("z")] },
      {},
    );
    const session = await openForTest(cwd);
    expect(namesOf(session.tools)).toEqual(["strict", "z"]);
    expect(session.skipped.map(({ name, reason }) => [name, reason])).toEqual([
      ["x", "Invalid"],
      ["y", "Invalid"],
    ]);
  });
});
