import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTree } from "../../support/packs.ts";
import { listsOf } from "../remote/start-remote.ts";
import { call, problemOf, reasonOf, startFixture } from "./start-fixture.ts";

const times = (handshakeMs: number, listMs: number) => ({ launch: { timeouts: { handshakeMs, listMs } } });

test("a command that does not exist, or cannot run, is named in the error", async () => {
  for (const command of ["no-such-command-here", "/no/such/file"]) {
    const problem = await problemOf({}, { launch: { command } });
    expect(reasonOf(problem)).toContain(`"${command}"`);
    expect(problem.hint).toContain("`command`");
  }
  const command = join(makeTree({}), "server");
  writeFileSync(command, "#!/no/such/interpreter\n", { mode: 0o644 });
  expect(reasonOf(await problemOf({}, { launch: { command } }))).toMatch(/executable/);
  chmodSync(command, 0o755);
  expect(reasonOf(await problemOf({}, { launch: { command } }))).toMatch(/interpreter/);
});

describe("a server that fails before it lists its tools", () => {
  test("the error of a failing server is quoted, without secrets, whatever stack follows it", async () => {
    const code =
      "const f = (n) => { if (n > 0) f(n - 1); else throw new Error('No hunter2 is free.'); }; f(9);";
    const launch = { command: process.execPath, args: ["-e", code], secrets: () => ["hunter2"] };
    const { args, hint } = await problemOf({}, { launch });
    expect(args).toMatchObject({ exit: { exitCode: 1 } });
    expect(args.stderrTail).toContain("Error: No [redacted] is free.");
    // The hint leaves the stack out.
    expect(hint).toContain("Error: No [redacted] is free.");
    expect(hint).not.toMatch(/hunter2|\bat f\b/);
  });

  test("what a server without MCP wrote to stdout is quoted, without secrets and bounded", async () => {
    const script = `process.stdout.write("Usage: foo\\nkey hunter2\\n{}\\nno line end" + " ".repeat(9) + "x".repeat(99999))`;
    const launch = { command: process.execPath, args: ["-e", script], secrets: () => ["hunter2"] };
    const { args, hint } = await problemOf({}, { launch });
    expect(args.stdout).toMatch(/^Usage: foo\nkey \[redacted\]\n\{\}\nno line end/);
    expect(String(args.stdout).length).toBeLessThan(5000);
    expect(hint).toMatch(/stdout.*Usage: foo/);
    expect(hint?.length).toBeLessThan(500);
  });

  test("a server that does not answer `tools/list` times out", async () => {
    const problem = await problemOf({ silent: ["tools/list"] }, times(20_000, 300));
    expect(reasonOf(problem)).toMatch(/`tools\/list`.*\b300 ms/);
  });

  const good = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
  test.each<[string, string, RegExp]>([
    ["no object", "5", /`result`/],
    ["an unknown revision", JSON.stringify({ ...good, protocolVersion: "1999-01-01" }), /1999-01-01/],
    ["an empty object", "{}", /`initialize`.*`protocolVersion` must be a string.*missing/],
    ["no name", JSON.stringify({ ...good, serverInfo: { version: "1" } }), /`serverInfo.name`.*missing/],
    ["deeply nested JSON", `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, /512 levels/],
  ])("a server that answers `initialize` with %s fails to start", async (_, result, words) => {
    const initialize = `{"jsonrpc":"2.0","id":ID,"result":${result}}\n`;
    expect(reasonOf(await problemOf({ answers: { initialize } }))).toMatch(words);
  });

  test("a server that writes an endless line fails to start", async () => {
    const problem = await problemOf({ prelude: "x".repeat(100_000) }, { limits: { frameBytes: 50_000 } });
    expect(reasonOf(problem)).toContain("50000 bytes");
  });

  test("a server that is closed before it is ready rejects", async () => {
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

  test("all pages of tools are listed in order, without keys that no lock records", async () => {
    const odd = tool("b", { annotations: { odd: 1 }, _meta: { "x/y": [1] } });
    const pages = [
      { tools: [tool("a"), { ...odd, unknown: { deep: true } }], nextCursor: "1" },
      { tools: [], nextCursor: "2" },
      { tools: [tool("c")] },
    ];
    const server = await startFixture({ pages }).ready;
    expect(server.tools).toEqual([tool("a"), odd, tool("c")]);
  });

  test("a list of tools that changes while it is read is read again a limited number of times", async () => {
    const settled = startFixture({ changes: 1 });
    expect((await settled.ready).tools).toMatchObject([{ name: "listing2" }]);
    expect(settled.reports.listChanges).toEqual([]);
    expect((await startFixture({ changes: 100 }).ready).tools).toMatchObject([{ name: "listing3" }]);
  });

  const list = { pages: 3, entries: 5, bytes: 10_000 };
  test.each([
    ["is too large", [{ tools: [tool("a", { description: "x".repeat(20_000) })] }], "10000 bytes"],
    ["is none", [{ tools: { a: 1 } }], "`tools`"],
  ])("a list of tools that %s is rejected", async (_, pages, words) => {
    expect(reasonOf(await problemOf({ pages }, { limits: { list } }))).toContain(words);
  });

  test.each([
    ["has no end", { tools: [tool("c")], nextCursor: "2" }, "its list of tools has more than 3 pages"],
    ["has a page that is none", { tools: { a: 1 } }, "`tools` must be an array"],
    ["is too long", { tools: [3, 4, 5, 6].map((n) => tool(`t${n}`)) }, "it lists more than 5 tools"],
  ])("a list of tools that %s ends there, which is reported", async (_, page, reason) => {
    const more = [3, 4].map((next) => ({ tools: [], nextCursor: String(next) }));
    const pages = [{ tools: [tool("a"), tool("b")], nextCursor: "1" }, page, ...more];
    const { ready, reports } = startFixture({ pages }, { limits: { list } });
    expect((await ready).tools.slice(0, 2)).toEqual([tool("a"), tool("b")]);
    expect(reports.failed).toEqual([["tools", expect.stringContaining(reason)]]);
  });

  test("each change that a server tells of is reported, and what it lists now can be fetched", async () => {
    const { ready, reports } = startFixture();
    const server = await ready;
    const before = server.tools;
    const message = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    for (let i = 0; i < 2; i++) await server.call("tools/call", call("stray", { message }));
    expect(reports.listChanges).toEqual(["tools", "tools"]);
    expect(server.tools).toBe(before);
    expect(listsOf(await server.list()).tools).toEqual(before);
  });
});

test("other output on stdout is reported once and shortened, log messages are passed on, both without secrets", async () => {
  const prelude = `hello hunter2 ${"é".repeat(5000)}\nmore\n{"level":30,"msg":"log"}\n42\n`;
  const { ready, reports } = startFixture({ prelude }, { launch: { secrets: () => ["hunter2"] } });
  const server = await ready;
  const params = { level: "error", logger: "db", data: { text: "with hunter2" } };
  const message = { jsonrpc: "2.0", method: "notifications/message", params };
  await server.call("tools/call", call("stray", { message }));
  expect(reports.noise).toEqual([expect.stringMatching(/^hello \[redacted\] é+$/)]);
  expect([...(reports.noise[0] ?? "")].length).toBeLessThan(210);
  expect(reports.log).toEqual([{ level: "error", logger: "db", data: { text: "with [redacted]" } }]);
});
