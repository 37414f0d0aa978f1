import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { command } from "../support/run-cli.ts";
import { writeTree } from "../support/tree.ts";
import { waitUntil } from "../support/wait-until.ts";
import { evaluateIn, evaluatePack, processesWith, ways } from "./evaluate-pack.ts";

vi.setConfig({ testTimeout: 200_000 });

// A busy machine needs many seconds to fill even a small heap.
const limits = { wallMs: 60_000, packMs: 180_000, heapMiB: 64 };
const tooSlow = { ...limits, wallMs: 1500 };
const good = "export default { good: true };";
const isGood = { value: { good: true } };
const outOfMemory = { reason: "it needed more than 64 MiB of memory" };

const endings: readonly (readonly [file: string, code: string, result: object])[] = [
  [
    "aborts",
    "process.abort()",
    { reason: "it threw: abort is not available in confinement", line: 1, column: 9 },
  ],
  ["awaits", "await new Promise(() => {})", { reason: "its top-level await never settles" }],
  ["eats-heap", "const all = []; for (;;) all.push(new Array(1_000_000).fill(1))", outOfMemory],
  [
    "prints-megabytes",
    `for (let i = 0; i < 5; i++) { console.log("x".repeat(1e6)); console.error("x".repeat(1e6)); } ${good}`,
    isGood,
  ],
  ["says-too-much", "export default 'x'.repeat(1 << 20)", { reason: "its result is larger than 1 MiB" }],
  [
    "floods-the-pipe",
    `import { writeSync } from "node:fs"; const s = "x".repeat(1e5); for (;;) writeSync(3, s)`,
    { reason: "its result is larger than 1 MiB" },
  ],
  [
    "forges-a-large-answer",
    `import { writeSync } from "node:fs"; const s = "x".repeat(2e6);
    for (let i = 0; i < 9; i++) writeSync(3, "\\n" + i + ' value "' + s + '"\\n'); ${good}`,
    { reason: "its result is larger than 1 MiB" },
  ],
];

/** Only Linux bounds memory outside the heap: what is asked for counts, so that no page of it has to be filled. */
const ofLinux: typeof endings = [
  [
    "eats-buffers",
    `const all = []; for (let i = 0; i < 32; i++) all.push(new ArrayBuffer(64 << 20)); ${good}`,
    { reason: expect.stringMatching(/needed more than 64 MiB of memory|Array buffer allocation failed/) },
  ],
];

describe("a file that is evaluated", () => {
  test("a file that ends badly is reported with the reason, and the other files are evaluated", async () => {
    const rows = [...endings, ...(process.platform === "linux" ? ofLinux : [])];
    const files = rows.map(([file, code]) => [`${file}.mjs`, code]);
    const { results } = await evaluatePack(Object.fromEntries(files), { limits });
    const found = Object.fromEntries(rows.map(([file]) => [file, results[`${file}.mjs`]]));
    expect(found).toEqual(
      Object.fromEntries(rows.map(([file, , result]) => [file, expect.objectContaining(result)])),
    );
  });

  test("a file that writes to the pipe for answers changes no other file's answer", async () => {
    const { results } = await evaluatePack(
      {
        "a.mjs": `import { writeSync } from "node:fs"; writeSync(3, "unfinished"); export default 1;`,
        "b.mjs": `import { writeSync } from "node:fs"; writeSync(3, "\\n7 value 1\\nx\\n"); export default 2;`,
        "c.mjs": "export default 3;",
      },
      { limits },
    );
    expect(Object.values(results)).toEqual([1, 2, 3].map((value) => ({ value })));
  });

  test("a file that ends its child process does not affect other files", async () => {
    const { results } = await evaluatePack(
      {
        "a.mjs": good,
        "b.mjs": "process.exit(3)",
        "c.mjs": good,
        "d.mjs": "for (;;);",
        "e.mjs": "throw new Error('no luck')",
        "f.mjs": good,
      },
      { limits: tooSlow },
    );
    expect(results).toEqual({
      "a.mjs": isGood,
      "b.mjs": { reason: "it ended the process (exit code 3)" },
      "c.mjs": isGood,
      "d.mjs": { reason: "it took longer than 1.5 s" },
      "e.mjs": { reason: "it threw: no luck", line: 1, column: 7 },
      "f.mjs": isGood,
    });
  });
});

