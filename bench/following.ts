import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { openSession as OpenSession } from "../src/session.ts";
import { runUsersNpm } from "../test/support/package-managers.ts";
import { printTable } from "./support/print.ts";

const aims = { changeMs: 1500, cpuPercent: 0.5 };
const packages = 1000;
const restMs = 5000;

const writeJson = (path: string, value: object) => writeFileSync(path, JSON.stringify(value));

/** A pack with one tool. */
function writePack(folder: string, name: string): void {
  mkdirSync(join(folder, "trailblaze/tools"), { recursive: true });
  writeFileSync(join(folder, "tool.js"), "export const echo = () => 1;\n");
  const tool = { name, description: "Echo.", inputSchema: { type: "object" }, handler: "./tool.js#echo" };
  writeJson(join(folder, "trailblaze/tools/echo.json"), tool);
  writeJson(join(folder, "package.json"), {
    name,
    version: "1.0.0",
    type: "module",
    trailblaze: { tools: ["echo"] },
  });
}

/** Opens a session that follows a project; `changed` resolves at its next change, with the time. */
async function follow(openSession: typeof OpenSession, cwd: string) {
  let notify: (at: number) => void = () => {};
  const changed = new Promise<number>((resolve) => {
    notify = resolve;
  });
  const session = await openSession({
    cwd,
    config: { logDir: join(cwd, "logs") },
    watch: true,
    onChange: () => notify(performance.now()),
  });
  return { session, changed };
}

const formatLimit = (value: number, aim: number) => `${aim} ${value <= aim ? "met" : "MISSED"}`;

/** Sessions that follow their project: how soon a change arrives, and what following costs while nothing changes. */
export async function benchFollowing(
  openSession: typeof OpenSession,
  folder: string,
  rounds: number,
): Promise<void> {
  const rows: string[][] = [];
  // Following keeps no process alive.
  const alive = setInterval(() => {}, 60_000);
  const addRow = (what: string, measured: string, value: number, aim: number) =>
    rows.push([what, measured, formatLimit(value, aim)]);

  const pack = join(folder, "to-install");
  writePack(pack, "to-install");
  const times: number[] = [];
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    const cwd = join(folder, "installing");
    mkdirSync(cwd);
    writeJson(join(cwd, "package.json"), { name: "installing", version: "1.0.0" });
    const { session, changed } = await follow(openSession, cwd);
    await runUsersNpm(["install", "--offline", "--no-audit", "--no-fund", "--install-links", pack], cwd);
    const end = performance.now();
    times.push((await changed) - end);
    await session.close();
    rmSync(cwd, { recursive: true });
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  addRow("from the end of `npm install` to the change", `${Math.round(median)} ms`, median, aims.changeMs);

  const cwd = join(folder, "large");
  const names = Array.from({ length: packages }, (_, index) => `package-${index}`);
  for (const name of names) {
    mkdirSync(join(cwd, "node_modules", name), { recursive: true });
    writeJson(join(cwd, "node_modules", name, "package.json"), { name, version: "1.0.0" });
  }
  const manifest = { name: "large", version: "1.0.0" };
  const dependencies = Object.fromEntries(names.map((name) => [name, "*"]));
  writeJson(join(cwd, "package.json"), { ...manifest, dependencies });
  const { session, changed } = await follow(openSession, cwd);
  await delay(500);
  const before = process.cpuUsage();
  await delay(restMs);
  const { user, system } = process.cpuUsage(before);
  const percent = ((user + system) / 1000 / restMs) * 100;
  addRow(`CPU at rest, ${packages} packages`, `${percent.toFixed(2)} %`, percent, aims.cpuPercent);

  writePack(join(cwd, "node_modules/added"), "added");
  writeJson(join(cwd, "package.json"), { ...manifest, dependencies: { ...dependencies, added: "*" } });
  const end = performance.now();
  const elapsed = (await changed) - end;
  addRow(
    `from the last write to the change, ${packages} packages`,
    `${Math.round(elapsed)} ms`,
    elapsed,
    aims.changeMs,
  );
  await session.close();
  clearInterval(alive);
  printTable(["a session that follows its project", "measured", "aim"], rows);
}
