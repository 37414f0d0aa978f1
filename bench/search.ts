import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { openSession as OpenSession } from "../src/session.ts";
import type { BenchmarkOptions } from "./support/options.ts";
import { printTable } from "./support/print.ts";

const aimMs = 5;
const count = 5000;
const built = new URL("../dist/session.mjs", import.meta.url);
const verbs = ["get", "list", "create", "update", "delete", "search", "send", "merge", "archive", "export"];
const nouns = [
  ...["issue", "pull", "user", "branch", "file", "channel", "invoice", "order", "ticket", "calendar"],
  ...["page", "table", "report", "metric", "alert", "deployment", "cluster", "bucket", "secret", "policy"],
];
const queries = [
  "create issue",
  "get the pull of a user by name",
  "delpoyment reprot",
  nouns.slice(0, 16).join(" "),
];

const pick = (words: readonly string[], at: number) => words[at % words.length] as string;

const tools = Array.from({ length: count }, (_, index) => {
  const [verb, noun, other] = [pick(verbs, index), pick(nouns, index * 7), pick(nouns, index * 13 + 5)];
  return {
    name: `${verb}_${noun}_${index}`,
    description: `${verb} the ${noun} of a ${other} by name or number, with its key ${index * 31}.`,
    inputSchema: { type: "object", properties: { [`${noun}Id`]: {}, limit: {} } },
    handler: () => "",
  };
});

const median = (times: readonly number[]) =>
  [...times].sort((one, other) => one - other)[times.length >> 1] ?? 0;

/** A search of many tools in an open session. The first one builds the index. */
export async function benchSearch({ rounds }: BenchmarkOptions): Promise<void> {
  const { openSession } = (await import(built.href)) as { openSession: typeof OpenSession };
  const cwd = mkdtempSync(join(tmpdir(), "trailblaze-bench-"));
  writeFileSync(join(cwd, "package.json"), '{ "name": "measured" }');
  const session = await openSession({ cwd, config: {}, builtIns: tools });
  try {
    const timed = (query: string) => {
      const begun = performance.now();
      if (session.searchTools(query).length === 0) throw new Error(`"${query}" finds nothing`);
      return performance.now() - begun;
    };
    const first = timed("issue");
    const rows = queries.map((query) => {
      const ms = median(Array.from({ length: rounds + 1 }, () => timed(query)).slice(1));
      const aim = `${aimMs} ${ms <= aimMs ? "met" : "MISSED"}`;
      return [`${query.split(" ").length} words`, ms.toFixed(2), aim, (ms / first).toFixed(3)];
    });
    printTable([`search of ${count} tools`, "ms", "aim", "÷ the first, which builds the index"], rows);
  } finally {
    await session.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}
