import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { findPackageProgram } from "../inspection/server-package.ts";
import type { PackPreview } from "../npm/preview-packs.ts";
import { failure, listOf, quote } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { JsonRecord } from "./editing/config-format.ts";
import { readVariable } from "./entry.ts";
import { type EntryToWrite, readProjectServers } from "./project-config.ts";

/** The name of the command to run; `undefined` for the default. Throws `InvalidArguments` if there is no such command. */
function chooseBin(name: string, bins: readonly string[], bin: string | undefined): string | undefined {
  const own = name.replace(/^@[^/]*\//, "");
  const isMissing = bin !== undefined && !bins.includes(bin);
  const isUnclear = bin === undefined && bins.length > 1 && !bins.includes(own);
  if (!isMissing && !isUnclear) return bin;
  const what = isMissing ? `no command ${quote(bin)}` : "several commands";
  throw failure("InvalidArguments", {
    reason: `The package ${quote(name)} has ${what}`,
    hint: `Pass --bin ${listOf(bins.slice(0, 10).map((one) => quote(one)))}.`,
  });
}

/**
 * The entry of the config for an MCP server, whose label is the last segment of the npm name by default. `env`: `NAME=VALUE`, or
 * `NAME` for a reference to the variable. Throws `TrailblazeError` `InvalidArguments`.
 */
export function createEntry(
  { spec, serverBins = [] }: PackPreview,
  { name, args, env, bin }: Record<"args" | "env", readonly string[]> & { name?: string; bin?: string },
): EntryToWrite {
  const command = chooseBin(spec.name, serverBins, bin);
  const entry: JsonRecord = { package: spec.name };
  if (command !== undefined) entry.bin = command;
  if (args.length > 0) entry.args = [...args];
  const variables = env.map(readVariable);
  if (env.length > 0)
    entry.env = Object.fromEntries(variables.map(([key, value]) => [key, value ?? `\${${key}}`]));
  return { label: name ?? spec.name.replace(/^@[^/]*\//, ""), entry };
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
  const found = findPackageProgram(createNodeInspectionPort(), directory, named);
  if (found.state === "found") return;
  const reason = found.state === "unusable" ? found.reason : `the package ${quote(name)} was not installed`;
  throw failure("InstallFailed", { what: `add ${name}`, reason });
}

/**
 * Starts a server of a project once and returns the names of its tools, whatever the lock says of it. `isInConfig`: the
 * config has its entry. Throws `TrailblazeError`, as a session does: `ServerStartFailed` and others.
 */
export async function listServerTools(
  directory: string,
  { label, entry }: EntryToWrite,
  {
    isInConfig,
    ...notes
  }: { isInConfig: boolean } & Pick<SessionOptions, "onCommand" | "onConnect" | "onWait">,
): Promise<string[]> {
  const config = isInConfig ? {} : { config: { mcpServers: { [label]: entry } } };
  const session = await openSessionByRules(
    { cwd: directory, lock: "off", ...notes, ...config },
    { userServers: "needed", selection: { label, packs: [] } },
  );
  try {
    return session.tools.map(({ name }) => name);
  } finally {
    await session.close();
  }
}
