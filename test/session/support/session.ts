import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { TrailblazeConfig } from "../../../src/config/generated/config-type.ts";
import type { CommandSessionOptions } from "../../../src/session/session-options.ts";
import { openSession, type Session } from "../../../src/session.ts";
import { makeTree, packManifest } from "../../support/packs.ts";
import type { Tree } from "../../support/tree.ts";

export const probeServer = fileURLToPath(new URL("probe-server.mjs", import.meta.url));

/** An entry of `trailblazeSubprocessToolsets` that starts the probe. */
export const probe = (name = "probe", env: Readonly<Record<string, string>> = {}) => ({
  name,
  command: process.execPath,
  args: [probeServer],
  env: { PROBE_PREFIX: name, ...env },
});

/** The names of tools, of what is skipped, and of the like. */
export const namesOf = (items: readonly { name: string }[]) => items.map(({ name }) => name);

/** A list of tools for `PROBE_TOOLS`. */
export const listing = (...names: string[]) =>
  JSON.stringify(names.map((name) => ({ name, inputSchema: { type: "object" } })));

/** A server of the config with these tools. */
export const server = (name: string, tools: readonly string[], changes: object = {}) => ({
  ...probe(name, { PROBE_TOOLS: listing(...tools) }),
  ...changes,
});
export const withServers = (...servers: object[]) => ({ trailblazeSubprocessToolsets: servers });

/** The definition of a pack's server that is the probe. */
export const probeDefinition = (env: Readonly<Record<string, string>>) => ({
  command: process.execPath,
  args: [probeServer],
  env,
});

/** A project with packs as its dependencies; files of a pack are given by their path inside it. */
export const makeProject = (packs: Readonly<Record<string, Tree>>, more: Tree = {}): string =>
  makeTree(projectTree(packs, more));

/** The same as a tree that is not written yet. */
export function projectTree(packs: Readonly<Record<string, Tree>>, more: Tree = {}): Tree {
  const names = Object.keys(packs);
  const tree: Record<string, unknown> = {
    "package.json": {
      name: "app",
      version: "1.0.0",
      dependencies: Object.fromEntries(names.map((name) => [name, "*"])),
    },
  };
  for (const [name, files] of Object.entries(packs)) {
    for (const [path, content] of Object.entries(files)) {
      const isManifest = path === "package.json";
      tree[`node_modules/${name}/${path}`] = isManifest
        ? packManifest(name, content as Record<string, unknown>)
        : content;
    }
  }
  return { ...tree, ...more };
}

/** Opens a session that is closed after the running test; its logs lie in the project. */
export async function openForTest(
  cwd: string,
  options: Omit<CommandSessionOptions, "config"> & {
    config?: string | TrailblazeConfig | Readonly<Record<string, unknown>>;
  } = {},
): Promise<Session> {
  const { config = {}, ...rest } = options;
  const settings = typeof config === "string" ? config : { logDir: "logs", ...config };
  const all: CommandSessionOptions = { cwd, config: settings, ...rest };
  const session = await openSession(all);
  onTestFinished(() => session.close());
  return session;
}

/** The JSON in the only text of a result. */
export const jsonOf = (result: { message: string }) => JSON.parse(result.message);

/** A pack with tools in data, whose handlers are the exports of one module. */
export function toolPack(
  tools: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  module: string,
  extra: Tree = {},
): Tree {
  const { "package.json": manifest, ...files } = extra;
  const definitions = Object.entries(tools).map(([item, definition]) => [
    `trailblaze/tools/${item}.json`,
    {
      name: item,
      description: `The tool ${item}.`,
      inputSchema: { type: "object" },
      handler: `./handlers.js#${item}`,
      ...definition,
    },
  ]);
  return {
    "package.json": {
      ...(manifest as object),
      trailblaze: { tools: Object.keys(tools), ...(manifest as { trailblaze?: object })?.trailblaze },
    },
    "handlers.js": module,
    ...Object.fromEntries(definitions),
    ...files,
  };
}
