import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTree, packManifest } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";
import {
  makeProject,
  namesOf,
  openForTest,
  probe,
  server,
  toolPack,
  withServers,
} from "./support/session.ts";

const handler = "export default () => 'done';";
/** A pack with one tool of the item's name. */
const one = (item: string, definition: Readonly<Record<string, unknown>> = {}, fields: object = {}) =>
  toolPack({ [item]: { handler: "./handlers.js", ...definition } }, handler, { "package.json": fields });

describe("packs that a session selects", () => {
  /** The app depends on `near`, which brings `far`. */
  const makeTransitive = (near: object = {}, files: Tree = {}) =>
    makeProject(
      {
        near: { ...one("hear", {}, { dependencies: { far: "*" }, trailblaze: near }), ...files },
        far: one("see", {}, { version: "2.0.0" }),
      },
      { "package.json": { name: "app", version: "1.0.0", dependencies: { near: "*" } } },
    );

  test("a session selects the project's dependencies, and of others those that the config names", async () => {
    const session = await openForTest(makeTransitive());
    expect(namesOf(session.tools)).toEqual(["hear"]);
    expect(session.skipped).toEqual([]);
    await expect(session.callTool("far/see")).rejects.toMatchObject({
      code: "PackNotInstalled",
      problem: { args: { name: "far", isUndeclared: true } },
    });
    const named = await openForTest(makeTransitive(), { config: { packs: { transitive: ["far"] } } });
    expect(namesOf(named.tools)).toEqual(["see", "hear"]);
    expect(named.skipped).toEqual([]);
    const referred = await openForTest(makeTransitive(), { config: { toolsets: { mine: ["far/see"] } } });
    expect(namesOf(referred.tools)).toEqual(["see", "hear"]);
  });

  test("a session selects a transitive pack that a selected item refers to by qualified name", async () => {
    const cwd = makeTransitive(
      { tools: undefined, toolsets: ["senses"] },
      { "trailblaze/toolsets/senses.yaml": "name: senses\ntools: [far/see]\n" },
    );
    const session = await openForTest(cwd);
    expect(namesOf(session.tools)).toEqual(["see"]);
    expect(session.toolsets).toEqual([{ name: "senses", tools: ["see"] }]);
    const denied = await openForTest(cwd, { config: { packs: { deny: ["far"] } } });
    expect(denied.tools).toEqual([]);
    expect(denied.skipped).toMatchObject([{ name: "see", reason: "Denied" }]);
  });

  test("a session selects the items that the policy allows", async () => {
    const cwd = makeProject({
      "@acme/jira": toolPack(
        { read: {}, write: {} },
        "export const read = () => 1; export const write = () => 2;",
      ),
      other: one("other"),
    });
    const session = await openForTest(cwd, {
      config: { packs: { allow: ["acme/*"], deny: ["acme/jira/write"] } },
    });
    expect(namesOf(session.tools)).toEqual(["read"]);
    expect(session.skipped).toMatchObject([
      { name: "write", reason: "Denied", source: { pack: "@acme/jira", item: "write" } },
      { name: "other", reason: "Denied" },
    ]);
  });
});

const fine = { handler: "./handlers.js#fine" };
const packs = () =>
  makeProject({
    broken: toolPack(
      {
        fine: {},
        nowhere: { handler: "./missing.js" },
        reserved: { inputSchema: { type: "object", properties: { _trailblazeContext: {} } }, ...fine },
        shapeless: { inputSchema: { type: "strnig" }, ...fine },
        nameless: { name: "", ...fine },
        slashed: { name: "a/b", ...fine },
      },
      "export const fine = () => 'ok';",
    ),
  });

