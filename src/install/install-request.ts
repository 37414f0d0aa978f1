import { describeType, isRecord } from "../data/parse-json.ts";
import { failure, printable, quote } from "../problems/index.ts";
import { formatQualifiedName, parseQualifiedName } from "../qualified-names/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import type { Environment } from "./entry/build-entry.ts";
import type { ResolvedServer } from "./resolve-server.ts";

/** What `planInstall` and `planUninstall` can be asked. */
export interface InstallOptions {
  cwd?: string | undefined;
  scope?: Scope | undefined;
  /** Path of the file to edit, in place of the client's own. */
  file?: string | undefined;
  /** The entry's name. */
  name?: string | undefined;
  /** `NAME=VALUE`, or `NAME` for a value that stays out of the file; or the same as an object, with `null` for no value. */
  env?: readonly string[] | Readonly<Record<string, string | null | undefined>> | undefined;
  /** Replace an entry that is not ours, or was edited. */
  force?: boolean | undefined;
  /** Address of a server that runs already: the entry points there, and starts nothing. */
  url?: string | undefined;
}

/** Whether a text is an address at which a server can be reached. */
export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkVariable(name: string): string {
  if (variableName.test(name) && name !== "__proto__") return name;
  throw failure("InvalidArguments", {
    reason: `${quote(name)} is not a valid environment variable name`,
    hint: "Write --env NAME=VALUE, or --env NAME for a value that stays out of the file.",
  });
}

const wrong = (reason: string) => failure("InvalidArguments", { reason });

/** Checks the types of options, which callers in JavaScript may get wrong. Throws `InvalidArguments`. */
export function checkOptions(options: InstallOptions): void {
  if (!isRecord(options)) throw wrong(`The options must be an object, but are ${describeType(options)}`);
  for (const key of ["cwd", "file", "name", "url"] as const) {
    const value: unknown = options[key];
    if (value === undefined) continue;
    if (typeof value !== "string") throw wrong(`"${key}" must be a string, but is ${describeType(value)}`);
    if (value.includes("\0")) throw wrong(`"${key}" must not have a NUL character`);
  }
  const { env } = options;
  if (env !== undefined && (typeof env !== "object" || env === null))
    throw wrong(`"env" must be a list or an object, but is ${describeType(env)}`);
}

/** The variables of an entry: those asked for, and those that the server takes from the environment. */
export function readEnvironment(env: InstallOptions["env"], passedOn: readonly string[]): Environment {
  const asked: (readonly [string, string | null | undefined])[] = Array.isArray(env)
    ? env.map((text: string) => {
        if (typeof text !== "string") throw wrong(`"env" must list strings, but has ${describeType(text)}`);
        const equals = text.indexOf("=");
        return equals < 0 ? [text, null] : [text.slice(0, equals), text.slice(equals + 1)];
      })
    : Object.entries(env ?? {});
  const literals = new Map<string, string>();
  const names = new Set<string>();
  for (const [name, value] of asked) {
    checkVariable(name);
    names.delete(name);
    literals.delete(name);
    if (value === null || value === undefined) names.add(name);
    else if (typeof value !== "string" || value.includes("\0"))
      throw wrong(`The value of ${name} must be a string without NUL characters`);
    else literals.set(name, value);
  }
  for (const name of passedOn) if (variableName.test(name) && !literals.has(name)) names.add(name);
  return { literals, names: [...names] };
}

const maximumKeyLength = 128;

function explainInvalidKey(key: string, { keyPattern }: ClientRecord): string | undefined {
  if (key.trim() === "" || key.trim() !== key) return "it is empty, or has blanks at an end";
  if (key.length > maximumKeyLength) return `it is longer than ${maximumKeyLength} characters`;
  if (printable(key) !== key) return "it has characters that do not print";
  if (key === "__proto__") return "it is reserved";
  if (keyPattern !== undefined && !new RegExp(keyPattern, "u").test(key)) return `it is not ${keyPattern}`;
  return undefined;
}

/** The entry's name: the one asked for, else the author's, else the server's own. Throws `InvalidArguments`. */
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
      hint: "Choose another --name.",
    });
  }
  const wanted = mcpServerName ?? name;
  if (explainInvalidKey(wanted, client) === undefined) return wanted;
  const fitting = wanted.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  return explainInvalidKey(fitting, client) === undefined ? fitting : name;
}

/** A reference to a server in its normal form, with its range and without. Throws `InvalidQualifiedName`. */
export function normalizeServer(reference: string): { server: string; started: string; name: string } {
  if (typeof reference === "string" && !reference.includes("/"))
    return { server: reference, started: reference, name: reference };
  const parsed = parseQualifiedName(reference);
  const server = formatQualifiedName({ ...parsed, range: undefined });
  return { server, started: formatQualifiedName(parsed), name: parsed.item };
}
