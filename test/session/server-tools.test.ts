import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { withoutLocalBin } from "../../src/processes/find-program.ts";
import { isRunning, readPids } from "../support/processes.ts";
import { waitUntil } from "../support/wait-until.ts";
import {
  jsonOf,
  makeProject,
  openForTest,
  probe,
  probeServer,
  toolPack,
  withServers,
} from "./support/session.ts";

const device = { platform: "ANDROID", driverType: "adb", widthPixels: 1080, heightPixels: 2400 };
const config = withServers(probe());

/** A pack with a subprocess server: the probe, linked in by a script of its own. */
const serverPack = (definition: Readonly<Record<string, unknown>> = {}, prefix = "packed") => ({
  "package.json": { trailblaze: { servers: ["probe"] } },
  "server.js": `import ${JSON.stringify(probeServer)};\n`,
  "trailblaze/servers/probe.json": {
    script: "./server.js",
    env: { PROBE_PREFIX: prefix },
    ...definition,
  },
});

test("a server that sends a message of more than 32 MiB is ended, and the call and the problem name the reason", async () => {
  const args = { result: { content: [{ type: "text", text: "x" }] }, bytes: 33 << 20 };
  const session = await openForTest(makeProject({}), { config: { ...config, crash: "isolate" } });
  const reason = expect.stringContaining("32 MiB");
  expect(await session.callTool("probe_result", args)).toMatchObject({
    variant: "FatalError",
    message: reason,
    details: { reason },
  });
  expect(session.problems).toMatchObject([
    { code: "ServerDied", args: { label: "probe", exit: { reason } } },
  ]);
});

describe("the context that a call sends to a server", () => {
  test("a call sends exactly the two context envelopes", async () => {
    const session = await openForTest(makeProject({}), { config, device, memory: { userId: "42" } });
    const sent = jsonOf(await session.callTool("probe_params", { a: [1], _trailblazeContext: "mine" }));
    const expected = { platform: "ANDROID", widthPixels: 1080, heightPixels: 2400, driverType: "adb" };
    expect(sent.arguments).toEqual({
      a: [1],
      _trailblazeContext: { memory: { userId: "42" }, device: expected },
    });
    expect(sent._meta.trailblaze).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      sessionId: session.id,
      invocationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      device: { ...expected, platform: "android" },
      memory: { userId: "42" },
    });
  });

  test("a call sends no device, callback URL or context where there is none or it is disabled", async () => {
    const session = await openForTest(makeProject({}), {
      config: { callback: { enabled: false }, ...withServers({ ...probe(), legacyContext: false }) },
    });
    const sent = jsonOf(await session.callTool("probe_params"));
    expect(sent.arguments).toEqual({});
    expect(Object.keys(sent._meta.trailblaze)).toEqual(["sessionId", "invocationId", "device", "memory"]);
    expect(sent._meta.trailblaze.device).toBeNull();
    const names = Object.keys(jsonOf(await session.callTool("probe_env"))).join("\n");
    expect(names).not.toMatch(/^TRAILBLAZE_(?:BASE_URL|PORT|SESSION_TOKEN|CLIENT)/m);
  });

  test("a call omits _trailblazeContext if the tool's schema forbids additional properties", async () => {
    const schemas = {
      params: { type: "object", properties: { a: {} }, additionalProperties: false },
      open_params: { type: "object", properties: { a: {} } },
      texts_params: { type: "object", additionalProperties: { type: "string" } },
      variants_params: { type: "object", anyOf: [{}, { $ref: "#/$defs/a" }], $defs: { a: false } },
    };
    const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
    const session = await openForTest(makeProject({}), {
      config: withServers(probe("probe", { PROBE_TOOLS: JSON.stringify(tools) })),
    });
    expect(session.problems).toEqual([]);
    for (const { name } of tools) {
      const sent = jsonOf(await session.callTool(name, { a: 1 }));
      const keys = name === "open_params" ? ["a", "_trailblazeContext"] : ["a"];
      expect(Object.keys(sent.arguments), name).toEqual(keys);
      expect(sent._meta.trailblaze, name).toMatchObject({ sessionId: session.id });
    }
  });

  test("a call omits sensitive memory, and memory that the pack may not read", async () => {
    const session = await openForTest(makeProject({ "@acme/probe": serverPack() }), {
      memory: { userId: "42", city: "Bern", token: "hidden" },
      config: {
        ...config,
        sensitiveMemory: ["token"],
        packs: { memory: { "acme/probe": ["city", "token"] } },
      },
    });
    const own = jsonOf(await session.callTool("probe_params"));
    expect(own._meta.trailblaze.memory).toEqual({ userId: "42", city: "Bern" });
    const packed = jsonOf(await session.callTool("packed_params"));
    expect(packed._meta.trailblaze.memory).toEqual({ city: "Bern" });
    expect(packed.arguments._trailblazeContext.memory).toEqual({ city: "Bern" });
  });
});

