import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandSessionOptions } from "../../../src/session/session-options.ts";
import { lockEverything, lockOf, readLockText } from "../../approval/support/locked-project.ts";
import { readPids } from "../../support/processes.ts";
import { openWithClock as openNoted } from "./followed.ts";
import { makeProject, openForTest, probeServer } from "./session.ts";

const listingServer = fileURLToPath(new URL("listing-server.mjs", import.meta.url));

type Env = Readonly<Record<string, string>>;

/** A config with the server `a`: values of its environment change without its launch. */
export const configOf = (env: Env = {}, entry: object = {}, more: object = {}) => ({
  logDir: "logs",
  mcpServers: {
    a: {
      command: process.execPath,
      args: [probeServer],
      env: { PROBE_PIDS: "pids", PROBE_PREFIX: "a", PROBE_TOOLS: "", PROBE_WAIT: "go", ...env },
      ...entry,
    },
  },
  ...more,
});

export const write = (cwd: string, config: object) =>
  writeFileSync(join(cwd, "trailblaze.config.json"), JSON.stringify(config));

/** Locks by what was locked. They name no absolute path of a project, so they are the same for equal ones. */
const locks = new Map<string, string>();

/** A project whose lock approves what its servers list. */
export async function makeLocked(
  config: object = configOf(),
  packs: Parameters<typeof makeProject>[0] = {},
  files: Parameters<typeof makeProject>[1] = {},
) {
  const cwd = makeProject(packs, files);
  write(cwd, config);
  const key = JSON.stringify([config, packs, files]);
  const known = locks.get(key);
  if (known !== undefined) writeFileSync(lockOf(cwd), known);
  else await lockEverything(cwd);
  locks.set(key, readLockText(cwd));
  rmSync(join(cwd, "pids"), { force: true });
  return cwd;
}

export const pidsOf = (cwd: string) => readPids(join(cwd, "pids"));

export const open = (cwd: string, options: Parameters<typeof openForTest>[1] = {}) =>
  openForTest(cwd, { config: "trailblaze.config.json", start: "lazy", ...options });

export async function openWithClock(cwd: string, options: CommandSessionOptions = {}) {
  const given = { config: "trailblaze.config.json", start: "lazy" as const, ...options };
  const { opening, clock } = openNoted(cwd, given, false);
  return { session: await opening, clock };
}

export const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

/** The environment of a probe with these tools. */
export const tools = (...all: object[]) => ({ PROBE_TOOLS: JSON.stringify(all) });

/** What `listing-server.mjs` lists. */
export type Listing = Readonly<Record<"tools" | "prompts" | "resources" | "resourceTemplates", object[]>> & {
  instructions?: string;
};

/** A config with servers by label that list what the file `LABEL.json` says. */
export const listingConfig = (labels: readonly string[] = ["a"], entry: object = {}, more: object = {}) => ({
  logDir: "logs",
  mcpServers: Object.fromEntries(
    labels.map((label) => {
      const env = { LISTING: `${label}.json` };
      return [label, { command: process.execPath, args: [listingServer, label], env, ...entry }];
    }),
  ),
  ...more,
});

/** Changes what a server lists from its next start, or the next call of its tool `grow`, on. */
export const writeListing = (cwd: string, listing: Partial<Listing>, label = "a") =>
  writeFileSync(join(cwd, `${label}.json`), JSON.stringify(listing));
