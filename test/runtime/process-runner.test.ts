import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProcessPort } from "../../src/processes/server-process.ts";
import type { RunContext } from "../../src/runtime/handler-context.ts";
import { createProcessRunner, type ProcessRunnerOptions } from "../../src/runtime/process-runner.ts";
import { firstText } from "../support/first-text.ts";
import { isRunning, readPids } from "../support/processes.ts";
import { inRepository } from "../support/repository.ts";
import type { Tree } from "../support/tree.ts";
import { makePack } from "./make-pack.ts";
import { callCode, createContext, inModule } from "./run-place.ts";

function createRunner(modules: Tree | string, options: Partial<ProcessRunnerOptions> = {}) {
  const root = makePack(typeof modules === "string" ? { "a.mjs": modules } : modules);
  const late: string[] = [];
  const output: string[] = [];
  const port = createProcessPort({ haste: AbortSignal.abort() });
  let starts = 0;
  const runner = createProcessRunner({
    root,
    env: { MARK: root },
    processes: {
      ...port,
      start(launch) {
        starts++;
        return port.start(launch);
      },
    },
    onLateError: (message) => late.push(message),
    onText: (text) => output.push(text),
    ...options,
  });
  onTestFinished(() => runner.close());
  const call = async (name: string, args = {}, context: Partial<RunContext> = {}) => {
    const result = await callCode(runner, inModule(`./a.mjs#${name}`), args, createContext(context));
    return result as typeof result & { structuredContent?: Record<string, unknown> };
  };
  const textOf = async (name: string, args = {}, context: Partial<RunContext> = {}) =>
    firstText(await call(name, args, context));
  return {
    root,
    runner,
    call,
    textOf,
    late,
    starts: () => starts,
    outputText: () => output.join(""),
  };
}

describe("a handler in a child process", () => {
  test("a handler that is missing is an error", async () => {
    const { textOf } = createRunner("export const a = 1;");
    expect(await textOf("none")).toBe('Module "./a.mjs" has no export "none".');
  });

  test("handlers run in parallel in one child process, which starts at the first call", async () => {
    const { call, starts } = createRunner(`
      let running = 0; let most = 0;
      export const a = async ({ n }) => {
        most = Math.max(most, ++running);
        while (most < 20) await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        return { n, most, pid: process.pid };
      };`);
    expect(starts()).toBe(0);
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => call("a", { n })));
    expect(results.map(({ structuredContent }) => structuredContent?.n)).toEqual(results.map((_, n) => n));
    expect(new Set(results.map(({ structuredContent }) => structuredContent?.pid)).size).toBe(1);
    expect(results.at(-1)?.structuredContent?.most).toBe(20);
  });

  test("a child process gets only its environment and folder, and an empty stdin", async () => {
    const { call, root } = createRunner(
      `import { readFileSync } from "node:fs";
      export const a = () => ({ env: process.env, cwd: process.cwd(), input: readFileSync(0, "utf8"), argv: process.argv.length, ipc: typeof process.send });`,
    );
    expect((await call("a")).structuredContent).toEqual({
      env: { MARK: root },
      cwd: root,
      input: "",
      argv: 2,
      ipc: "undefined",
    });
  });
});

const module = `
    export const a = async (_, { memory, callTool }) => {
      const before = [memory.get("kept"), memory.get("gone"), memory.get("none")];
      memory.set("mine", "1"); const deleted = [memory.delete("gone"), memory.delete("none")];
      const own = [memory.get("mine"), memory.get("gone")];
      const inner = await callTool("inner");
      memory.set("last", "z");
      return { before, deleted, own, inner, after: [memory.get("mine"), memory.get("inner"), memory.get("kept")], names: Object.keys(memory) };
    };`;

