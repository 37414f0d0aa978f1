// Runs MCP's conformance suite against a pack that `trailblaze start` serves over HTTP: `npm run conformance`, which builds
// only if there is no build. docs/conformance.md says what must pass and what is excluded; the run fails if it differs.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inRepository } from "../test/support/repository.ts";
import { runProcess, runToSuccess } from "../test/support/run-process.ts";
import { serveOverHttp } from "../test/support/serve-over-http.ts";
import { type JudgedScenario, judgeRun, readConformancePage, type SuiteCheck } from "./conformance-page.ts";

const require = createRequire(import.meta.url);
const manifest = require.resolve("@modelcontextprotocol/conformance/package.json");
const { bin, version } = JSON.parse(readFileSync(manifest, "utf8"));
const suite = join(dirname(manifest), bin.conformance);

const server = "conformance-pack/everything";
const pack = inRepository("fixtures/conformance-pack");
const env = { ...process.env, NO_COLOR: "1" };

/** Names of all scenarios for servers. */
async function listScenarios(): Promise<string[]> {
  const listing = await runToSuccess(process.execPath, [suite, "list", "--server"], {
    cwd: pack,
    env,
    timeoutMs: 30_000,
  });
  return [...listing.matchAll(/^ +- (\S+)$/gm)].flatMap(([, name]) => name ?? []);
}

/** Runs the scenarios one after the other, in one process of the suite; returns their checks by name. */
async function runScenarios(url: string, results: string): Promise<Map<string, SuiteCheck[]>> {
  const args = [suite, "server", "--url", url, "--suite", "all", "--output-dir", results];
  // The exit code only says that something failed; the checks say what.
  await runProcess(process.execPath, args, { cwd: pack, env, timeoutMs: 90_000 });
  const checks = new Map<string, SuiteCheck[]>();
  for (const folder of readdirSync(results)) {
    const [, name] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder) ?? [];
    const file = join(results, folder, "checks.json");
    if (name !== undefined && existsSync(file)) checks.set(name, JSON.parse(readFileSync(file, "utf8")));
  }
  return checks;
}

function print(scenarios: readonly JudgedScenario[]): void {
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  for (const { name, expected, result, successes, complaints, fault } of scenarios) {
    const shown = result === "passed" ? `passed, checks: ${successes}` : result;
    const end = fault === undefined ? (expected === "left out" ? "left out" : "") : `WRONG: ${fault}`;
    console.log(`${name.padEnd(width)}  ${shown.padEnd(17)}  ${end}`.trimEnd());
    if (fault !== undefined) for (const complaint of complaints) console.log(`  ${complaint}`);
  }
}

async function main(): Promise<void> {
  if (!existsSync(inRepository("dist/cli/cli.cjs"))) {
    const options = { cwd: inRepository("."), env: process.env, timeoutMs: 300_000 };
    await runToSuccess("npm", ["run", "build"], options);
  }
  const promised = readConformancePage(readFileSync(inRepository("docs/conformance.md"), "utf8"));
  const results = mkdtempSync(join(tmpdir(), "trailblaze-conformance-"));
  try {
    const names = await listScenarios();
    const serving = await serveOverHttp(server, { cwd: pack });
    let checks: Map<string, SuiteCheck[]>;
    let exitCode: number | null = null;
    try {
      checks = await runScenarios(serving.url, results);
    } finally {
      exitCode = await serving.stop();
    }
    const scenarios = judgeRun(promised, names, checks);
    console.log(`The conformance suite ${version} against ${server}\n`);
    print(scenarios);
    const passed = scenarios.filter(({ result }) => result === "passed");
    const leftOut = scenarios.filter(({ expected }) => expected === "left out");
    const wrong = scenarios.filter(({ fault }) => fault !== undefined);
    const counts = `${passed.length} passed, ${leftOut.length} left out`;
    console.log(`\n${counts}, ${wrong.length} other than docs/conformance.md says`);
    if (exitCode !== 0) console.log(`The server ended with exit code ${exitCode}\n${serving.stderr()}`);
    if (wrong.length > 0 || names.length === 0 || exitCode !== 0) process.exitCode = 1;
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

await main();