test("an invalid item is excluded and reported, or fails the session if the config says so", async () => {
  const session = await openForTest(packs());
  expect(namesOf(session.tools)).toEqual(["fine"]);
  expect(session.skipped.map(({ source, reason }) => [source.item, reason])).toEqual([
    ["nowhere", "Invalid"],
    ["reserved", "Invalid"],
    ["shapeless", "Invalid"],
    ["nameless", "Invalid"],
    ["slashed", "Invalid"],
  ]);
  expect(session.problems.map(({ code }) => code).sort()).toEqual([
    "HandlerNotFound",
    "InvalidAdvertisedName",
    "InvalidInputSchema",
    "InvalidToolDefinition",
    "ReservedParameter",
  ]);
  expect(session.problems.find(({ code }) => code === "HandlerNotFound")).toMatchObject({
    pack: "broken",
    item: "nowhere",
    file: "trailblaze/tools/nowhere.json",
  });
  const own = await openForTest(
    makeTree({
      "package.json": packManifest("own", { trailblaze: { tools: ["nowhere"] } }),
      "trailblaze/tools/nowhere.json": { name: "nowhere", handler: "./missing.js" },
    }),
  );
  expect(own.problems.map(({ code }) => code)).toContain("HandlerNotFound");
  const open = openForTest(packs(), { config: { packs: { onError: "fail" } } });
  await expect(open).rejects.toMatchObject({ problem: { pack: "broken", severity: "error" } });
});

describe("metadata of tools", () => {
  const tool = (meta: Readonly<Record<string, unknown>>) => ({
    handler: "./handlers.js#run",
    _meta: Object.fromEntries(Object.entries(meta).map(([key, value]) => [`trailblaze/${key}`, value])),
  });
  const cwd = () =>
    makeProject({
      meta: toolPack(
        {
          android: tool({ supportedPlatforms: ["android"] }),
          driver: tool({ supportedDrivers: ["ios-host"] }),
          anything: tool({ supportedPlatforms: [], supportedDrivers: [] }),
          host: tool({ requiresHost: true }),
          hidden: tool({ surfaceToLlm: false }),
          wrong: tool({ isForLlm: "no", unheardOf: 1 }),
          context: tool({ requiresContext: true }),
        },
        "export const run = () => 1;",
      ),
    });

  test("tools are filtered by platform, driver and agent, and the reasons are named", async () => {
    const session = await openForTest(cwd(), {
      device: { platform: "WEB", driverType: "playwright" },
      preferHostAgent: false,
    });
    expect(namesOf(session.tools)).toEqual(["anything", "hidden", "wrong", "context"]);
    expect(session.skipped.map(({ name, reason }) => [name, reason])).toEqual([
      ["android", "PlatformUnsupported"],
      ["driver", "DriverUnsupported"],
      ["host", "RequiresHost"],
    ]);
    const fitting = await openForTest(cwd(), { device: { platform: "Android", driverType: "ios-host" } });
    expect(fitting.skipped).toEqual([]);
  });

  test("without a device, tools with requirements are excluded; metadata of the wrong type is ignored, and tools hidden from models can be called", async () => {
    const session = await openForTest(cwd());
    expect(namesOf(session.skipped)).toEqual(["android", "driver"]);
    expect(namesOf(session.toolsForLlm())).toEqual(["anything", "host", "wrong", "context"]);
    expect((await session.callTool("hidden")).variant).toBe("Success");
    expect(session.problems.map(({ code }) => code).sort()).toEqual(["InvalidMetaValue", "UnknownMetaKey"]);
  });
});

test("duplicate names are one error that lists all sources, and nothing is registered", async () => {
  const packs = {
    "@b/second": one("search", { name: "find" }),
    first: one("search", { name: "find" }),
    third: one("find1", { name: "find1" }),
  };
  const open = openForTest(makeProject(packs), { builtIns: [builtIn("find1")] });
  const ofPack = (pack: string) => expect.stringMatching(`${pack}@1.0.0.*trailblaze/tools/`);
  await expect(open).rejects.toMatchObject({
    code: "NameCollision",
    problem: {
      args: {
        collisions: [
          { name: "find1", sources: [expect.stringContaining("built-in"), ofPack("third")] },
          { name: "find", sources: [ofPack("@b/second"), ofPack("first")] },
        ],
      },
    },
  });
});

