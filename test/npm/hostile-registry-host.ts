// Asks registries for things, one request after the other, and prints how each ended. It ends when nothing is left open.
import { addPacks } from "../../src/npm/add-packs.ts";
import { TrailblazeError } from "../../src/problems/index.ts";
import { searchPacks } from "../../src/remote.ts";

/** Folders whose .npmrc names a registry, and what is asked for there. */
const asked = JSON.parse(process.argv[2] ?? "[]") as {
  cwd: string;
  stage: string;
  timeoutMs: number;
  abortMs?: number;
}[];

function ask(cwd: string, stage: string, registryTimeoutMs: number, signal: AbortSignal | undefined) {
  const more = signal === undefined ? {} : { signal };
  if (stage === "search") return searchPacks("x", { cwd, limits: { timeoutMs: registryTimeoutMs }, ...more });
  const spec = stage === "packument" ? "tb-hostile@^1" : "tb-hostile";
  return addPacks([spec], { cwd, registryTimeoutMs, consent: () => false, ...more });
}

// `resourceUsage().maxRSS` of a child begins with the memory of the process that started it.
let maxRss = 0;
setInterval(() => {
  maxRss = Math.max(maxRss, process.memoryUsage.rss());
}, 2).unref();

const ends: unknown[] = [];
for (const { cwd, stage, timeoutMs, abortMs } of asked) {
  const signal = abortMs === undefined ? undefined : AbortSignal.timeout(abortMs);
  try {
    await ask(cwd, stage, timeoutMs, signal);
    ends.push({ code: "none" });
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    ends.push({ code: error.code, args: error.problem.args });
  }
}
process.on("exit", () => {
  process.stdout.write(JSON.stringify({ ends, maxRssMiB: Math.round(maxRss / 2 ** 20) }));
});
