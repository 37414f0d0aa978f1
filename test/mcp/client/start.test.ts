import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { TrailblazeError } from "../../../src/problems/index.ts";
import { isRunning } from "../../support/processes.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { call, type FixtureOptions, limit, startedPids, startFixture } from "./start-fixture.ts";

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});
const makeFolder = () => {
  const folder = makeTemporaryFolder();
  folders.push(folder);
  return folder.path;
};

/** The problem that a start ends with; nothing of the server may run any more by then. */
async function problemOf(options: object, given: FixtureOptions = {}) {
  const error = await startFixture(options, given).ready.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TrailblazeError);
  for (const pid of startedPids()) expect(isRunning(pid)).toBe(false);
  const { problem } = error as TrailblazeError;
  expect(problem.code).toBe("ServerStartFailed");
  return problem;
}

const times = (handshakeMs: number, listMs: number) => ({ launch: { timeouts: { handshakeMs, listMs } } });

describe("a program that cannot be started", () => {
  test("is named where there is none", async () => {
    for (const command of ["no-such-command-here", "/no/such/file"]) {
      const problem = await problemOf({}, { launch: { command } });
      expect(problem.message).toContain(`the command "${command}" was not found`);
    }
  });

  test("is named where it may not be run, or its interpreter is missing", async () => {
    const command = join(makeFolder(), "server");
    writeFileSync(command, "#!/no/such/interpreter\n", { mode: 0o644 });
    expect((await problemOf({}, { launch: { command } })).message).toContain("is not executable");
    chmodSync(command, 0o755);
    expect((await problemOf({}, { launch: { command } })).message).toContain("the interpreter that");
  });

  test("is not blamed for a folder that is missing or no folder", async () => {
    const cwd = join(makeFolder(), "gone");
    expect((await problemOf({}, { launch: { cwd } })).message).toContain(
      `its folder "${cwd}" does not exist`,
    );
    writeFileSync(cwd, "");
    expect((await problemOf({}, { launch: { cwd } })).message).toContain(`"${cwd}" is no folder`);
  });

  test("makes no fault of ours of what no program can be called", async () => {
    expect((await problemOf({}, { launch: { command: "a\0b" } })).message).toContain("cannot be started");
    expect((await problemOf({}, { launch: { command: "" } })).message).toContain("cannot be started");
  });
});

