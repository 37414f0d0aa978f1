import { describe, expect, test } from "vitest";
import { jsonOf, makeProject, openForTest, toolPack } from "./support/session.ts";

const shop = toolPack(
  {
    add: {
      name: "shop_add",
      inputSchema: {
        type: "object",
        properties: { item: { type: "string" }, count: { type: "integer", default: 1 } },
        required: ["item"],
      },
    },
    context: { options: { limit: { default: 5 }, unit: { default: "kg" } } },
    remember: {},
    fail: {},
    variant: {},
    slow: {},
    outer: {},
    list: {},
  },
  `
  export const add = (args) => args;
  export const context = (args, context) => {
    context.log("info", { hello: 1 });
    context.progress(1, 2, "half");
    const { signal, memory, log, progress, callTool, ...rest } = context;
    return {
      ...rest,
      user: memory.get("user") ?? null,
      secret: memory.get("token") ?? null,
      legacy: args._trailblazeContext,
      keys: Object.keys(args),
    };
  };
  export const remember = ({ key, value, fail }, { memory }) => {
    memory.set(key, value);
    memory.delete("gone");
    if (fail) throw new Error("not remembered");
    return memory.get(key);
  };
  export const fail = () => { throw Object.assign(new Error("it broke"), { stack: "SECRET STACK" }); };
  export const variant = () => ({
    content: [{ type: "text", text: "no device" }],
    isError: true,
    _meta: { trailblaze: { variant: "FatalError", why: "unplugged", memoryDelta: { user: "changed" } } },
  });
  export const slow = (args, { signal }) =>
    new Promise((resolve) => { setTimeout(() => resolve("late"), 60_000).unref(); });
  export const outer = async ({ tool, args }, { callTool, memory }) => {
    const inner = await callTool(tool, args);
    return { inner: inner.message, isError: inner.isError, user: memory.get("user") ?? null };
  };
  export const list = () => [1, 2];
  `,
);
const project = () => makeProject({ "@acme/shop": shop });
const device = { platform: "ios", driverType: "ios-host", widthPixels: 390, heightPixels: 844 };