const builtIn = (name: string) => ({
  name,
  description: "Built in.",
  inputSchema: { type: "object" },
  handler: () => "built in",
});

/** The line, from 1, of a part of a text that is there once. */
const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split("\n").length;

const file = "trailblaze.config.json";
const entry = (name: string, more: object = {}) => ({
  ...{ name, description: "An entry.", handler: "./tools.js#run", inputSchema: { type: "object" } },
  ...more,
});

test("errors in the config's tools, options and toolsets are reported with their lines", async () => {
  const config = {
    logDir: "logs",
    builtIns: [
      entry("fine"),
      entry("marked", { _meta: { "trailblaze/isForLlm": "no" } }),
      entry("taken", {
        inputSchema: { type: "object", anyOf: [{ required: ["_trailblazeContext"] }] },
      }),
      entry("odd", { inputSchema: { type: "objekt" } }),
      entry("gone", { handler: "./tool.js#run" }),
      entry("unset", { initialize: "./setup.js" }),
    ],
    options: { fine: { speed: 1 }, "acme/shop/add": { size: 1 } },
    toolsets: { group: ["fine", "lost"] },
  };
  const text = JSON.stringify(config, null, 1);
  const cwd = makeProject({}, { [file]: text, "tools.js": "export const run = () => 'ran';" });
  const session = await openForTest(cwd, { config: join(cwd, file) });
  expect(namesOf(session.tools)).toEqual(["fine", "marked"]);
  expect(session.skipped.map(({ name, reason }) => [name, reason])).toEqual(
    ["taken", "odd", "gone", "unset"].map((name) => [name, "Invalid"]),
  );
  expect(session.skipped[0]?.source).toEqual({ type: "builtIn", item: "taken", file: join(cwd, file) });
  expect(session.problems.map(({ code, severity, line }) => [code, severity, line])).toEqual(
    [
      ["UnmatchedPattern", "warning", '"acme/shop/add"'],
      ["InvalidConfig", "error", '"speed"'],
      ["InvalidMetaValue", "error", '"trailblaze/isForLlm": "no"'],
      ["ReservedParameter", "error", '"_trailblazeContext"'],
      ["InvalidInputSchema", "error", '"type": "objekt"'],
      ["HandlerNotFound", "error", '"./tool.js#run"'],
      ["HandlerNotFound", "error", '"./setup.js"'],
      ["ToolNotFound", "error", '"lost"'],
    ].map(([code, severity, part = ""]) => [code, severity, lineOf(text, part)]),
  );
});

test("an invalid tool of a server is reported with the tool, the server and its declaration", async () => {
  const tools = JSON.stringify([
    { name: "fine.one", inputSchema: { type: "object" } },
    { name: "strict", inputSchema: { type: "object", additionalProperties: false } },
    { name: "taken", inputSchema: { type: "object", properties: { _trailblazeContext: {} } } },
    { name: "marked", inputSchema: { type: "object" }, _meta: { "trailblaze/isForLlm": "no" } },
  ]);
  const config = { logDir: "logs", ...withServers(probe("mine", { PROBE_TOOLS: tools })) };
  const cwd = makeProject({}, { "trailblaze.config.json": config });
  const session = await openForTest(cwd, { config: join(cwd, "trailblaze.config.json") });
  expect(namesOf(session.tools)).toEqual(["fine_one", "strict", "marked"]);
  const place = { path: ["trailblazeSubprocessToolsets", 0], line: 4, column: 5 };
  expect(session.problems).toMatchObject([
    { code: "ReservedParameter", message: expect.stringMatching(/"taken".*"mine"/), ...place },
    { code: "InvalidMetaValue", message: expect.stringMatching(/"marked".*"mine"/), ...place },
  ]);
});

