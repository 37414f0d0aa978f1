import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isolatedEnvironment, runPackageManager } from "../test/support/package-managers.ts";
import { publish } from "../test/support/publish.ts";
import { type Registry, startRegistry } from "../test/support/registry.ts";
import { command } from "../test/support/run-cli.ts";
import { runProcess } from "../test/support/run-process.ts";
import { writeTree } from "../test/support/tree.ts";
import { waitUntil } from "../test/support/wait-until.ts";
import { type CommandPlace, runAndKill } from "./support/kill.ts";
import { expectThat, type Part, type Steps } from "./support/part.ts";

const server = "tb-soaked";
const kept = ["package.json", "package-lock.json", "trailblaze.config.yaml"];

const packageOf = (name: string, fields: object) => ({
  "package.json": { name, version: "1.0.0", ...fields },
  "main.js": "#!/usr/bin/env node\n",
});

/** Whether a process works in a folder. */
function isInUse(folder: string): boolean {
  if (process.platform !== "linux") return false;
  return readdirSync("/proc").some((entry) => {
    try {
      return /^\d+$/.test(entry) && readlinkSync(`/proc/${entry}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

async function openSteps(folder: string, registry: string): Promise<Steps> {
  const [cwd, home] = [join(folder, "project"), join(folder, "home")];
  await publish(registry, packageOf("tb-before", {}));
  await publish(registry, packageOf(server, { bin: "./main.js", mcpName: "io.github.someone/soaked" }));
  writeTree(cwd, {
    "package.json": { name: "soaked", private: true, dependencies: { "tb-before": "^1.0.0" } },
    "trailblaze.config.yaml": "# mine\ncrash: isolate # keep\n",
  });
  const place: CommandPlace = { cwd, env: isolatedEnvironment({ cwd, registry, home }) };
  await runPackageManager("npm", ["install"], { cwd, registry, home });

  const read = () =>
    JSON.stringify(
      kept.map((file) => (existsSync(join(cwd, file)) ? readFileSync(join(cwd, file), "utf8") : null)),
    );
  const run = (args: readonly string[]) =>
    runProcess(process.execPath, [command, ...args], { ...place, timeoutMs: 120_000 });
  async function runWell(args: readonly string[]): Promise<void> {
    const { exitCode, stderr } = await run(args);
    expectThat(exitCode === 0, () => `${args.join(" ")} exits with ${exitCode}: ${stderr}`);
  }
  const add = ["add", server, "--server", "--yes"];

  const before = read();
  const begun = performance.now();
  await runWell(add);
  const wholeMs = performance.now() - begun;
  const after = read();
  await runWell(["remove", server]);
  expectThat(read() === before, () => `add and remove make ${before} ${read()}`);
  const canRestore = (await run(["doctor", "--help"])).stdout.includes("--fix");

  return {
    async step(random) {
      // A step that broke may have left anything.
      for (const [index, text] of (JSON.parse(before) as (string | null)[]).entries())
        if (text !== null) writeFileSync(join(cwd, kept[index] ?? ""), text);
      const withChildren = random.chance(0.5);
      const isKilled = await runAndKill(add, place, random.next() * wholeMs, { withChildren });
      await waitUntil(() => !isInUse(cwd), 60_000);
      const left = read();
      const isHalf = left !== before && left !== after;
      if (canRestore) {
        const { stderr } = await run(["doctor", "--fix"]);
        const fixed = read();
        expectThat(fixed === before || fixed === after, () => `doctor --fix leaves ${fixed}: ${stderr}`);
      }
      // A server that the config has cannot be added again.
      if (read() !== after) await runWell(add);
      expectThat(read() === after, () => `an add after a killed one makes of ${left} ${read()}`);
      await runWell(["remove", server]);
      expectThat(read() === before, () => `remove after a killed add leaves ${read()}`);
      return { kills: Number(isKilled), "half done": Number(isHalf), done: Number(left === after) };
    },
    close: async () => {},
  };
}

/**
 * `add`, killed at any point, alone or with its package manager: `doctor --fix`, or the next `add`, leaves package.json, the
 * lockfile and the config as before or as after. `given` is a registry that runs; without it, the part starts one.
 */
export const addKillsWith = (given?: string): Part => ({
  steps: 500,
  limitMs: 60_000,
  async open({ folder }) {
    let registry: Registry | undefined;
    if (given === undefined) registry = await startRegistry();
    try {
      const steps = await openSteps(folder, given ?? registry?.url ?? "");
      return { ...steps, close: async () => registry?.close() };
    } catch (error) {
      await registry?.close();
      throw error;
    }
  },
});
