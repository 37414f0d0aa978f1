import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runPairedRounds } from "./support/paired-rounds.ts";
import { formatAim, formatRatio, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";

const aims = { open: 0.05, command: 1.5 };
const serverCount = 20;

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const opener = fileURLToPath(new URL("support/time-session.mjs", import.meta.url));
const modules = fileURLToPath(new URL("../node_modules/@modelcontextprotocol", import.meta.url));

/** A project whose config has real servers, each kind several times with arguments of its own. */
function writeProject(folder: string): void {
  const kinds = [
    (name: string) => {
      mkdirSync(join(folder, name));
      return { args: [join(modules, "server-filesystem/dist/index.js"), join(folder, name)] };
    },
    (name: string) => ({
      args: [join(modules, "server-memory/dist/index.js")],
      env: { MEMORY_FILE_PATH: join(folder, `${name}.json`) },
    }),
    () => ({ args: [join(modules, "server-everything/dist/index.js"), "stdio"] }),
  ];
  const servers = Array.from({ length: serverCount }, (_, index) => {
    const name = `server${index}`;
    return [name, { command: process.execPath, ...kinds[index % kinds.length]?.(name) }];
  });
  const config = { logDir: "logs", nameCollisions: "prefix", mcpServers: Object.fromEntries(servers) };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "measured", version: "1.0.0" }));
  writeFileSync(join(folder, "trailblaze.config.json"), JSON.stringify(config));
}

/** Servers that start when they are needed: what opening a session over real ones costs, and listing their tools. */
export async function benchLazy({ rounds, cpu }: BenchmarkOptions): Promise<void> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  const run = (...args: string[]) => {
    const { stdout: _, ...sample } = runTimed(process.execPath, args, { cwd, cpu });
    return sample;
  };
  const open = (start: string) => {
    const { stdout } = runTimed(process.execPath, [opener, start], { cwd });
    return JSON.parse(stdout) as { wall: number; cpu: number };
  };
  const metric = cpu ? "cpu" : "wall";
  try {
    writeProject(cwd);
    run(command, "approve", "--all", "--yes");
    const opened = runPairedRounds({ lazy: () => open("lazy"), eager: () => open("eager") }, rounds);
    const commands = runPairedRounds(
      { tools: () => run(command, "tools", "--lazy"), list: () => run(command, "list") },
      rounds,
    );
    // The time of the servers themselves is not the session's CPU time.
    const open20 = compareRounds(opened, "lazy", "eager", "wall");
    const listed = compareRounds(commands, "tools", "list", metric);
    printTable(
      ["20 real servers", "ratio", "aim"],
      [
        ["opening a session, lazy ÷ eager", formatRatio(open20), formatAim(open20, aims.open)],
        ["`tools --lazy` ÷ `list`", formatRatio(listed), formatAim(listed, aims.command)],
      ],
    );
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