test("tools are ordered: built-ins, the user's servers, then packs by name, each in its own order", async () => {
  const cwd = makeProject({
    zebra: toolPack({ z2: {}, z1: {} }, "export const z1 = () => 1, z2 = z1;"),
    ant: one("a"),
  });
  const session = await openForTest(cwd, {
    builtIns: [builtIn("tap")],
    config: withServers(server("late", ["l"]), server("early", ["s2", "s1"])),
  });
  expect(namesOf(session.tools)).toEqual(["tap", "l", "s2", "s1", "a", "z2", "z1"]);
});

test("valid toolsets of the config, of packs and of tools' metadata merge by short name", async () => {
  const cwd = makeProject({
    "@acme/auth": {
      ...toolPack(
        { login: { _meta: { "trailblaze/toolset": "auth" } }, logout: {}, probe: {} },
        "export const login = () => 1, logout = login, probe = login;",
        {
          "package.json": {
            trailblaze: { tools: ["login", "logout", "probe"], toolsets: ["auth", "all", "bad"] },
          },
        },
      ),
      "trailblaze/toolsets/auth.yaml": "name: auth\ntools: [logout, tap]\n",
      "trailblaze/toolsets/all.yaml": "name: all\ntoolsets: [auth]\ntools: [acme/auth/probe, unheardOf]\n",
      "trailblaze/toolsets/bad.yaml": "name: bad\ndescription: 5\ntools: [probe]\n",
    },
  });
  const session = await openForTest(cwd, {
    builtIns: [builtIn("tap")],
    toolsets: ["auth"],
    config: {
      toolsets: { auth: ["s_env", "acme/auth/probe"], mine: ["tap"], wrong: ["nowhere/at/all"] },
      trailblazeSubprocessToolsets: [probe("s")],
    },
  });
  expect(session.toolsets).toEqual([
    { name: "auth", tools: ["s_env", "probe", "logout", "tap", "s_hidden", "login"] },
    { name: "mine", tools: ["tap"] },
    { name: "wrong", tools: [] },
    { name: "all", tools: ["probe", "logout", "tap"] },
  ]);
  expect(namesOf(session.toolsForLlm())).toEqual(["tap", "s_env", "login", "logout", "probe"]);
  expect(session.tools.find(({ name }) => name === "tap")?.toolsets).toEqual(["auth", "mine", "all"]);
  // A lock would not judge what is invalid, so the session does not use it.
  const codes = ["InvalidToolsetDefinition", "PackNotInstalled", "UnknownBuiltIn"];
  expect(session.problems.map(({ code }) => code).sort()).toEqual(codes);
});

test("a recording has the host's successful recordable calls, without sensitive values", async () => {
  const cwd = makeProject({
    rec: toolPack(
      { step: {}, fail: {}, wrap: { _meta: { "trailblaze/isRecordable": false } }, outer: {} },
      `export const step = () => "ok";
         export const fail = () => { throw new Error("no"); };
         export const wrap = (args, { callTool }) => callTool("step", { by: "wrap" });
         export const outer = (args, { callTool }) => callTool("step", { by: "outer" });`,
    ),
  });
  const session = await openForTest(cwd, {
    memory: { token: "s3cret" },
    config: { sensitiveMemory: ["token"] },
  });
  await session.callTool("step", { a: 1, secret: "Bearer s3cret" });
  await session.callTool("fail");
  await session.callTool("rec/wrap");
  await session.callTool("outer", { deep: true });
  session.memory.set("token", "changed");
  await session.callTool("step", { secret: "changed" });
  expect(session.recording).toEqual([
    { step: { a: 1, secret: "Bearer [redacted]" } },
    { step: { by: "wrap" } },
    { outer: { deep: true } },
    { step: { secret: "[redacted]" } },
  ]);
});
