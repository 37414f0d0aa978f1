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
  if (problem.code !== "ServerStartFailed") throw error;
  expect(problem.args.label).toBe("fixture");
  return problem;
}

/** Why a server does not start; of one that the host ended, why it did. */
const reasonOf = ({ args }: Awaited<ReturnType<typeof problemOf>>) =>
  ("exit" in args ? args.exit.reason : args.reason) ?? "";

const times = (handshakeMs: number, listMs: number) => ({ launch: { timeouts: { handshakeMs, listMs } } });

describe("a program that cannot be started", () => {
  test("is named where there is none", async () => {
    for (const command of ["no-such-command-here", "/no/such/file"]) {
      const problem = await problemOf({}, { launch: { command } });
      expect(reasonOf(problem)).toContain(`"${command}"`);
    }
  });

  test("is named where it may not be run, or its interpreter is missing", async () => {
    const command = join(makeFolder(), "server");
    writeFileSync(command, "#!/no/such/interpreter\n", { mode: 0o644 });
    expect(reasonOf(await problemOf({}, { launch: { command } }))).toMatch(/executable/);
    chmodSync(command, 0o755);
    expect(reasonOf(await problemOf({}, { launch: { command } }))).toMatch(/interpreter/);
  });

  test("is not blamed for a folder that is missing or no folder", async () => {
    const cwd = join(makeFolder(), "gone");
    const missing = reasonOf(await problemOf({}, { launch: { cwd } }));
    expect(missing).toContain(`"${cwd}"`);
    writeFileSync(cwd, "");
    const noFolder = reasonOf(await problemOf({}, { launch: { cwd } }));
    expect(noFolder).toContain(`"${cwd}"`);
    expect(noFolder).not.toBe(missing);
  });

  test("makes no fault of ours of what no program can be called", async () => {
    for (const command of ["a\0b", ""])
      expect(reasonOf(await problemOf({}, { launch: { command } }))).toContain("started");
  });
});

describe("a server that does not get as far as its tools", () => {
  test("is quoted with its error, whatever stack comes after it", async () => {
    const args = [
      "-e",
      "const f = (n) => { if (n > 0) f(n - 1); else throw new Error('No port is free.'); }; f(9);",
    ];
    const problem = await problemOf({}, { launch: { command: process.execPath, args } });
    expect(problem.args.stderrTail).toContain("Error: No port is free.");
    // The hint leaves the stack out.
    expect(problem.hint).toContain("Error: No port is free.");
    expect(problem.hint).not.toMatch(/\bat f\b/);
  });

  test("times out during `initialize`", async () => {
    const problem = await problemOf({ silent: ["initialize"] }, times(300, 20_000));
    expect(reasonOf(problem)).toMatch(/`initialize`.*\b300 ms/);
  });

  test("times out during `tools/list`", async () => {
    const problem = await problemOf({ silent: ["tools/list"] }, times(20_000, 300));
    expect(reasonOf(problem)).toMatch(/`tools\/list`.*\b300 ms/);
  });

  test("is ended even where it ignores that its input ends and that it is told to", async () => {
    const options = { silent: ["initialize"], ignoreEnd: true, ignoreTerm: true };
    const problem = await problemOf(options, times(300, 20_000));
    expect(reasonOf(problem)).toContain("300 ms");
  });

  test("has its exit code and its last words reported, without secrets", async () => {
    const options = { exitAtOnce: 7, stderr: "bad token hunter2\n" };
    const problem = await problemOf(options, { launch: { secrets: () => ["hunter2"] } });
    expect(problem.args).toMatchObject({
      exit: { exitCode: 7 },
      stderrTail: expect.stringContaining("bad token [redacted]"),
    });
  });

  test.each([
    ["an error", '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"not today"}}\n', "not today"],
    ["no object", '{"jsonrpc":"2.0","id":ID,"result":5}\n', "`result`"],
    [
      "an unknown revision",
      `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify({ protocolVersion: "1999-01-01", capabilities: {}, serverInfo: { name: "x", version: "1" } })}}\n`,
      "1999-01-01",
    ],
  ])("answers `initialize` with %s", async (_, initialize, words) => {
    expect(reasonOf(await problemOf({ answers: { initialize } }))).toContain(words);
  });

  const info = { name: "x", version: "1" };
  const good = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: info };
  test.each<[string, object, RegExp]>([
    ["an empty object", {}, /`protocolVersion`.*`capabilities`.*`serverInfo`/],
    ["a numeric revision", { ...good, protocolVersion: 42 }, /`protocolVersion`.*number/],
    ["a list of capabilities", { ...good, capabilities: [] }, /`capabilities`.*array/],
    ["tools that are true", { ...good, capabilities: { tools: true } }, /`capabilities.tools`.*boolean/],
    ["no name", { ...good, serverInfo: { version: "1" } }, /`serverInfo.name`.*missing/],
    ["a null", { ...good, serverInfo: null }, /`serverInfo`.*null/],
  ])("answers `initialize` with %s, which is said in words", async (_, result, words) => {
    const initialize = `${JSON.stringify({ jsonrpc: "2.0", id: "ID", result }).replace('"ID"', "ID")}\n`;
    const reason = reasonOf(await problemOf({ answers: { initialize } }));
    expect(reason).toContain("`initialize`");
    expect(reason).toMatch(words);
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
    expect(reasonOf(problem)).toContain("50000 bytes");
  });

  test("nests so deep that whoever reads it runs out of stack", async () => {
    const initialize = `{"jsonrpc":"2.0","id":ID,"result":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}\n`;
    expect(reasonOf(await problemOf({ answers: { initialize } }))).toContain("512 levels");
  });

  test("is closed before it is ready", async () => {
    const server = startFixture({ silent: ["initialize"] });
    await server.close();
    await expect(server.ready).rejects.toMatchObject({
      code: "ServerStartFailed",
      problem: { args: { label: "fixture", reason: expect.stringContaining("closed") } },
    });
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
    ["goes round in circles", [{ tools: [], nextCursor: "0" }], "cursor"],
    ["has no end", [1, 2, 3, 4].map((next) => ({ tools: [], nextCursor: String(next) })), "3 pages"],
    ["is too long", [{ tools: [1, 2, 3, 4, 5, 6].map((n) => tool(`t${n}`)) }], "5 tools"],
    ["is too large", [{ tools: [tool("a", { description: "x".repeat(20_000) })] }], "10000 bytes"],
    ["is none", [{ tools: { a: 1 } }], "`tools`"],
  ])("that %s is refused", async (_, pages, words) => {
    expect(reasonOf(await problemOf({ pages }, { limits: { list } }))).toContain(words);
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
