import { failure, printable, quote } from "../problems/index.ts";
import { formatQualifiedName, parseQualifiedName } from "../qualified-names/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import type { Environment } from "./entry.ts";

/** Options of `planInstall` and `planUninstall`, which takes the same and has no use for `env` and `force`. */
export interface InstallOptions {
  cwd?: string | undefined;
  scope?: Scope | undefined;
  /** Path of the file to edit, instead of the client's own. */
  file?: string | undefined;
  /** The key of the entry. */
  name?: string | undefined;
  /** `NAME=VALUE`, or `NAME` to keep the value out of the file; or an object, with `null` for no value. */
  env?: readonly string[] | Readonly<Record<string, string | null | undefined>> | undefined;
  /** Replaces an entry that Trailblaze did not write, or that starts a server in another project. */
  force?: boolean | undefined;
}

/** A resolved reference to a server. */
export interface ResolvedServer {
  /** What to start if the reference names a pack: its only server, or the pack itself. */
  ofPack?: string | undefined;
  /** The short name of the item, or the key in the config. */
  name: string;
  /** The name that its author chose for clients. */
  mcpServerName?: string | undefined;
  /** Names of variables that the server takes from the environment. */
  envPassthrough: readonly string[];
  transport: "stdio" | "http";
  /** Absolute path of the project's folder. */
  project: string;
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Splits `NAME=VALUE` or `NAME`. Throws `InvalidArguments` for an invalid name. */
export function readVariable(text: string): [name: string, value: string | undefined] {
  const equals = text.indexOf("=");
  const name = equals < 0 ? text : text.slice(0, equals);
  if (variableName.test(name) && name !== "__proto__")
    return [name, equals < 0 ? undefined : text.slice(equals + 1)];
  const reason = `${quote(name)} is not a valid environment variable name`;
  throw failure("InvalidArguments", {
    reason,
    hint: "Pass --env NAME=VALUE, or --env NAME for a reference.",
  });
}

/** The variables of an entry: the requested ones, and those that the server takes from the environment. */
export function readEnvironment(env: InstallOptions["env"] = [], passedOn: readonly string[]): Environment {
  const written = (one: readonly [string, string | null | undefined]) =>
    one[1] === null || one[1] === undefined ? one[0] : one.join("=");
  const requested: string[] = Array.isArray(env) ? env : Object.entries(env).map(written);
  const literals = new Map<string, string>();
  const names = new Set<string>();
  for (const [name, value] of requested.map(readVariable)) {
    if (value === undefined) names.add(name);
    else literals.set(name, value);
  }
  for (const name of passedOn) if (variableName.test(name) && !literals.has(name)) names.add(name);
  return { literals, names: [...names] };
}

const maximumKeyLength = 128;

function explainInvalidKey(key: string, { keyPattern }: ClientRecord): string | undefined {
  if (key.trim() === "" || key.trim() !== key) return "it is empty, or starts or ends with a space";
  if (key.length > maximumKeyLength) return `it is longer than ${maximumKeyLength} characters`;
  if (printable(key) !== key) return "it has unprintable characters";
  if (key === "__proto__") return "it is reserved";
  if (keyPattern !== undefined && !new RegExp(keyPattern, "u").test(key))
    return `it does not match ${keyPattern}`;
  return undefined;
}

/** The key of the entry: the requested one, otherwise the author's, otherwise the server's. Throws `InvalidArguments`. */
export function chooseKey(
  client: ClientRecord,
  asked: string | undefined,
  { name, mcpServerName }: Pick<ResolvedServer, "name" | "mcpServerName">,
): string {
  if (asked !== undefined) {
    const reason = explainInvalidKey(asked, client);
    if (reason === undefined) return asked;
    throw failure("InvalidArguments", {
      reason: `${client.name} does not accept the entry name ${quote(asked)}: ${reason}`,
      hint: "Choose another name with --name.",
    });
  }
  const wanted = mcpServerName ?? name;
  if (explainInvalidKey(wanted, client) === undefined) return wanted;
  const fitting = wanted.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  return explainInvalidKey(fitting, client) === undefined ? fitting : name;
}

/** The normal form of a reference, with and without its range. `name` is the default key. */
export interface NormalServer {
  /** `null` for the project's session. */
  server: string | null;
  started: string | null;
  name: string;
}

/** Normalizes a reference to a server; `null` stands for the session. Throws `InvalidQualifiedName`. */
export function normalizeServer(reference: string | null): NormalServer {
  if (reference === null) return { server: null, started: null, name: "trailblaze" };
  // The npm name of a pack.
  if (/^@[^/]+\/[^/]+$/.test(reference)) return normalizeServer(reference.slice(1));
  if (typeof reference === "string" && !reference.includes("/"))
    return { server: reference, started: reference, name: reference };
  const parsed = parseQualifiedName(reference);
  const server = formatQualifiedName({ ...parsed, range: undefined });
  return { server, started: formatQualifiedName(parsed), name: parsed.item };
}
