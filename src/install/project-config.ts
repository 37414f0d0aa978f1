import { join } from "node:path";
import { parseConfig } from "../config/config-file.ts";
import { readConfig } from "../config/read-config.ts";
import { listServerEntries, type ServerEntry } from "../config/server-entries.ts";
import { findLocator } from "../data/source-text.ts";
import { editConfigFile, findRealFile, readConfigFile } from "../files/edit.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { findPackageProgram } from "../inspection/server-package.ts";
import type { PackPreview } from "../npm/preview-packs.ts";
import { failure, listOf, quote } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { editEntries } from "./editing/config-document.ts";
import type { JsonRecord } from "./editing/config-format.ts";
import { readVariable } from "./entry.ts";

/** An entry of `mcpServers` in the project's config to write. */
export interface EntryToWrite {
  label: string;
  entry: JsonRecord;
}

/** The servers of the project's config. Throws `TrailblazeError` `InvalidConfig` for an invalid config. */
export async function readProjectServers(directory: string): Promise<ServerEntry[]> {
  const { text } = await readConfig(port, { directory });
  return listServerEntries(text?.value);
}

/** The place of a server in the project's config, as `FILE:LINE`. */
export async function locateServer(directory: string, { path }: ServerEntry): Promise<string> {
  const { text } = await readConfig(port, { directory });
  const locate = text && (await findLocator(text.source));
  return `${text?.file}:${locate?.(path)?.line ?? 1}`;
}

export type ConfigEdit = Awaited<ReturnType<typeof planConfigEdit>>;

/**
 * Plans a change of the config next to a project's package.json, which is made where there is none: writes entries of
 * `mcpServers`, or removes those without a value. Keeps comments, order and layout. Throws `TrailblazeError` `InvalidConfig` if
 * the config is invalid, or would be after the change, and `ClientConfigUnwritable` with what to do by hand for a layout that the
 * editor does not handle.
 */
export async function planConfigEdit(
  directory: string,
  entries: readonly (EntryToWrite | { label: string; entry: undefined })[],
) {
  const { text: source } = await readConfig(port, { directory });
  const file = source?.file ?? "trailblaze.config.yaml";
  const format = file.endsWith(".json") ? "json" : "yaml";
  const realFile = findRealFile(join(directory, file));
  const before = readConfigFile(realFile);
  const edited = editEntries(file, format, before, (config) =>
    entries.map(({ label, entry }) => {
      const place = { container: ["mcpServers"], key: label };
      return { place, before: config.get(place) as JsonRecord | undefined, after: entry };
    }),
  );
  const { text: after, diff } = edited;
  const { value } = await parseConfig(file, Buffer.from(after ?? ""));
  await readConfig(port, { directory, config: value ?? {} });
  return {
    /** The file's name in the project's folder. */
    file,
    diff,
    /** Writes the file. Throws `ClientConfigUnwritable`, or `InvalidConfig` if it has changed meanwhile. */
    async apply() {
      if (!edited.changed) return;
      const decide = (text: string | undefined) => {
        if (text === before) return { text: after };
        throw failure("InvalidConfig", { reason: "another program has changed it" }, { file });
      };
      await editConfigFile(realFile, decide, { newMode: 0o644 });
    },
  };
}

/**
 * The entry of the config for an MCP server, whose label is the last segment of the npm name by default. `env`: `NAME=VALUE`, or
 * `NAME` for a reference to the variable. Throws `TrailblazeError` `InvalidArguments`.
 */
export function createEntry(
  { spec, serverBins = [] }: PackPreview,
  { name, args, env, bin }: Record<"args" | "env", readonly string[]> & { name?: string; bin?: string },
): EntryToWrite {
  const shortName = spec.name.replace(/^@[^/]*\//, "");
  const isOnly = bin === undefined && serverBins.length < 2;
  if (!isOnly && !serverBins.includes(bin ?? shortName)) {
    const what = bin === undefined ? "several commands" : `no command ${quote(bin)}`;
    const reason = `The package ${quote(spec.name)} has ${what}`;
    const hint = `Pass --bin ${listOf(serverBins.slice(0, 10).map((one) => quote(one)))}.`;
    throw failure("InvalidArguments", { reason, hint });
  }
  const entry: JsonRecord = { package: spec.name };
  if (bin !== undefined) entry.bin = bin;
  if (args.length > 0) entry.args = [...args];
  const variables = env.map(readVariable);
  if (env.length > 0)
    entry.env = Object.fromEntries(variables.map(([key, value]) => [key, value ?? `\${${key}}`]));
  return { label: name ?? shortName, entry };
}

/** Throws `TrailblazeError` `InvalidArguments` if a server of the config already has one of the labels. */
export async function checkLabels(directory: string, entries: readonly EntryToWrite[]): Promise<void> {
  const servers = await readProjectServers(directory);
  const known = new Set(servers.map(({ label }) => String(label).toLowerCase()));
  for (const { label } of entries) {
    if (known.has(label.toLowerCase())) {
      const reason = `The config already has a server ${quote(label)}`;
      throw failure("InvalidArguments", { reason, hint: "Pass another name with --name." });
    }
    known.add(label.toLowerCase());
  }
}

/** Throws `TrailblazeError` `InstallFailed` if the command of an installed server cannot be run. */
export function checkProgram(directory: string, { entry }: EntryToWrite): void {
  const { bin } = entry;
  const name = String(entry.package);
  const named = { package: name, bin: typeof bin === "string" ? bin : undefined };
  const found = findPackageProgram(port, directory, named);
  if (found.state === "found") return;
  const reason = found.state === "unusable" ? found.reason : `the package ${quote(name)} was not installed`;
  throw failure("InstallFailed", { what: `add ${name}`, reason });
}

/**
 * Starts a server of a project once and returns the names of its tools, whatever the lock says of it. `isInConfig`: the
 * config has its entry. Throws `TrailblazeError`, as a session does: `ServerStartFailed` and others.
 */
export async function listServerTools(
  cwd: string,
  { label, entry }: EntryToWrite,
  isInConfig: boolean,
  notes: Pick<SessionOptions, "onCommand" | "onConnect" | "onWait">,
): Promise<string[]> {
  const config = isInConfig ? undefined : { mcpServers: { [label]: entry } };
  const rules = { mode: "host", selection: { label, packs: [] } } as const;
  const session = await openSessionByRules({ cwd, lock: "off", config, ...notes }, rules);
  try {
    return session.tools.map(({ name }) => name);
  } finally {
    await session.close();
  }
}
