import { posix, resolve } from "node:path";
import { isRecord, parseJson } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { ancestorsOf } from "./project.ts";

/** A package of Yarn Plug'n'Play's state. */
export interface PnpPackage {
  name: string;
  /** Absolute; in an archive `/abs/x.zip/node_modules/name/`, with `/` at the end. */
  location: string;
}

/** What is installed, as Yarn Plug'n'Play's state file says. */
export interface PnpState {
  packages: readonly PnpPackage[];
  /** Location of the package that a project's code imports by a name; `undefined` if it declares none. */
  resolve(name: string): string | undefined;
}

const marker = "RAW_RUNTIME_STATE";

/** The string literal that holds the state, without running the code. `undefined` if there is none. */
function findState(code: string): string | undefined {
  const start = /RAW_RUNTIME_STATE\s*=\s*'/g;
  start.lastIndex = Math.max(0, code.indexOf(marker));
  const match = start.exec(code);
  if (match === null) return undefined;
  const from = match.index + match[0].length;
  let end = code.indexOf("'", from);
  // An odd number of backslashes escapes the quote.
  while (end > 0 && countBackslashes(code, end) % 2 === 1) end = code.indexOf("'", end + 1);
  if (end < 0) return undefined;
  // Yarn writes only these escapes; the JSON in the literal has its own.
  return code
    .slice(from, end)
    .replace(/\\(\r\n|[\s\S])/g, (_, escaped: string) => (escaped.endsWith("\n") ? "" : escaped));
}

function countBackslashes(text: string, before: number): number {
  let count = 0;
  while (text[before - 1 - count] === "\\") count++;
  return count;
}

/** The real place of a package that Yarn lists once for each set of peers. */
function resolveVirtual(location: string): string {
  const [, base, depth, rest] =
    /^(.*?)(?:__virtual__|\$\$virtual)\/[^/]+\/(\d{1,4})\/(.*)$/.exec(location) ?? [];
  if (base === undefined || rest === undefined) return location;
  return posix.join(base, "../".repeat(Number(depth)), rest);
}

const entriesOf = (value: unknown): [unknown, unknown][] =>
  Array.isArray(value) ? value.filter((entry) => Array.isArray(entry) && entry.length === 2) : [];

/**
 * Reads Yarn Plug'n'Play's state in a folder as data; never runs it. `undefined` if it cannot be read, or if the project is
 * not part of it.
 */
export function readPnpState(port: DiscoveryPort, directory: string, project: string): PnpState | undefined {
  const decode = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();
  const code = decode(port.readProjectFile(directory, ".pnp.cjs"));
  const text = (code && findState(code)) ?? decode(port.readProjectFile(directory, ".pnp.data.json"));
  if (text === undefined) return undefined;
  let state: unknown;
  try {
    state = parseJson(Buffer.from(text)).value;
  } catch {
    return undefined;
  }
  const found = new Map<string, PnpPackage>();
  const locations = new Map<string, string>();
  let dependencies: [unknown, unknown][] | undefined;
  for (const [name, references] of entriesOf(isRecord(state) ? state.packageRegistryData : undefined)) {
    for (const [reference, info] of entriesOf(references)) {
      if (!isRecord(info) || typeof info.packageLocation !== "string") continue;
      const location = locate(port, directory, resolveVirtual(info.packageLocation));
      if (location === undefined) continue;
      if (location === project) dependencies = entriesOf(info.packageDependencies);
      // The entry without a name is the root again.
      if (typeof name !== "string" || typeof reference !== "string") continue;
      locations.set(`${name}@${reference}`, location);
      found.set(`${name} ${location}`, { name, location });
    }
  }
  if (dependencies === undefined) return undefined;
  const declared = new Map(
    dependencies.map(([name, target]) => {
      // An alias names both; a missing peer has null.
      const [original, reference] = Array.isArray(target) ? target : [name, target];
      return [String(name), locations.get(`${original}@${reference}`)];
    }),
  );
  return { packages: [...found.values()], resolve: (name) => declared.get(name) };
}

/** The nearest state of Yarn Plug'n'Play for the package in a folder; `undefined` if there is none, or it is not part of it. */
export function findPnpState(port: DiscoveryPort, location: string): PnpState | undefined {
  for (const directory of ancestorsOf(location)) {
    if (port.hasProjectFile(directory, ".pnp.cjs") || port.hasProjectFile(directory, ".pnp.data.json"))
      return readPnpState(port, directory, location);
  }
  return undefined;
}

/** Yarn names the folder in an archive after the package. */
const archivedPackage = /^(.*\.zip)\/(node_modules\/(?:@[^/]+\/)?(?!\.{1,2}\/)[^/]+\/)$/;

/** The absolute place of a package; `undefined` for a folder that does not exist. */
function locate(port: DiscoveryPort, directory: string, location: string): string | undefined {
  const [, archive, inner] = archivedPackage.exec(location) ?? [];
  if (archive === undefined || inner === undefined) return port.realPath(resolve(directory, location));
  return `${resolve(directory, archive)}/${inner}`;
}