describe("a tool that the host runs", () => {
  test("a tool is called by its advertised and by its qualified name, with defaults added", async () => {
    const session = await openForTest(project());
    const result = await session.callTool("shop_add", { item: "tea" });
    expect(result).toEqual({
      variant: "Success",
      message: '{"item":"tea","count":1}',
      content: [{ type: "text", text: '{"item":"tea","count":1}' }],
      structuredContent: { item: "tea", count: 1 },
    });
    expect((await session.callTool("acme/shop/add", { item: "tea" })).variant).toBe("Success");
    expect((await session.callTool("@acme/shop@^1/add", { item: "tea" })).variant).toBe("Success");
  });

  test("a tool gets its context, options, memory and device, without extra enumerable arguments", async () => {
    const logged: unknown[] = [];
    const session = await openForTest(project(), {
      device,
      memory: { user: "42", token: "s3cret" },
      config: { options: { "acme/shop/context": { limit: 9 } }, sensitiveMemory: ["token"] },
      onLog: (entry) => logged.push(entry),
    });
    const progress: unknown[] = [];
    const result = await session.callTool("context", { a: 1 }, { onProgress: (step) => progress.push(step) });
    expect(jsonOf(result)).toEqual({
      options: { limit: 9, unit: "kg" },
      sessionId: session.id,
      invocationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      device: { ...device, platform: "IOS" },
      user: "42",
      secret: null,
      legacy: { memory: { user: "42" }, device: { ...device, platform: "IOS" } },
      keys: ["a"],
    });
    expect(progress).toEqual([{ progress: 1, total: 2, message: "half" }]);
    expect(logged).toEqual([{ tool: "context", level: "info", data: { hello: 1 } }]);
  });

  test("a tool's writes to memory are kept only if the call succeeds", async () => {
    const session = await openForTest(project(), { memory: { gone: "here" } });
    await session.callTool("remember", { key: "user", value: "7", fail: true });
    expect([...session.memory]).toEqual([["gone", "here"]]);
    expect((await session.callTool("remember", { key: "user", value: "7" })).message).toBe("7");
    expect([...session.memory]).toEqual([["user", "7"]]);
  });

  test("what a tool throws is its answer, without a stack and with the variant that it names", async () => {
    const session = await openForTest(project());
    const thrown = await session.callTool("fail");
    expect(thrown).toMatchObject({ variant: "ExceptionThrown", message: "it broke" });
    expect(JSON.stringify(thrown)).not.toContain("STACK");
    const fatal = await session.callTool("variant");
    expect(fatal).toMatchObject({
      variant: "FatalError",
      message: "no device",
      details: { why: "unplugged" },
    });
    expect(session.memory.has("user")).toBe(false);
    // A fatal error is the tool's; the session goes on.
    expect((await session.callTool("list")).message).toBe("[1,2]");
  });

  test("arguments that are no object of JSON fail the call", async () => {
    const session = await openForTest(project());
    const hidden = {
      get item() {
        throw new Error("hidden");
      },
    };
    for (const args of [5, { toJSON: () => 1 }, { item: 1n }, hidden]) {
      const { variant, message } = await session.callTool("list", args as never);
      expect([variant, message]).toEqual(["ExceptionThrown", expect.stringContaining("The arguments ")]);
    }
    expect(session.recording).toEqual([]);
  });

  test("a call fails at its timeout and rejects when its signal aborts", async () => {
    const session = await openForTest(project());
    const late = await session.callTool("slow", {}, { timeoutMs: 50 });
    expect(late).toMatchObject({ variant: "ExceptionThrown", message: expect.stringContaining("50 ms") });
    const stop = new AbortController();
    const call = session.callTool("slow", {}, { signal: stop.signal });
    stop.abort(new Error("changed my mind"));
    await expect(call).rejects.toThrow("changed my mind");
    // Also before it begins, whatever its arguments are.
    const gone = session.callTool("slow", 5 as never, { signal: stop.signal });
    await expect(gone).rejects.toThrow("changed my mind");
  });

  test("a tool can call other tools up to a limited depth, also by short names of its pack, and sees their writes", async () => {
    const session = await openForTest(project(), { config: { callback: { maxDepth: 2 } } });
    const result = await session.callTool("outer", {
      tool: "remember",
      args: { key: "user", value: "inner" },
    });
    expect(jsonOf(result)).toEqual({ inner: "inner", isError: false, user: "inner" });
    const nest = (depth: number): Record<string, unknown> =>
      depth === 0 ? { tool: "list", args: {} } : { tool: "outer", args: nest(depth - 1) };
    expect((await session.callTool("outer", nest(1))).message).not.toContain("more than");
    expect((await session.callTool("outer", nest(2))).message).toContain("more than 2");
    const short = await session.callTool("outer", { tool: "add", args: { item: "x" } });
    expect(jsonOf(short).inner).toContain('"item":"x"');
  });

  test("code of a pack reaches the pack's own tool by its short name although another is advertised by it", async () => {
    const own = {
      "package.json": { trailblaze: { prompts: ["asks"], resources: ["page"] } },
      "trailblaze/prompts/asks.json": { name: "asks", description: "Asks.", handler: "./handlers.js#asks" },
      "trailblaze/resources/page.json": {
        name: "page",
        uri: "acme://page",
        description: "A page.",
        handler: "./handlers.js#asks",
      },
    };
    const module = `
      export const lookup = () => "own";
      export const asks = async (_args, { callTool }) => (await callTool("lookup")).content[0].text;`;
    const session = await openForTest(
      makeProject({
        "@acme/pa": toolPack({ lookup: { name: "pa_lookup" }, asks: {} }, module, own),
        "@acme/pb": toolPack({ find: { name: "lookup" } }, "export const find = () => 'foreign';"),
      }),
    );
    expect((await session.callTool("asks")).message).toBe("own");
    expect(JSON.stringify(await session.getPrompt("asks"))).toContain('"own"');
    expect(JSON.stringify(await session.readResource("acme://page"))).toContain('"own"');
    expect((await session.callTool("lookup")).message).toBe("foreign");
  });

  test("a tool runs in a child process if the config requests isolation", async () => {
    const pid = toolPack({ pid: {} }, "export const pid = () => String(process.pid);");
    const dying = toolPack({ die: {} }, "export const die = () => process.exit(7);");
    const cwd = makeProject({ dying, pid });
    for (const crash of ["fail", "isolate", "relaunch"]) {
      const one = await openForTest(cwd, { config: { isolation: "process", crash } });
      expect(Number((await one.callTool("pid")).message)).not.toBe(process.pid);
      expect(await one.callTool("die")).toMatchObject({ variant: "FatalError", details: { exitCode: 7 } });
      expect(one.problems).toMatchObject([
        { code: "ServerDied", severity: crash === "relaunch" ? "warning" : "error" },
      ]);
      if (crash === "fail")
        await expect(one.callTool("pid")).rejects.toMatchObject({ code: "SessionClosed" });
      else expect(await one.callTool("pid")).toMatchObject({ variant: "Success" });
      if (crash === "relaunch") expect(await one.callTool("die")).toMatchObject({ details: { exitCode: 7 } });
    }
    const here = await openForTest(cwd);
    expect(Number((await here.callTool("pid")).message)).toBe(process.pid);
  });
});

