// MCP Apps through the gateway. Each server ends with its session.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { listed, readLockText } from "../approval/support/locked-project.ts";
import { editLock } from "../lock/support/locked-project.ts";
import { listingConfig, makeLocked, writeListing } from "../session/support/lazy.ts";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
import {
  connectLegacy,
  connectModern,
  connectToCommand,
  serveForTest,
  waitForTools,
} from "../support/clients.ts";

const extension = "io.modelcontextprotocol/ui";
const knows = { extensions: { [extension]: { mimeTypes: ["text/html;profile=mcp-app", "text/x"] } } };
const told = { extensions: { [extension]: { mimeTypes: ["text/html;profile=mcp-app"] } } };
const page = "ui://board/index.html";

const entry = (name: string, env: object = {}, more: object = {}) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("app-server.mjs", import.meta.url))],
  env: { NAME: name, ...env },
  ...more,
});
const config = {
  logDir: "logs",
  mcpServers: {
    a: entry("a", {}, { prefix: "p_" }),
    b: entry("b", { MODERN: "1" }),
  },
};
const pack = toolPack(
  {
    paint: { _meta: { ui: { resourceUri: page } } },
    forward: {},
  },
  `export const paint = () => ({ content: [{ type: "resource_link", uri: "${page}", name: "own" }] });
   export const forward = async (_, { callTool }) => ({ content: (await callTool("b/show")).content });`,
  {
    "package.json": { trailblaze: { resources: ["board"] } },
    "trailblaze/resources/board.json": { name: "board", uri: page, text: "pack", _meta: { ui: { csp: {} } } },
  },
);

async function serve(cwd: string, more: object = {}) {
  const { url } = await serveForTest(null, { cwd, config: { ...config, ...more } });
  await waitForTools(await connectModern(url), "p_show", "show");
  return url;
}

const outside = (label: string, uri = page) => `ui://${encodeURIComponent(label)}/${uri.slice(5)}`;

test("two servers and a pack with one page each show their own, by URIs with their labels", async () => {
  const url = await serve(makeProject({ pack }));
  for (const client of [await connectLegacy(url, knows), await connectModern(url, knows)]) {
    expect(client.getServerCapabilities()?.extensions).toHaveProperty([extension], {});
    const { tools } = await client.listTools();
    const metaOf = (name: string) => tools.find((tool) => tool.name === name)?._meta;
    expect(metaOf("p_show")).toEqual({
      ui: { resourceUri: outside("a") },
      "ui/resourceUri": outside("a"),
      "com.example/key": [1],
    });
    expect(metaOf("paint")).toMatchObject({ ui: { resourceUri: outside("pack") } });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(["a", "b", "pack"].map((label) => outside(label)));
    expect(resources.find(({ uri }) => uri === outside("a"))?._meta).toEqual({
      ui: { csp: { connectDomains: ["https://example.com"] } },
      "com.example/key": [1],
    });
    const templates = (await client.listResourceTemplates()).resourceTemplates;
    expect(templates.map((one) => one.uriTemplate)).toEqual(["ui://a/rows/{id}", "ui://b/rows/{id}"]);
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
    for (const label of ["a", "b"]) {
      // Listed, of a template, and named by a tool alone; the last as its app knows it.
      for (const own of [page, "ui://rows/7", `ui://board/${label}`])
        expect(await read(outside(label, own))).toMatchObject({
          uri: outside(label, own),
          text: `${label} ${own}`,
          _meta: { ui: { csp: { connectDomains: ["https://example.com"] } } },
        });
      expect(await read(`ui://board/${label}`)).toMatchObject({ text: `${label} ui://board/${label}` });
      const ref = { type: "ref/resource", uri: `ui://${label}/rows/{id}` } as const;
      const { completion } = await client.complete({ ref, argument: { name: "id", value: "" } });
      expect(completion.values).toEqual(["ui://rows/{id}"]);
    }
    expect(await read(outside("pack"))).toMatchObject({ uri: outside("pack"), text: "pack" });
    // What several have is nobody's.
    for (const uri of [page, "ui://rows/7", outside("a", "ui://board/b")])
      await expect(read(uri)).rejects.toThrow("Resource not found");
    const call = (name: string) => client.callTool({ name, arguments: {} });
    const shown = {
      content: [
        { uri: outside("b", "ui://linked/1") },
        { resource: { uri: outside("b", "ui://made/1"), text: "b" } },
      ],
    };
    expect(await call("show")).toMatchObject({
      ...shown,
      _meta: { ui: { resourceUri: outside("b") }, "com.example/key": 2 },
    });
    expect(await read(outside("b", "ui://linked/1"))).toMatchObject({ text: "b ui://linked/1" });
    expect(await call("paint")).toMatchObject({ content: [{ uri: outside("pack") }] });
    // Code passes on what it gets of others.
    expect(await call("forward")).toMatchObject(shown);
  }
});

