import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../data/parse-json.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import type { JsonRecord } from "./editing/config-format.ts";

/** A command that starts a server. */
export interface Launch {
  command: string;
  args: readonly string[];
}

export interface LaunchRequest {
  scope: Scope;
  /** The reference for `start`; `null` for the project's session. */
  server: string | null;
  /** Absolute path of the project's folder. */
  project: string;
  /** Whether the server is served over HTTP by default. */
  isHttp: boolean;
  /** Absolute path of the running Node. */
  node: string;
  /** Absolute path of the command's script. */
  script: string;
}

/** The folder of this package, found from the bundle that contains this module. */
export function findOwnPackage(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "trailblaze")
      return folder;
    if (folder === dirname(folder)) return folder;
  }
}

/**
 * Absolute path of the command's script. Prefers the project's link to this package, because the paths in stores of package
 * managers contain the version.
 */
export function findOwnScript(project: string): string {
  const script = "dist/cli/cli.cjs";
  const own = findOwnPackage();
  const linked = join(project, "node_modules/trailblaze");
  try {
    if (realpathSync(linked) === realpathSync(own)) return join(linked, script);
  } catch {
    // The project does not depend on this package.
  }
  return join(own, script);
}

/** Whether the script is in npx's cache, which the next clean-up removes. */
export const isInNpxCache = (script: string): boolean => /[\\/]_npx[\\/]/.test(script);

/**
 * Loads the command from the package `trailblaze` that the current folder resolves, like `import`. Does not use npx, which runs
 * node_modules/.bin/trailblaze, a file that any installed package can claim.
 */
const loadOwnCommand = ["-e", "require('trailblaze/cli')", "trailblaze"] as const;

/** Creates a command that is the same on every machine for a project's file, and independent of `PATH` for a user's. */
export function createLaunch(request: LaunchRequest): Launch {
  const { scope, server, project, isHttp, node, script } = request;
  const start = ["start", ...(server === null ? [] : [server])];
  const transport = isHttp ? ["--stdio"] : [];
  if (scope === "project") return { command: "node", args: [...loadOwnCommand, ...start, ...transport] };
  return { command: node, args: [script, ...start, "--cwd", project, ...transport] };
}

/** Command lines of Trailblaze in a project's file; users and earlier versions wrote the second one. */
const ofProject = [
  ["node", ...loadOwnCommand],
  ["npx", "--no-install", "trailblaze"],
];

/** The server that a command line of Trailblaze starts, `null` for the session; `undefined` for any other command line. */
function findStartedServer(words: readonly unknown[]): string | null | undefined {
  const script = words[1];
  const prefix = ofProject.find((line) => line.every((word, index) => words[index] === word));
  // A user's entry is only recognized with the folder, because other programs have a `cli.js` too.
  const isOfUser =
    typeof script === "string" &&
    /(?:^|[\\/])(?:cli\.c?js|trailblaze)$/.test(script) &&
    words.includes("--cwd");
  const start = prefix?.length ?? 2;
  if (!(prefix || isOfUser) || words[start] !== "start") return undefined;
  const server = words[start + 1];
  if (server === undefined || (typeof server === "string" && server.startsWith("-"))) return null;
  return typeof server === "string" ? server : undefined;
}

/** The folder in which an entry of Trailblaze starts its server, in any client's form. */
export function findStartFolder(entry: Readonly<Record<string, unknown>>): string | undefined {
  for (const words of Object.values(entry)) {
    const index = Array.isArray(words) ? words.indexOf("--cwd") : -1;
    const folder: unknown = index < 0 ? undefined : (words as unknown[])[index + 1];
    if (typeof folder === "string") return folder;
  }
  return undefined;
}

export interface Environment {
  /** Values that are written to the file. */
  literals: ReadonlyMap<string, string>;
  /** Names of variables whose values are not written. */
  names: readonly string[];
}

const noEnvironment: Environment = { literals: new Map(), names: [] };

/** Builds an entry in the client's form. Also returns the variables that could not be included. */
export function buildEntry(
  { shape, reference }: ClientRecord,
  key: string,
  launch: Launch,
  { literals, names }: Environment = noEnvironment,
): { entry: JsonRecord; omitted: readonly string[] } {
  const entry: JsonRecord = { ...shape.first };
  if (shape.name !== undefined) entry[shape.name] = key;
  const command = shape.command ?? "command";
  if (shape.commandIsList) entry[command] = [launch.command, ...launch.args];
  else Object.assign(entry, { [command]: launch.command, args: [...launch.args] });
  const values: JsonRecord = Object.fromEntries(literals);
  if (reference !== undefined) {
    for (const name of names) values[name] = reference.replace("NAME", () => name);
  }
  if (Object.keys(values).length > 0) entry[shape.environment ?? "env"] = values;
  if (shape.passedNames !== undefined && names.length > 0) entry[shape.passedNames] = [...names];
  Object.assign(entry, shape.last);
  const hasPlace = reference !== undefined || shape.passedNames !== undefined;
  return { entry, omitted: hasPlace ? [] : names };
}

/**
 * An entry of Trailblaze with another launch. Keys that the client or the user added stay, such as `disabled`, `timeout` and
 * approvals.
 */
export function mergeEntry(
  { shape, reference }: ClientRecord,
  entry: JsonRecord,
  wanted: JsonRecord,
): JsonRecord {
  const { command = "command", environment = "env", passedNames } = shape;
  if ((entry[command] === undefined) !== (wanted[command] === undefined)) return wanted;
  const merged: JsonRecord = { ...entry };
  for (const key of [command, "args", environment, passedNames]) {
    if (key === undefined) continue;
    const value = wanted[key];
    if (value !== undefined) merged[key] = value;
    // A client that shares the file may have references, which this one cannot write.
    else if (key !== environment || reference !== undefined || passedNames !== undefined) delete merged[key];
  }
  return merged;
}

/**
 * The server that an entry starts, `null` for the session, if its command line is one of Trailblaze's, in any client's form:
 * several clients may read one file.
 */
export function matchEntry(value: unknown): string | null | undefined {
  if (!isRecord(value)) return undefined;
  return findStartedServer([value.command ?? value.cmd, value.args ?? []].flat());
}