test("the exit of a tool's child process fails its call, with the end of its output and without sensitive values, also if one is cut", async () => {
  const module = `
    export const quit = () => { console.error("last words, hidden-value"); process.exit(7); };
    export const spill = () => {
      process.stderr.write("hidden-value" + "x".repeat(4096 - 6), () => process.exit(7));
      return new Promise(() => {});
    };`;
  const inputSchema = { type: "object", properties: { n: { type: "number" } } };
  const cwd = makeProject({ quitter: toolPack({ quit: { inputSchema }, spill: {} }, module) });
  const open = () =>
    openForTest(cwd, {
      memory: { token: "hidden-value" },
      config: { isolation: "process", crash: "isolate", sensitiveMemory: ["token"] },
    });
  const session = await open();
  expect(await session.callTool("quit")).toMatchObject({
    variant: "FatalError",
    details: { exitCode: 7, stderr: "last words, [redacted]\n" },
  });
  expect((await session.callTool("quit", { n: "x" })).message).toContain("/n must be number");
  const exit = { exitCode: 7, stderrTail: expect.stringContaining("last words") };
  expect(session.problems).toMatchObject([{ code: "ServerDied", args: { exit } }]);
  expect(JSON.stringify(session.problems)).not.toContain("hidden-value");
  const { message, details } = await (await open()).callTool("spill");
  const stderr = String(details?.stderr);
  expect(Buffer.byteLength(stderr)).toBe(4096);
  expect(stderr).toContain("xxx");
  for (const text of [message, stderr]) expect(text).not.toContain("value");
});

test("an unknown tool rejects a call of the host with near names, and answers a handler with isError", async () => {
  const session = await openForTest(project());
  await expect(session.callTool("add")).rejects.toMatchObject({
    code: "ToolNotFound",
    problem: { args: { name: "add", nearest: expect.arrayContaining(["acme/shop/add"]) } },
  });
  const inner = await session.callTool("outer", { tool: "nowhere" });
  expect(jsonOf(inner)).toMatchObject({ inner: expect.stringContaining("nowhere"), isError: true });
});

test("the host's own tools come first, may be functions, and can be used by packs; invalid ones are refused", async () => {
  const session = await openForTest(project(), {
    builtIns: [
      {
        name: "tap",
        description: "Tap.",
        inputSchema: { type: "object", properties: { x: { type: "number" } } },
        handler: ({ x }: { x: number }, context: { sessionId: string }) => `${x} ${context.sessionId}`,
      },
    ],
  });
  expect(session.tools[0]).toMatchObject({
    name: "tap",
    qualifiedName: "tap",
    source: { type: "builtIn" },
  });
  expect((await session.callTool("tap", { x: 3 })).message).toBe(`3 ${session.id}`);
  const result = await session.callTool("outer", { tool: "tap", args: { x: 4 } });
  expect(jsonOf(result).inner).toBe(`4 ${session.id}`);
  const open = openForTest(project(), { builtIns: [{ name: "tap", inputSchema: {}, handler: 3 }] });
  await expect(open).rejects.toMatchObject({ code: "InvalidConfig" });
});
