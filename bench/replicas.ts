import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../test/support/find-program.ts";
import { startReplicas } from "../test/support/replicas.ts";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runAsyncRounds } from "./support/paired-rounds.ts";
import { formatRatio, printTable } from "./support/print.ts";
import { timeCalls } from "./support/time.ts";

const counts = [1, 2, 4];
const callsAtOnce = 64;

/** A pack whose tool computes for about a millisecond. */
function writeProject(folder: string): void {
  const files: Readonly<Record<string, unknown>> = {
    "package.json": { name: "project", dependencies: { own: "*" } },
    "node_modules/own/package.json": {
      name: "own",
      version: "1.0.0",
      type: "module",
      trailblaze: { tools: ["work"] },
    },
    "node_modules/own/trailblaze/tools/work.json": {
      name: "work",
      inputSchema: { type: "object" },
      handler: "./work.js#work",
    },
    "node_modules/own/work.js": `import { createHash } from "node:crypto";
const bytes = Buffer.alloc(1_000_000);
export const work = () => createHash("sha256").update(bytes).digest("hex");
`,
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** Requests a second of 1, 2 and 4 replicas behind HAProxy, 64 at once. */
export async function benchReplicas({ rounds }: BenchmarkOptions): Promise<void> {
  const haproxy = findProgram("haproxy");
  if (haproxy === undefined) {
    console.log("HAProxy is not installed, so replicas are not measured.");
    return;
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  const ends: (() => Promise<void>)[] = [];
  try {
    writeProject(folder);
    const contestants = [];
    for (const count of counts) {
      const { connect, end } = await startReplicas(haproxy, folder, count);
      ends.push(end);
      const client = await connect();
      ends.push(() => client.close());
      const call = () => client.callTool({ name: "work", arguments: {} });
      contestants.push([String(count), () => timeCalls(call, 640, callsAtOnce)] as const);
    }
    const measured = await runAsyncRounds(Object.fromEntries(contestants), rounds);
    const rows = counts.slice(1).map((count) => {
      // The inverse of the time is the number of requests.
      return [String(count), formatRatio(compareRounds(measured, "1", String(count), "time"))];
    });
    printTable(["replicas", "requests a second ÷ those of one replica"], rows);
  } finally {
    await Promise.all(ends.map((end) => end()));
    rmSync(folder, { recursive: true, force: true });
  }
}