test("tools for apps alone are hidden from models, and every client may call them, by their own names too", async () => {
  const url = await serve(makeProject({}));
  for (const connect of [connectLegacy, connectModern])
    for (const [capabilities, hidden] of [
      [knows, ["p_own_a", "own_b"]],
      [{}, []],
    ] as const) {
      const client = await connect(url, capabilities);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(["p_show", "p_told_a", "show", "told_b", ...hidden]);
      for (const name of ["p_own_a", "own_a", "own_b"])
        expect(await client.callTool({ name, arguments: {} })).toHaveProperty("_meta");
    }
  const session = await openForTest(makeProject({}), { config });
  expect(session.toolsForLlm().map(({ name }) => name)).not.toContain("own_b");
  expect(session.tools.find(({ name }) => name === "own_b")).toMatchObject({
    isForLlm: false,
    _meta: { ui: { resourceUri: "ui://b/board/b" } },
  });
});

const saying = async (client: { callTool(call: object): Promise<object> }, name: string) => {
  const { content } = (await client.callTool({ name, arguments: {} })) as { content: { text: string }[] };
  const { extensions } = JSON.parse(content[0]?.text ?? "");
  return { extensions };
};

test("servers are told what clients and hosts know of apps", async () => {
  const url = await serve(makeProject({}));
  for (const connect of [connectLegacy, connectModern])
    for (const capabilities of [{ extensions: { ...knows.extensions, "com.example/other": {} } }, {}]) {
      const client = (await connect(url, capabilities)) as never;
      expect(await saying(client, "p_told_a")).toEqual(told);
      expect(await saying(client, "told_b")).toEqual("extensions" in capabilities ? knows : {});
    }
  for (const options of [{ extensions: { ...knows.extensions, "com.example/other": {} } }, {}]) {
    const session = await openForTest(makeProject({}), { config, ...options });
    for (const name of ["a/told_a", "told_b"])
      expect(JSON.parse((await session.callTool(name)).message).extensions).toEqual(
        options.extensions && knows.extensions,
      );
  }
});

test("over stdio, servers start with the client's first message, and are told its declaration", async () => {
  const cwd = makeProject({}, { "trailblaze.config.json": config });
  const { client } = await connectToCommand(cwd, { capabilities: knows });
  await waitForTools(client, "p_told_a", "told_b");
  for (const name of ["p_told_a", "told_b"]) expect(await saying(client as never, name)).toEqual(knows);
});

test("updates have the URI that was subscribed to, and what the gateway does not know goes to no server", async () => {
  const cwd = makeProject({});
  const client = await connectLegacy(await serve(cwd), knows);
  const heard: string[] = [];
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void heard.push(params.uri),
  );
  await client.subscribeResource({ uri: outside("a") });
  await client.callTool({ name: "p_show", arguments: {} });
  await expect.poll(() => heard).toEqual([outside("a")]);
  for (const method of ["ui/initialize", "tasks/list", "com.example/do"])
    await expect(client.request({ method } as never, {} as never)).rejects.toMatchObject({ code: -32601 });
  expect(readFileSync(join(cwd, "trace"), "utf8")).not.toMatch(/ui\/|tasks|example/);
});