describe("a server that does not get as far as its tools", () => {
  test("is quoted with its error, whatever stack comes after it", async () => {
    const args = [
      "-e",
      "const f = (n) => { if (n > 0) f(n - 1); else throw new Error('No port is free.'); }; f(9);",
    ];
    const problem = await problemOf({}, { launch: { command: process.execPath, args } });
    expect(problem.hint).toContain("Error: No port is free.");
    expect(problem.hint).not.toMatch(/ at /);
  });

  test("times out during `initialize`", async () => {
    const problem = await problemOf({ silent: ["initialize"] }, times(300, 20_000));
    expect(problem.message).toContain("it did not answer `initialize` within 300 ms");
  });

  test("times out during `tools/list`", async () => {
    const problem = await problemOf({ silent: ["tools/list"] }, times(20_000, 300));
    expect(problem.message).toContain("it did not answer `tools/list` within 300 ms");
  });

  test("is ended even where it ignores that its input ends and that it is told to", async () => {
    const options = { silent: ["initialize"], ignoreEnd: true, ignoreTerm: true };
    const problem = await problemOf(options, times(300, 20_000));
    expect(problem.message).toContain("within 300 ms");
  });

  test("has its exit code and its last words reported, without secrets", async () => {
    const options = { exitAtOnce: 7, stderr: "bad token hunter2\n" };
    const problem = await problemOf(options, { launch: { secrets: () => ["hunter2"] } });
    expect(problem.message).toBe('The server "fixture" does not start: it exited with code 7.');
    expect(problem.hint).toContain("bad token [redacted]");
  });

  test.each([
    ["an error", '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"not today"}}\n', "not today"],
    [
      "no object",
      '{"jsonrpc":"2.0","id":ID,"result":5}\n',
      "its answer must have an object as `result` or as `error`",
    ],
    [
      "an unknown revision",
      `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify({ protocolVersion: "1999-01-01", capabilities: {}, serverInfo: { name: "x", version: "1" } })}}\n`,
      "1999-01-01",
    ],
  ])("answers `initialize` with %s", async (_, initialize, words) => {
    expect((await problemOf({ answers: { initialize } })).message).toContain(words);
  });

  const info = { name: "x", version: "1" };
  const good = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: info };
  test.each<[string, object, string]>([
    [
      "an empty object",
      {},
      "`protocolVersion` must be a string, but is missing; `capabilities` must be an object, but is missing; `serverInfo` must be an object, but is missing",
    ],
    [
      "a numeric revision",
      { ...good, protocolVersion: 42 },
      "`protocolVersion` must be a string, but is a number",
    ],
    [
      "a list of capabilities",
      { ...good, capabilities: [] },
      "`capabilities` must be an object, but is an array",
    ],
    [
      "tools that are true",
      { ...good, capabilities: { tools: true } },
      "`capabilities.tools` must be an object, but is a boolean",
    ],
    [
      "no name",
      { ...good, serverInfo: { version: "1" } },
      "`serverInfo.name` must be a string, but is missing",
    ],
    ["a null", { ...good, serverInfo: null }, "`serverInfo` must be an object, but is null"],
  ])("answers `initialize` with %s, which is said in words", async (_, result, words) => {
    const initialize = `${JSON.stringify({ jsonrpc: "2.0", id: "ID", result }).replace('"ID"', "ID")}\n`;
    expect((await problemOf({ answers: { initialize } })).message).toBe(
      `The server "fixture" does not start: it answered \`initialize\` with an invalid result: ${words}.`,
    );
  });

  test("starts where only what is not used of `initialize` is wrong", async () => {
    const result = {
      ...good,
      capabilities: { tools: { listChanged: "yes" }, logging: 5 },
      serverInfo: { ...info, title: 5, icons: "none" },
      instructions: 7,
      _meta: "x",
    };
    const initialize = `${JSON.stringify({ jsonrpc: "2.0", id: "ID", result }).replace('"ID"', "ID")}\n`;
    const server = await startFixture({ answers: { initialize } }).ready;
    expect(server.serverInfo).toEqual(info);
    expect(server.tools.length).toBeGreaterThan(0);
  });

  test("answers `initialize` with a revision of any length", async () => {
    const result = { ...good, protocolVersion: "9".repeat(1e6) };
    const initialize = `${JSON.stringify({ jsonrpc: "2.0", id: "ID", result }).replace('"ID"', "ID")}\n`;
    expect((await problemOf({ answers: { initialize } })).message.length).toBeLessThan(1100);
  });

  test("writes a line without end", async () => {
    const problem = await problemOf({ prelude: "x".repeat(100_000) }, { limits: { frameBytes: 50_000 } });
    expect(problem.message).toContain("it sent a message of more than 50000 bytes");
  });

  test("nests so deep that whoever reads it runs out of stack", async () => {
    const initialize = `{"jsonrpc":"2.0","id":ID,"result":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}\n`;
    expect((await problemOf({ answers: { initialize } })).message).toContain(
      "it sent a message that nests deeper than 512 levels",
    );
  });

  test("is closed before it is ready", async () => {
    const server = startFixture({ silent: ["initialize"] });
    await server.close();
    await expect(server.ready).rejects.toThrow("closed before it was ready");
  });
});