test("a server of the config gets the host's environment, and a server of a pack a minimal one", async () => {
  vi.stubEnv("HOST_SECRET", "do not leak");
  vi.stubEnv("WANTED", "passed");
  vi.stubEnv("TRAILBLAZE_SESSION_TOKEN", "of another session");
  const cwd = makeProject({
    "@acme/probe": serverPack({ env: { PROBE_PREFIX: "packed", OWN: "1" }, envPassthrough: ["WANTED"] }),
  });
  const session = await openForTest(cwd, { config, device });
  const own = jsonOf(await session.callTool("probe_env"));
  const PATH = withoutLocalBin(process.env.PATH ?? "", process.platform);
  expect(own).toMatchObject({ HOST_SECRET: "do not leak", PROBE_PREFIX: "probe", PATH });
  const packed = jsonOf(await session.callTool("packed_env"));
  expect(packed).toMatchObject({ OWN: "1", WANTED: "passed", PATH });
  const allowed =
    /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|TMPDIR|OWN|WANTED|PROBE_PREFIX|TRAILBLAZE_\w+|__CF_USER_TEXT_ENCODING)$/;
  expect(Object.keys(packed).filter((name) => !allowed.test(name))).toEqual([]);
  for (const environment of [own, packed]) {
    expect(environment).toMatchObject({
      TRAILBLAZE_DEVICE_PLATFORM: "ANDROID",
      TRAILBLAZE_DEVICE_DRIVER: "adb",
      TRAILBLAZE_DEVICE_WIDTH_PX: "1080",
      TRAILBLAZE_DEVICE_HEIGHT_PX: "2400",
      TRAILBLAZE_SESSION_ID: session.id,
      TRAILBLAZE_BASE_URL: expect.stringContaining(environment.TRAILBLAZE_PORT),
      TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS: "122000",
    });
  }
  expect(own.TRAILBLAZE_SESSION_TOKEN).not.toBe(packed.TRAILBLAZE_SESSION_TOKEN);
  expect(own.TRAILBLAZE_SESSION_TOKEN).not.toBe("of another session");
  expect(own.TRAILBLAZE_TOOLSET_FILE).toBe(probeServer);
  expect(packed.TRAILBLAZE_TOOLSET_FILE).toBe(join(cwd, "node_modules/@acme/probe/server.js"));
});

test("an answer of a server has a variant, and changes memory only if the call succeeds, and only with strings", async () => {
  const session = await openForTest(makeProject({}), { config, memory: { old: "1" } });
  const answerTo = (result: object) => session.callTool("probe_result", { result });
  const image = { type: "image", data: "", mimeType: "image/png" };
  const content = [{ type: "text", text: "said" }];
  const changes = { memoryDelta: { new: "2", wrong: 3 }, memoryDeletions: ["old"] };
  const failing = (trailblaze: object) => answerTo({ content, isError: true, _meta: { trailblaze } });
  expect(await failing(changes)).toMatchObject({ variant: "ExceptionThrown", message: "said" });
  for (const variant of ["Exploded", "Success"])
    expect(await failing({ variant })).toMatchObject({ variant: "ExceptionThrown" });
  expect(await failing({ variant: "MissingRequiredArgs", missing: ["a"] })).toMatchObject({
    variant: "MissingRequiredArgs",
    message: "said",
    details: { missing: ["a"] },
  });
  expect([...session.memory]).toEqual([["old", "1"]]);
  const structuredContent = { n: 1 };
  expect(
    await answerTo({ content: [image, ...content], structuredContent, _meta: { trailblaze: changes } }),
  ).toMatchObject({ variant: "Success", message: "said", structuredContent });
  expect([...session.memory]).toEqual([["new", "2"]]);
});

