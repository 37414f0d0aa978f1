import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTree } from "../../support/packs.ts";
import { isRunning } from "../../support/processes.ts";
import { call, expectGone, outcome, startFixture } from "./start-fixture.ts";

const makeLogFile = () => join(makeTree({}), "server.log");

const numberIn = (result: { content: { type: string }[] }) =>
  Number((result.content[0] as unknown as { text: string }).text);

describe("a server that exits", () => {
  test("an exit rejects every call in progress, with exit code and last stderr output, and every later call", async () => {
    const server = await startFixture().ready;
    const calls = Array.from({ length: 10 }, () => outcome(server.call("tools/call", call("hang"))));
    const last = outcome(server.call("tools/call", call("crash", { code: 42, stderr: "out of cheese\n" })));
    const exit = { exitCode: 42, signal: null, stderrTail: "out of cheese\n" };
    for (const error of await Promise.all([...calls, last])) expect(error).toMatchObject({ exit });
    expect(await server.exit).toEqual(exit);
    expect(await outcome(server.call("tools/call", call("echo")))).toMatchObject({ exit });
  });

  test("at most 4 KiB of stderr are quoted, in whole characters and without secrets, even split ones", async () => {
    const secret = "söcret-token";
    const server = await startFixture({}, { launch: { secrets: () => [secret] } }).ready;
    const stderr = `${"€".repeat(3000)}${secret}`;
    await outcome(server.call("tools/call", call("crash", { stderr })));
    const { stderrTail } = await server.exit;
    expect(Buffer.byteLength(stderrTail)).toBeLessThanOrEqual(4096);
    expect(stderrTail).toMatch(/^€+\[redacted\]$/);
  });
});

describe("a server that must be ended", () => {
  test("a server that writes without line ends is ended, and its calls fail", async () => {
    const server = await startFixture({}, { limits: { frameBytes: 1 << 20 } }).ready;
    const error = await outcome(server.call("tools/call", call("noise", { bytes: 1e9 })));
    const reason = "it sent a message of more than 1 MiB";
    expect(error).toMatchObject({ exit: { reason }, message: expect.stringContaining(reason) });
    expect(await server.exit).toMatchObject({ reason });
    await expectGone(server.pid);
  });

  // Such as one whose shell redirects them. Otherwise, each call would wait for its time limit.
  test.each(["Input", "Output"])(
    "a server that closed its %s is ended, and its calls fail",
    async (stream) => {
      const server = await startFixture({ ignoreEnd: true }).ready;
      const closing = outcome(server.call("tools/call", call(`close${stream}`)));
      // What is written to a closed input tells of it.
      const write = () => stream === "Input" && void outcome(server.call("tools/call", call("echo")));
      const writing = setInterval(write, 50);
      const error = await closing;
      clearInterval(writing);
      const message = expect.stringContaining(`closed its ${stream.toLowerCase()}`);
      expect(error).toMatchObject({ exit: expect.anything(), message });
      await expectGone(server.pid);
    },
  );
});

describe("closing a server", () => {
  const closed = { exit: undefined, message: expect.stringContaining("is closed") };

  test("closing a server lets it exit by itself, rejects calls in progress as closed, and is not reported as an exit", async () => {
    const server = await startFixture().ready;
    const pending = outcome(server.call("tools/call", call("hang")));
    await Promise.all([server.close(), server.close()]);
    expect(await pending).toMatchObject(closed);
    expect(isRunning(server.pid)).toBe(false);
    const never = Symbol("never");
    expect(await Promise.race([server.exit, Promise.resolve(never)])).toBe(never);
    expect(await outcome(server.call("tools/call", call("echo")))).toMatchObject(closed);
  });

  test("closing ends a server that also ignores SIGTERM, with all of its group", async () => {
    const options = { ignoreEnd: true, ignoreTerm: true };
    const server = await startFixture(options, { inputMs: 100 }).ready;
    const grandchild = numberIn(await server.call("tools/call", call("grandchild", { stubborn: true })));
    await server.close();
    expect(isRunning(server.pid)).toBe(false);
    await expectGone(grandchild);
  });

  test.each([
    ["it is closed", {}],
    ["it exits by itself, although that process holds its stdout", { exit: 0 }],
  ])("the rest of the group of a server ends when %s", async (_, args) => {
    // A server that did not exit by itself would be waited for.
    const server = await startFixture({}, { inputMs: 1_000_000 }).ready;
    const grandchild = numberIn(await server.call("tools/call", call("grandchild", args)));
    if ("exit" in args) expect(await server.exit).toMatchObject({ exitCode: 0 });
    else await server.close();
    await expectGone(grandchild);
  });
});

test("a server's log is private and has all of its stderr, without values that are or become secret", async () => {
  const logFile = makeLogFile();
  const secrets = ["hunter2"];
  const launch = { logFile, secrets: () => [...secrets] };
  const server = await startFixture({ stderr: "hunter2 early-one\n" }, { launch }).ready;
  const begin = "[redacted] early-one\n";
  await expect.poll(() => existsSync(logFile) && readFileSync(logFile, "utf8")).toBe(begin);
  await server.call("tools/call", call("stderr", { bytes: 1 << 20 }));
  secrets.push("early-one");
  await outcome(server.call("tools/call", call("crash", { stderr: "\nlate early-one\n" })));
  expect((await server.exit).stderrTail).toMatch(/\nlate \[redacted\]\n$/);
  await server.close();
  const text = readFileSync(logFile, "utf8");
  expect(text.startsWith(begin)).toBe(true);
  expect(text.endsWith("\nlate [redacted]\n")).toBe(true);
  expect(text.length).toBeGreaterThan(1 << 20);
  expect(statSync(logFile).mode & 0o777).toBe(0o600);
});