test("what an approved tool names is approved, unless it is denied, and an app alone is nothing without its tool", async () => {
  const uses = (name: string, resourceUri: string) => listed(name, { _meta: { ui: { resourceUri } } });
  const tools = [
    uses("show", "ui://fresh"),
    uses("draw", "ui://refused"),
    uses("gone", "ui://of/gone"),
    uses("row", "ui://rows/1"),
    listed("grow"),
  ];
  const cwd = await makeLocked(listingConfig(["a"]), {}, { "a.json": { tools } });
  await editLock(cwd, ({ servers }) => {
    delete (servers.a as { lists: { gone?: object } }).lists.gone;
    Object.assign(servers.a ?? {}, {
      denied: ["resource:ui://refused", "resource:ui://rows/{id}", "tool:gone"],
    });
  });
  // `meta` has URIs as the server writes them, and lazy servers are listed from it.
  expect(readLockText(cwd)).toContain('"ui://fresh"');
  writeListing(cwd, {
    tools,
    resources: [
      { uri: "ui://fresh", name: "fresh" },
      { uri: "ui://other", name: "other" },
    ],
  });
  const { url } = await serveForTest(null, { cwd, config: "trailblaze.config.json" });
  const client = await connectLegacy(url);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["draw", "grow", "row", "show"]);
  const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
  // Before and after the start.
  for (const _ of ["idle", "running"]) {
    expect(await read("ui://a/fresh")).toMatchObject({ uri: "ui://a/fresh", text: "read" });
    for (const uri of ["ui://a/refused", "ui://a/rows/1", "ui://a/of/gone", "ui://a/other"])
      await expect(read(uri)).rejects.toThrow();
  }
  // It is not recorded, so it is not listed.
  expect((await client.listResources()).resources).toEqual([]);
});

test("no source answers for another by a URI with its label", async () => {
  const resource = (uri: string) => ({ uri, name: uri });
  const lists = {
    "a.json": { resources: [resource("ui://a/own"), resource("ui://own")] },
    "b.json": { resources: ["ui://a/posed", "ui://d/posed", "ui://free/1", "ui://a%2Fx/1"].map(resource) },
  };
  const d = toolPack({ draw: {} }, "export const draw = () => {};", {
    "package.json": { trailblaze: { resources: ["own"] } },
    "trailblaze/resources/own.json": { name: "own", uri: "ui://d/own", text: "own" },
  });
  const session = await openForTest(makeProject({ d }, lists), { config: listingConfig(["a", "b"]) });
  const read = async (uri: string) => (await session.readResource(uri)).contents[0];
  // As apps know them; a label may be how a source begins its own.
  for (const uri of ["ui://free/1", "ui://a%2Fx/1", "ui://b/a/posed"]) expect(await read(uri)).toBeDefined();
  expect(await read("ui://a/own")).toMatchObject({ uri: "ui://a/own" });
  for (const uri of ["ui://d/d/own", "ui://d/own"])
    expect(await read(uri)).toMatchObject({ uri: "ui://d/d/own" });
  for (const uri of [
    "a/posed",
    "d/posed",
    "A/own",
    "%61/own",
    "a/../b/free/1",
    "a%2Fown",
    "/own",
    "b//a/posed",
  ])
    await expect(read(`ui://${uri}`)).rejects.toThrow("ui://");
});

test.each([
  [{}, true],
  [{ packs: { deny: ["pack/board"] } }, false],
])("a composed server has the pages that its tools name, unless they are denied", async (config, isRead) => {
  const cwd = makeProject(
    { pack },
    { "trailblaze.config.json": { ...config, servers: { one: { tools: ["pack/paint"] } } } },
  );
  const client = await connectLegacy((await serveForTest("one", { cwd })).url);
  const { tools } = await client.listTools();
  expect(tools[0]?._meta).toMatchObject({ ui: { resourceUri: outside("pack") } });
  const read = client.readResource({ uri: outside("pack") });
  if (!isRead) await expect(read).rejects.toThrow();
  else expect((await read).contents).toMatchObject([{ uri: outside("pack"), text: "pack" }]);
});

test("a change of what a tool shows alone is told to clients", async () => {
  const grown = listed("say", { _meta: { ui: { resourceUri: "ui://new" } } });
  const cwd = makeProject({}, { "a.json": { tools: [listed("say"), listed("grow")] } });
  const { url } = await serveForTest(null, { cwd, config: listingConfig(["a"]) });
  const client = await connectLegacy(url);
  let heard = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard++);
  await waitForTools(client, "say");
  writeListing(cwd, { tools: [grown, listed("grow")] });
  await client.callTool({ name: "grow", arguments: {} });
  await expect.poll(() => heard, { timeout: 5000 }).toBe(1);
  expect((await client.listTools()).tools[0]?._meta).toMatchObject({ ui: { resourceUri: "ui://a/new" } });
});