describe("limits of evaluating a pack", () => {
  test("the time for a pack is limited", async () => {
    const files = Object.fromEntries([..."abcdefgh"].map((name) => [`${name}.mjs`, "for (;;);"]));
    const { results } = await evaluatePack(files, { limits: { wallMs: 400, packMs: 1000 } });
    expect(results["h.mjs"]).toEqual({
      reason: expect.stringMatching(/^it was not evaluated, because .* took too long/),
    });
  });

  test("the total size of a pack's results is limited", async () => {
    const files = Object.fromEntries(
      [..."abcde"].map((name) => [`${name}.mjs`, "export default 'x'.repeat(1e6)"]),
    );
    const { results } = await evaluatePack(files, { limits: { ...limits, packBytes: 2_500_000 } });
    const notReached = { reason: expect.stringMatching(/^it was not evaluated, .* have large results$/) };
    expect(Object.values(results).slice(3)).toEqual([notReached, notReached]);
    expect(Object.values(results).filter((result) => "value" in result)).toHaveLength(3);
  });

  test.runIf(process.platform === "linux").each(ways)(
    "a pack that will not end, or whose evaluation is aborted, leaves no process and no folder with $way",
    async ({ hasNetwork }) => {
      const temporary = makeTree({ keep: "" });
      vi.stubEnv("TMPDIR", temporary);
      const expectNothingLeft = async () => {
        await expect.poll(() => processesWith(temporary)).toEqual([]);
        expect(readdirSync(temporary)).toEqual(["keep", basename(root)]);
      };
      const root = makeTree({
        "a.mjs": `process.on("SIGTERM", () => {}); setInterval(() => {}, 1); ${good}`,
        "b.mjs": "process.on('exit', () => { for (;;); }); process.exit()",
      });
      await evaluateIn(root, undefined, { hasNetwork, limits: { wallMs: 700 } });
      await expectNothingLeft();

      const title = `${root}/evaluating`;
      writeTree(root, { "a.mjs": `process.title = ${JSON.stringify(title)}; for (;;);`, "b.mjs": good });
      const abortion = new AbortController();
      const options = { hasNetwork, limits: { wallMs: 50_000 }, signal: abortion.signal };
      const evaluation = evaluateIn(root, undefined, options);
      await waitUntil(() => processesWith(title).length > 0);
      abortion.abort();
      const interrupted = { reason: "it was interrupted" };
      expect((await evaluation).results).toEqual({ "a.mjs": interrupted, "b.mjs": interrupted });
      await expectNothingLeft();
    },
  );
});

test.runIf(process.platform === "linux")(
  "a command that a signal ends while it evaluates leaves no folder",
  async () => {
    const cwd = makeTree({
      "package.json": packManifest("x", { trailblaze: { tools: ["loops"] } }),
      "tmp/keep": "",
    });
    const temporary = join(cwd, "tmp");
    const title = `${cwd}/evaluating`;
    writeTree(cwd, { "trailblaze/tools/loops.mjs": `process.title = ${JSON.stringify(title)}; for (;;);` });
    const env = { ...process.env, TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: "1" };
    for (const name of ["inspect", "validate"]) {
      const child = spawn(process.execPath, [command, name, name === "inspect" ? "x" : "."], { cwd, env });
      onTestFinished(() => void child.kill("SIGKILL"));
      await waitUntil(() => processesWith(title).length > 0);
      child.kill("SIGTERM");
      expect(await once(child, "exit")).toEqual([143, null]);
      expect(readdirSync(temporary)).toEqual(["keep"]);
      await waitUntil(() => processesWith(title).length === 0);
    }
  },
);

/** Starts a process that evaluates the pack and may come to harm. */
function startHost(root: string, options: object, prefix: readonly string[] = []) {
  const files = readdirSync(root)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => join(root, file));
  const request = JSON.stringify({ packageRoot: root, files, ...options });
  const script = inRepository("test/confinement/evaluating-host.ts");
  const node = [process.execPath, "--import", import.meta.resolve("tsx"), script, request];
  const [command = "", ...args] = [...prefix, ...node];
  const host = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  let output = "";
  host.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = new Promise<{ output: string; signal: string | null }>((resolve) => {
    host.on("close", (_code, signal) => resolve({ output, signal }));
  });
  return { host, ended };
}

describe.runIf(process.platform === "linux").each(ways)(
  "a process that evaluates with $way",
  ({ hasNetwork }) => {
    test("the evaluating process survives a pack that kills its parent", async () => {
      const root = makeTree({
        "a.mjs": `
        // Only the parent: whoever broke the code under test would not thank us for a -1.
        try { process.kill(process.ppid, "SIGKILL") } catch {}
        try { process._kill(process.ppid, 9) } catch {}
        try { process._debugProcess(process.ppid) } catch {}
        ${good}`,
      });
      const { output, signal } = await startHost(root, { hasNetwork, limits }).ended;
      expect(signal).toBe(null);
      expect(Object.values(JSON.parse(output).results)).toEqual([isGood]);
    });

    test.skipIf(hasNetwork)("a pack that loops ends together with the evaluating process", async () => {
      const root = makeTree({});
      // A child without its request would end by itself: the pack shows that it has come, by the child's title.
      const title = `${root}/evaluating`;
      writeTree(root, { "a.mjs": `process.title = ${JSON.stringify(title)}; for (;;);` });
      const isRunning = () => processesWith(title).length > 0;
      const { host, ended } = startHost(root, { hasNetwork, limits: { wallMs: 50_000 } });
      await waitUntil(isRunning);
      host.kill("SIGKILL");
      await ended;
      await expect.poll(() => processesWith(root)).toEqual([]);
    });
  },
);