describe("the list of tools", () => {
  const tool = (name: string, more = {}) => ({ name, inputSchema: { type: "object" }, ...more });

  test("has every page in order, and what we do not know of a tool", async () => {
    const odd = tool("b", { annotations: { odd: 1 }, _meta: { "x/y": [1] }, unknown: { deep: true } });
    const pages = [
      { tools: [tool("a"), odd], nextCursor: "1" },
      { tools: [], nextCursor: "2" },
      { tools: [tool("c")] },
    ];
    const server = await startFixture({ pages }).ready;
    expect(server.tools).toEqual([tool("a"), odd, tool("c")]);
  });

  test("may have many pages", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const pages = Array.from({ length: 50 }, (_, page) => ({
      tools: [tool(`t${page}`)],
      ...(page < 49 ? { nextCursor: String(page + 1) } : {}),
    }));
    const server = await startFixture({ pages }).ready;
    expect(server.tools).toHaveLength(50);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  test("lacks what is no tool, and says so; ill-typed keys are left out", async () => {
    const tools = [
      5,
      {},
      { name: "x" },
      { name: "y", inputSchema: [] },
      tool("z", { title: 5, annotations: "a" }),
    ];
    const { ready, reports } = startFixture({ pages: [{ tools }] });
    expect((await ready).tools).toEqual([tool("z")]);
    expect(reports.invalid.map(([name]) => name)).toEqual(["", "", "x", "y"]);
    expect(reports.invalid[2]?.[1]).toContain("inputSchema");
  });

  test("is empty where the server has no tools at all", async () => {
    const server = await startFixture({ capabilities: {}, silent: ["tools/list"] }).ready;
    expect(server.tools).toEqual([]);
  });

  test("is fetched again where it changes meanwhile, but not for ever", async () => {
    const settled = startFixture({ changes: 1 });
    expect((await settled.ready).tools).toMatchObject([{ name: "listing2" }]);
    expect(settled.reports.listChanges).toBe(0);
    expect((await startFixture({ changes: 100 }).ready).tools).toMatchObject([{ name: "listing3" }]);
  });

  const list = { pages: 3, tools: 5, bytes: 10_000 };
  test.each([
    ["goes round in circles", [{ tools: [], nextCursor: "0" }], "a cursor comes twice"],
    [
      "has no end",
      [1, 2, 3, 4].map((next) => ({ tools: [], nextCursor: String(next) })),
      "more than 3 pages",
    ],
    ["is too long", [{ tools: [1, 2, 3, 4, 5, 6].map((n) => tool(`t${n}`)) }], "more than 5 tools"],
    ["is too large", [{ tools: [tool("a", { description: "x".repeat(20_000) })] }], "more than 10000 bytes"],
    ["is none", [{ tools: { a: 1 } }], "with an invalid result: `tools` must be an array"],
  ])("that %s is refused", async (_, pages, words) => {
    expect((await problemOf({ pages }, { limits: { list } })).message).toContain(words);
  });

  test("stays as it was when the server says that it changed, which is reported once", async () => {
    const { ready, reports } = startFixture();
    const server = await ready;
    const before = server.tools;
    const message = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    for (let i = 0; i < 2; i++) await server.callTool(call("stray", { message }), limit);
    expect(reports.listChanges).toBe(1);
    expect(server.tools).toBe(before);
  });
});

describe("what a server says besides", () => {
  test("on stdout is reported once, cut, without secrets, and otherwise put up with", async () => {
    const prelude = `hello hunter2 ${"é".repeat(5000)}\nmore\n{"level":30,"msg":"log"}\n42\n`;
    const { ready, reports } = startFixture({ prelude }, { launch: { secrets: () => ["hunter2"] } });
    const server = await ready;
    await server.callTool(call("echo"), limit);
    expect(reports.noise).toHaveLength(1);
    expect(reports.noise[0]).toMatch(/^hello \[redacted\] é+$/);
    expect([...(reports.noise[0] ?? "")].length).toBeLessThan(210);
  });

  test("as a log entry is passed on, without secrets", async () => {
    const { ready, reports } = startFixture({}, { launch: { secrets: () => ["hunter2"] } });
    const server = await ready;
    const params = { level: "error", logger: "db", data: { text: "with hunter2" } };
    await server.callTool(
      call("stray", { message: { jsonrpc: "2.0", method: "notifications/message", params } }),
      limit,
    );
    expect(reports.log).toEqual([{ level: "error", logger: "db", data: { text: "with [redacted]" } }]);
  });
});

test("a host that fails in an event does not fail here", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "logs"));
  const server = startFixture({ prelude: "noise\n" });
  server.reports.noise.push = () => {
    throw new Error("the host's own");
  };
  await expect(server.ready).resolves.toBeDefined();
});
