// Runs MCP's conformance suites against a pack that `trailblaze start` serves over HTTP: `npm run conformance`, which builds
// only if there is no build. docs/conformance.md says what must pass and what is excluded; the run fails if it differs.
// The suites need Node 22 or newer.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inRepository } from "../test/support/repository.ts";
import { runProcess, runToSuccess } from "../test/support/run-process.ts";
import { serveOverHttp } from "../test/support/serve-over-http.ts";
import {
  isAbout,
  judgeRun,
  type PromisedScenario,
  readConformancePage,
  type SuiteCheck,
} from "./conformance-page.ts";

const require = createRequire(import.meta.url);

/** One run of a suite. */
interface SuiteRun {
  /** The suite's package.json. */
  manifest: string;
  revision: string;
  /** Arguments of the suite that select the scenarios, when it lists and when it runs them. */
  listed: readonly string[];
  run: readonly string[];
}

const legacy = "2025-11-25";
const modern = "2026-07-28";
const older = require.resolve("conformance-0.1/package.json");
const newer = require.resolve("@modelcontextprotocol/conformance/package.json");
const required = (revision: string) => ["--requirements", revision];
const runs: readonly SuiteRun[] = [
  { manifest: older, revision: legacy, listed: [], run: ["--suite", "all"] },
  { manifest: newer, revision: legacy, listed: required(legacy), run: required(legacy) },
  { manifest: newer, revision: modern, listed: required(modern), run: required(modern) },
];

const server = "conformance-pack/everything";
const pack = inRepository("fixtures/conformance-pack");
const env = { ...process.env, NO_COLOR: "1" };
const processOptions = { cwd: pack, env, timeoutMs: 90_000 };

/** Names of the run's scenarios for servers, required ones and others. */
async function listScenarios(suite: string, listed: readonly string[]): Promise<string[]> {
  const listing = await runToSuccess(
    process.execPath,
    [suite, "list", "--server", ...listed],
    processOptions,
  );
  const ofServers = listing.split("\nClient scenarios")[0] ?? "";
  const others = [...listing.matchAll(/^ {4}- (\S+) \[server\]$/gm)];
  const names = [...ofServers.matchAll(/^ {2}- (\S+)(?: \[[\d,-]+\])?$/gm), ...others];
  return names.flatMap(([, name]) => name ?? []);
}

/** Runs the scenarios one after the other, in one process of the suite; returns their checks by name. */
async function runScenarios(suite: string, args: readonly string[], url: string) {
  const results = mkdtempSync(join(tmpdir(), "trailblaze-conformance-"));
  try {
    // The exit code only says that something failed; the checks say what.
    const all = [suite, "server", "--url", url, ...args, "--output-dir", results];
    await runProcess(process.execPath, all, processOptions);
    const checks = new Map<string, SuiteCheck[]>();
    for (const folder of readdirSync(results)) {
      const [, name] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder) ?? [];
      const file = join(results, folder, "checks.json");
      if (name !== undefined && existsSync(file)) checks.set(name, JSON.parse(readFileSync(file, "utf8")));
    }
    return checks;
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

/** Runs a suite and prints what it found. Returns whether that is what the page says. */
async function isAsPromised(
  { manifest, revision, listed, run }: SuiteRun,
  promised: readonly PromisedScenario[],
  url: string,
): Promise<boolean> {
  const { bin, version } = JSON.parse(readFileSync(manifest, "utf8"));
  const suite = join(dirname(manifest), bin.conformance);
  const names = await listScenarios(suite, listed);
  // The older suite lacks some scenarios.
  const own = promised.filter(
    (promise) =>
      ["both", revision].includes(promise.revisions) &&
      (manifest === newer || names.some((name) => isAbout(promise, name))),
  );
  const scenarios = judgeRun(own, names, await runScenarios(suite, run, url));
  console.log(`\nThe conformance suite ${version} against ${server}, revision ${revision}\n`);
  for (const { name, expected, result, complaints, fault } of scenarios) {
    console.log(`${name}: ${result}${expected === "pass" ? "" : `, ${expected}`}`);
    if (fault !== undefined) console.log([`  WRONG: ${fault}`, ...complaints].join("\n  "));
  }
  const wrong = scenarios.filter(({ fault }) => fault !== undefined);
  console.log(`\n${scenarios.length} scenarios, ${wrong.length} other than docs/conformance.md says`);
  return wrong.length === 0 && names.length > 0;
}

async function main(): Promise<void> {
  if (Number(process.versions.node.split(".")[0]) < 22) {
    console.error(`The conformance suites need Node 22 or newer. This is Node ${process.versions.node}.`);
    process.exitCode = 1;
    return;
  }
  if (!existsSync(inRepository("dist/cli/cli.cjs"))) {
    const options = { cwd: inRepository("."), env: process.env, timeoutMs: 300_000 };
    await runToSuccess("npm", ["run", "build"], options);
  }
  const promised = readConformancePage(readFileSync(inRepository("docs/conformance.md"), "utf8"));
  const serving = await serveOverHttp(server, { cwd: pack });
  let isAll = true;
  let exitCode: number | null = null;
  try {
    for (const run of runs) isAll = (await isAsPromised(run, promised, serving.url)) && isAll;
  } finally {
    exitCode = await serving.stop();
  }
  if (exitCode !== 0) console.log(`The server ended with exit code ${exitCode}\n${serving.stderr()}`);
  if (!isAll || exitCode !== 0) process.exitCode = 1;
}

await main();