describe("callbacks of a server", () => {
  test("a callback can use short names of a pack only if it comes from the pack's server", async () => {
    const manifest = { trailblaze: { servers: ["probe"], tools: ["add", "limited"] } };
    const code = "export const add = () => 'added'; export const limited = () => 1;";
    const limits = { _meta: { "trailblaze/supportedPlatforms": ["IOS"] } };
    const tools = { add: { name: "shop_add" }, limited: { name: "shop_limited", ...limits } };
    const shop = { ...serverPack(), ...toolPack(tools, code), "package.json": manifest };
    const session = await openForTest(
      makeProject({ "@acme/shop": { ...shop, "server.js": serverPack()["server.js"] } }),
      { config },
    );
    const call = async (server: string, tool: string) =>
      jsonOf(await session.callTool(`${server}_callback`, { tool })).body.result;
    expect(await call("packed", "add")).toMatchObject({ success: true, text_content: "added" });
    expect(await call("packed", "limited")).toMatchObject({ success: false });
    expect(await call("probe", "add")).toMatchObject({ success: false });
  });

  test("a callback reaches tools of the session during the call, and writes memory immediately", async () => {
    const cwd = makeProject({
      shop: toolPack(
        { remember: { inputSchema: { type: "object", required: ["user"] } } },
        "export const remember = ({ user }, { memory }) => { memory.set('user', user); return { user }; };",
      ),
    });
    const session = await openForTest(cwd, { config });
    const answer = jsonOf(
      await session.callTool("probe_callback", { tool: "remember", with: { user: "7" } }),
    );
    expect(answer).toEqual({
      status: 200,
      body: {
        result: {
          type: "call_tool_result",
          success: true,
          text_content: '{"user":"7"}',
          error_message: "",
          structured_content: { user: "7" },
        },
      },
    });
    expect(session.memory.get("user")).toBe("7");
    for (const [tool, words] of [
      ["remember", "user"],
      ["nothing", "nothing"],
    ]) {
      const { body } = jsonOf(await session.callTool("probe_callback", { tool }));
      expect(body.result).toMatchObject({
        success: false,
        error_message: expect.stringContaining(words ?? ""),
      });
    }
  });

  test("a callback ends with its call: its tool is canceled, and the invocation is unknown from then on", async () => {
    const reasons: string[] = [];
    const handler = (_: object, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(reasons.push(signal.reason.message)));
      });
    const wait = { name: "wait", description: "Waits.", inputSchema: { type: "object" }, handler };
    const session = await openForTest(makeProject({}), { config, builtIns: [wait] });
    const late = await session.callTool("probe_callback", { tool: "wait" }, { timeoutMs: 500 });
    expect(late.message).toContain("500 ms");
    await waitUntil(() => reasons.length > 0);
    expect(reasons).toEqual([expect.stringContaining("invocation ended")]);
    const { _meta } = jsonOf(await session.callTool("probe_params"));
    const request = { invocation_id: _meta.trailblaze.invocationId };
    expect(jsonOf(await session.callTool("probe_callback", { tool: "probe_params", request }))).toEqual({
      status: 200,
      body: { result: { type: "error", message: "Unknown invocation, or it has ended." } },
    });
  });

  test("callbacks nest up to the limit", async () => {
    const session = await openForTest(makeProject({}), { config: { ...config, callback: { maxDepth: 1 } } });
    const inner = { tool: "probe_params", with: {} };
    const outer = { tool: "probe_callback", with: inner };
    const textOf = async (args: object) =>
      jsonOf(await session.callTool("probe_callback", { ...args })).body.result.text_content;
    expect(await textOf(inner)).toContain('"arguments"');
    expect(await textOf(outer)).toContain("Tool calls are nested more than 1 levels deep.");
  });
});

test("a nested call of a tool of a server that accepts any arguments is refused if they break the advertised schema", async () => {
  const tool = (name: string, inputSchema: object) => ({ name, description: name, inputSchema });
  const chapter = { type: "object", properties: { pages: { type: "integer" } }, required: ["title"] };
  const tools = [
    tool("lax_book", {
      type: "object",
      properties: { chapter: { $ref: "#/$defs/c" } },
      additionalProperties: false,
      $defs: { c: chapter },
    }),
    tool("lax_broken", { type: "object", properties: { pages: { type: "intejer" } } }),
  ];
  const lax = probe("lax", { PROBE_TOOLS: JSON.stringify(tools) });
  const relay = toolPack(
    { relay: {} },
    "export const relay = (args, { callTool }) => callTool(args.tool, args.with);",
  );
  const session = await openForTest(makeProject({ relay }), { config: withServers(probe(), lax) });
  const call = async (name: string, given: object) =>
    jsonOf(await session.callTool("probe_callback", { tool: name, with: given })).body.result;
  const broken = { chapter: { pages: "x" } };
  const words = expect.stringContaining("/chapter/title is required; /chapter/pages must be integer");
  expect(await call("lax_book", broken)).toMatchObject({ success: false, error_message: words });
  expect((await session.callTool("relay", { tool: "lax_book", with: broken })).message).toEqual(words);
  // Its own arguments, passed on with what the session adds.
  const given = { chapter: { title: "x" }, _trailblazeContext: {} };
  expect(await call("lax_book", given)).toMatchObject({ text_content: "called" });
  expect((await session.callTool("relay", { tool: "lax_book", with: given })).message).toBe("called");
  // Its own server validates them.
  expect(await call("lax_broken", { pages: "x" })).toMatchObject({ text_content: "called" });
});

