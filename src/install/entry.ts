import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../data/parse-json.ts";
import { attempt } from "../files/file-errors.ts";
import { failure, quote } from "../problems/index.ts";
import type { ClientRecord, Scope } from "./clients/index.ts";
import type { JsonRecord } from "./editing/config-format.ts";
import type { InstallOptions } from "./plan-install.ts";

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
 * managers contain the version. Throws `InvalidArguments` if only npx's cache has it.
 */
function findOwnScript(project: string): string {
  const own = findOwnPackage();
  const linked = join(project, "node_modules/trailblaze");
  const isLinked = attempt(() => realpathSync(linked) === realpathSync(own));
  const script = join(isLinked ? linked : own, "dist/cli/cli.cjs");
  if (!/[\\/]_npx[\\/]/.test(script)) return script;
  const reason = "An entry cannot start this command from npx's cache, which is temporary";
  const hint = "Install trailblaze in the project first, or pass --scope project.";
  throw failure("InvalidArguments", { reason, hint });
}

/**
 * Loads the command from the package `trailblaze` that the current folder resolves, like `import`. Does not use npx, which runs
 * node_modules/.bin/trailblaze, a file that any installed package can claim.
 */
const loadOwnCommand = ["-e", "require('trailblaze/cli')", "trailblaze"] as const;

/**
 * The words of a command that is the same on every machine for a project's file, and independent of `PATH` for a user's.
 * `server`: the reference for `start`, `null` for the project's session. `isHttp`: it is served over HTTP by default.
 */
export function createCommand(
  scope: Scope,
  project: string,
  { server, isHttp }: { server: string | null; isHttp: boolean },
): string[] {
  const start = ["start", ...(server === null ? [] : [server])];
  const transport = isHttp ? ["--stdio"] : [];
  if (scope === "project") return ["node", ...loadOwnCommand, ...start, ...transport];
  return [process.execPath, findOwnScript(project), ...start, "--cwd", project, ...transport];
}

/** Command lines of Trailblaze in a project's file; users and earlier versions wrote the second one. */
const ofProject = [
  ["node", ...loadOwnCommand],
  ["npx", "--no-install", "trailblaze"],
];

/**
 * What an entry starts if its command line is one of Trailblaze's, in any client's form: several clients may read one file. The
 * server is without a version range, `null` for the session; the folder is the one in which it starts, if the line names it.
 */
export function matchEntry(value: unknown) {
  if (!isRecord(value)) return undefined;
  const words: unknown[] = [value.command ?? value.cmd, value.args ?? []].flat();
  const prefix = ofProject.find((line) => line.every((word, index) => words[index] === word));
  const script = words[1];
  const place = words.indexOf("--cwd");
  const folder = place < 0 ? undefined : words[place + 1];
  // A user's entry is only recognized with the folder, because other programs have a `cli.js` too.
  const isOfUser =
    typeof script === "string" && /(?:^|[\\/])(?:cli\.c?js|trailblaze)$/.test(script) && place >= 0;
  const start = prefix?.length ?? 2;
  if (!(prefix || isOfUser) || words[start] !== "start") return undefined;
  const [server = "-"] = words.slice(start + 1);
  if (typeof server !== "string") return undefined;
  return {
    server: server.startsWith("-") ? null : server.replace(/@[^/]*(?=\/[^/]*$)/, ""),
    folder: typeof folder === "string" ? folder : undefined,
  };
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Splits `NAME=VALUE` or `NAME`. Throws `InvalidArguments` for an invalid name. */
export function readVariable(text: string): [name: string, value: string | undefined] {
  const [, name = text, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (variableName.test(name) && name !== "__proto__") return [name, value];
  const reason = `${quote(name)} is not a valid environment variable name`;
  const hint = "Pass --env NAME=VALUE, or --env NAME for a reference.";
  throw failure("InvalidArguments", { reason, hint });
}

/**
 * The variables of an entry: the requested ones, and those that the server takes from the environment. Values of the latter, and
 * of those without one, are `undefined`: they are not written.
 */
export function readEnvironment(
  env: InstallOptions["env"] = [],
  passedOn: readonly string[],
): Map<string, string | undefined> {
  const assign = ([name, value]: [string, string | null | undefined]) =>
    value == null ? name : `${name}=${value}`;
  const requested: string[] = Array.isArray(env) ? env : Object.entries(env).map(assign);
  const variables = new Map(requested.map(readVariable));
  for (const name of passedOn)
    if (variableName.test(name) && !variables.has(name)) variables.set(name, undefined);
  return variables;
}

/** Builds an entry in the client's form. Also returns the variables that could not be included. */
export function buildEntry(
  { shape, reference }: ClientRecord,
  key: string,
  [program = "", ...args]: readonly string[],
  variables: ReadonlyMap<string, string | undefined>,
): { entry: JsonRecord; omitted: readonly string[] } {
  const entry: JsonRecord = { ...shape.first };
  if (shape.name !== undefined) entry[shape.name] = key;
  const command = shape.command ?? "command";
  if (shape.commandIsList) entry[command] = [program, ...args];
  else Object.assign(entry, { [command]: program, args });
  const pairs = [...variables].flatMap(([name, value = reference?.replace("NAME", () => name)]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  if (pairs.length > 0) entry[shape.environment ?? "env"] = Object.fromEntries(pairs);
  const names = [...variables.keys()].filter((name) => variables.get(name) === undefined);
  if (shape.passedNames !== undefined && names.length > 0) entry[shape.passedNames] = names;
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
  const { command = "command", environment = "env", passedNames = "" } = shape;
  const merged: JsonRecord = { ...entry };
  for (const key of [command, "args", environment, passedNames]) {
    const value = wanted[key];
    if (value !== undefined) merged[key] = value;
    // A client that shares the file may have references, which this one cannot write.
    else if (key !== environment || reference !== undefined || passedNames !== "") delete merged[key];
  }
  return merged;
}