test("memory is read and written immediately, also by inner calls", async () => {
  const { call } = createRunner(module);
  const map = new Map([
    ["kept", "k"],
    ["gone", "g"],
  ]);
  const memory = {
    get: (key: string) => map.get(key),
    write: (key: string, value: string | undefined) =>
      void (value === undefined ? map.delete(key) : map.set(key, value)),
    snapshot: () => Object.fromEntries(map),
  };
  const { structuredContent } = await call(
    "a",
    {},
    {
      memory,
      callTool: async () => {
        const visible = [...map];
        map.set("inner", "i").set("kept", "changed");
        return visible;
      },
    },
  );
  expect(structuredContent).toEqual({
    before: ["k", "g", null],
    deleted: [true, false],
    own: ["1", null],
    inner: [
      ["kept", "k"],
      ["mine", "1"],
    ],
    after: ["1", "i", "changed"],
    names: ["get", "set", "delete"],
  });
  expect(map.get("last")).toBe("z");
});

describe("a child process that fails", () => {
  test.each([
    ["exits", "process.exit(3)", { exitCode: 3, signal: null }],
    [
      "takes all memory",
      "const all = []; for (;;) all.push(new Array(1e5).fill(1))",
      { exitCode: null, signal: "SIGABRT" },
    ],
  ])("the host survives a handler that %s", async (_what, body, ending) => {
    const exits: unknown[] = [];
    const { call, runner } = createRunner(
      `export const waits = () => new Promise(() => {});
      export const a = () => { console.error("before the end"); ${body} };`,
      { env: { NODE_OPTIONS: "--max-old-space-size=32" }, onExit: (exit) => exits.push(exit) },
    );
    const reason = { name: "CodeExitError", exit: ending };
    const failed = await Promise.allSettled([call("waits"), call("a")]);
    for (const result of failed) {
      expect(result).toMatchObject({ status: "rejected", reason });
      expect((result as PromiseRejectedResult).reason.exit.stderrTail).toMatch(/before the end|heap/);
    }
    await expect(call("waits")).rejects.toMatchObject(reason);
    await expect(runner.initialize(inModule("./x.mjs"), { options: {} })).rejects.toMatchObject(reason);
    expect(exits).toMatchObject([ending]);
  });

  test("the host survives a handler that keeps throwing late errors", async () => {
    const { textOf, late } = createRunner(`
      export const a = () => {
        setTimeout(() => { throw new Error("timer") }, 1); Promise.reject("rejection");
        setInterval(() => { throw new Error("again") }, 1);
      };
      export const b = () => "alive";`);
    await textOf("a");
    await expect.poll(() => late.length).toBeGreaterThan(9);
    expect(late.slice(0, 3).sort()).toEqual(["again", "rejection", "timer"]);
    expect(await textOf("b")).toBe("alive");
  });

  test("the host survives a handler that closes its connection", async () => {
    const { call } = createRunner(
      "import { closeSync } from 'node:fs'; export const a = () => { closeSync(3); return 1 };",
    );
    await expect(call("a")).rejects.toMatchObject({ name: "CodeExitError" });
  });
});

describe.runIf(process.platform === "linux")("closing a runner", () => {
  test("closing leaves no child process that loops, and none of its own processes", async () => {
    const { call, runner, textOf } = createRunner(
      `import { spawn } from "node:child_process";
      export const a = () => {
        const { pid } = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
        setTimeout(() => { for (;;); }, 10);
        return { pids: [process.pid, pid] };
      };
      export const waits = () => new Promise(() => {});`,
    );
    const pids = (await call("a")).structuredContent?.pids as number[];
    expect(pids.map(isRunning)).toEqual([true, true]);
    const waiting = expect(call("waits")).rejects.toThrow(/the session is closed/i);
    await Promise.all([runner.close(), runner.close()]);
    await waiting;
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
    await expect(textOf("waits")).rejects.toThrow(/the session is closed/i);
  });

  test("if the host is killed, a child process that loops ends, too", async () => {
    const root = makePack({
      "a.mjs": `import { writeFileSync } from "node:fs";
        export const a = () => { writeFileSync(${"`${import.meta.dirname}/pid`"}, String(process.pid)); for (;;); };`,
    });
    const script = inRepository("test/runtime/process-runner-host.ts");
    const host = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), script, root], {
      stdio: "inherit",
    });
    onTestFinished(() => void host.kill("SIGKILL"));
    const readPid = () => readPids(join(root, "pid"))[0] ?? 0;
    await expect.poll(() => isRunning(readPid())).toBe(true);
    host.kill("SIGKILL");
    await expect.poll(() => isRunning(readPid()), { interval: 100 }).toBe(false);
  });
});