describe("a server that exits during a session", () => {
  test("the exit of a server fails its running calls, and the session", async () => {
    const session = await openForTest(makeProject({}), {
      config: { trailblazeSubprocessToolsets: [probe("one"), probe("two")] },
    });
    const hanging = session.callTool("one_hang");
    const crash = session.callTool("one_crash", { code: 7 });
    for (const call of [hanging, crash]) {
      expect(await call).toMatchObject({
        variant: "FatalError",
        // Messages reach models, details only the host.
        message: 'Server "one" exited with code 7.',
        details: { exitCode: 7, stderr: expect.stringContaining("about to crash") },
      });
    }
    await expect(session.callTool("two_env")).rejects.toMatchObject({ code: "SessionClosed" });
    expect(session.problems).toContainEqual(expect.objectContaining({ code: "ServerDied" }));
  });

  test("an exited server is restarted once if the config says so, without repeating the failed call", async () => {
    const started: string[] = [];
    const session = await openForTest(makeProject({}), {
      config: { ...config, crash: "relaunch" },
      onCommand: ({ label }) => started.push(label),
    });
    const token = jsonOf(await session.callTool("probe_env")).TRAILBLAZE_SESSION_TOKEN;
    expect(await session.callTool("probe_crash")).toMatchObject({ variant: "FatalError" });
    await waitUntil(() => started.length === 2);
    const again = jsonOf(await session.callTool("probe_env"));
    expect(again.TRAILBLAZE_SESSION_TOKEN).not.toBe(token);
    const answer = jsonOf(await session.callTool("probe_callback", { tool: "probe_params" }));
    expect(answer.status).toBe(200);
    await session.callTool("probe_crash");
    await waitUntil(() => session.problems.some(({ code }) => code === "ServerDied"));
    await expect(session.callTool("probe_env")).rejects.toMatchObject({ code: "SessionClosed" });
    expect(started).toEqual(["probe", "probe"]);
  });
});

test("after closing, no process is left, and each server has its own log, without a token", async () => {
  const names = ["a b", "A-b", "日本"];
  const listed = names.map((name, index) => probe(name, { PROBE_PREFIX: `probe${index}` }));
  const cwd = makeProject({ "@acme/probe": serverPack() });
  const session = await openForTest(cwd, { config: withServers(...listed) });
  const pids: number[] = [];
  for (const name of ["probe0", "probe1", "probe2", "packed"])
    pids.push(jsonOf(await session.callTool(`${name}_tell`)).pid);
  expect(pids.map(isRunning)).toEqual([true, true, true, true]);
  const rejected = expect(session.callTool("probe0_hang")).rejects.toMatchObject({ code: "SessionClosed" });
  await Promise.all([session.close(), session.close()]);
  await rejected;
  expect(pids.filter(isRunning)).toEqual([]);
  const logs = readdirSync(session.logDir).map((file) => readFileSync(join(session.logDir, file), "utf8"));
  const log = /^my token is \[redacted\]\n(?:cancelled \d+\n)?$/;
  expect(logs).toEqual(pids.map(() => expect.stringMatching(log)));
});

test("aborting after the start ends the session", async () => {
  const stop = new AbortController();
  const session = await openForTest(makeProject({}), { config, signal: stop.signal });
  const { pid } = jsonOf(await session.callTool("probe_tell"));
  stop.abort(new Error("enough"));
  await waitUntil(() => !isRunning(pid));
  await expect(session.callTool("probe_tell")).rejects.toThrow("enough");
});

test("aborting at any stage of the start leaves no process running", async () => {
  const pidFiles: string[] = [];
  for (const delay of [0, 130]) {
    const cwd = makeProject({
      "@acme/probe": serverPack({ env: { PROBE_PREFIX: "p", PROBE_PIDS: "pids.txt" } }),
      code: {
        "package.json": { trailblaze: { tools: ["code"] } },
        "trailblaze/tools/code.mjs": "export default { name: 'code', inputSchema: {}, handler: () => 1 };",
      },
    });
    const own = { ...probe(), env: { PROBE_PIDS: join(cwd, "pids.txt") } };
    const stop = new AbortController();
    const opening = openForTest(cwd, { config: withServers(own), signal: stop.signal });
    setTimeout(() => stop.abort(new Error("given up")), delay);
    await opening.then((session) => session.close()).catch(() => {});
    pidFiles.push(join(cwd, "pids.txt"), join(cwd, "node_modules/@acme/probe/pids.txt"));
    expect(pidFiles.flatMap(readPids).filter(isRunning)).toEqual([]);
  }
  // Proves that none starts late.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(pidFiles.flatMap(readPids).filter(isRunning)).toEqual([]);
});
