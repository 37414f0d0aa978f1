import { isAbsolute, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { hasCredentials } from "../config/config-rules.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { expandVariables } from "../config/variables.ts";
import { isRecord } from "../data/parse-json.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import type { SubprocessServer } from "../extension-schema/definition-schema.ts";
import { attempt } from "../files/file-errors.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { explainFileError, readBytes } from "../files/write-files.ts";
import { findPackageProgram, type PackageProgram } from "../inspection/server-package.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { failure, type Path, type ProblemPlace, quote, TrailblazeError } from "../problems/index.ts";
import { decidesWhatRuns, type OwnEnvironment } from "./server-environment.ts";
import type { ToolSource } from "./tool-code.ts";

interface PlannedServer {
  /** The name in the user's config, or the qualified name. */
  label: string;
  /** Unique: a server of the user's config may have the same label as one of a pack. */
  key: string;
  /** Qualified name of the pack; `undefined` for a server of the user's config. */
  pack: string | undefined;
  source: ToolSource;
  /** Of problems: in the pack, or in the config. */
  place: ProblemPlace;
  fault?: TrailblazeError | undefined;
  /** Of the package whose program it is: an updated package is another launch. */
  version?: unknown;
  /** Whether it gets the session's context: `_meta.trailblaze`, and a program the address and token for callbacks. */
  context: boolean;
  /** Whether a program that gets the context also has `_trailblazeContext` in the arguments of calls. */
  legacyContext: boolean;
  /** What files say that it uses, for no log. */
  secrets: readonly string[];
  /** What the config or the pack's definition says of it. Only the user chooses its tools and limits its results. */
  entry: Partial<
    Pick<UserServer, "protocol" | "start" | "idleMs" | "timeouts" | "results" | "choices" | "package">
  >;
}

/** A server that a session starts. The environment is created at the start, because it may contain a token. */
export interface ProgramPlan extends PlannedServer {
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  /** The command for people. Variables stay as written, because their values may be secret. */
  shown: { command: string; args: readonly string[] };
  environment: OwnEnvironment;
}

export interface RemotePlan extends PlannedServer {
  url: URL;
  /** The URL for people: without parameters, and with variables as written. */
  shown: string;
  headers: Readonly<Record<string, string>>;
  /** How it is signed in to; `undefined` if its headers have credentials. */
  oauth: OAuthSettings | undefined;
}

/** `oauth` of a server, with the values of variables. */
export type OAuthSettings = NonNullable<UserServer["oauth"]>;

export type ServerPlan = ProgramPlan | RemotePlan;

/** True for a command that a shell would treat as a path instead of searching `PATH`. */
const isPath = (text: string) => /^\.{0,2}[/\\]/.test(text) || isAbsolute(text);

const interpreters =
  /(?:^|[/\\])(?:node|python[\d.]*|bun|deno|tsx|ts-node|ruby|php|perl|sh|bash)(?:\.exe)?$/i;

/** What is likely a script, as an argument of an interpreter. */
const scriptName = /\.(?:[cm]?[jt]s|[jt]sx|pyz?|rb|php|pl|sh)$/i;

/** Options of interpreters with code, as in `bash -e server.sh` without it, and with modules that they load first. */
const codeOption = /^-[a-z]*[ce]$/;
const preloading = /^(?:-r|--require|--import|--(?:experimental-)?loader)$/;

/** The script that a command runs: the command itself if it is a path, or its interpreter's argument. */
function findScript(command: string, args: readonly string[], cwd: string): string | undefined {
  const isNode = /^(?:.*[/\\])?node(?:\.exe)?$/i.test(command);
  const isScript = (text: string, at: number) => {
    const option = args[at - 1] ?? "";
    if (/^-|:\/\//.test(text) || preloading.test(option) || (/\s/.test(text) && codeOption.test(option)))
      return false;
    return scriptName.test(text) || (isNode && at === 0);
  };
  const script = isPath(command) && !interpreters.test(command) ? command : args.find(isScript);
  return script && resolve(cwd, script);
}

/**
 * What to run for a server, the file that it runs if it names one, and what was `found` of its package. `from`: the folder of a pack,
 * or of the project, from which the package is resolved.
 */
function findProgram(
  server: Pick<SubprocessServer, "command" | "script" | "package" | "bin" | "args">,
  { from, cwd }: { from: string; cwd: string },
) {
  const { command = "", script, package: name, bin, args = [] } = server;
  const found = name === undefined ? undefined : findPackageProgram(port, from, { package: name, bin });
  const runNode = (file: string, options: readonly string[] = []) => ({
    command: process.execPath,
    args: [...options, file, ...args],
    file,
    found,
  });
  if (script !== undefined) return runNode(join(from, script));
  if (found?.state === "found") {
    const { file, nodeOptions } = found;
    return nodeOptions === undefined ? { command: file, args, file, found } : runNode(file, nodeOptions);
  }
  // A pack's package was there when it was checked: its process fails to start.
  if (name !== undefined) return { command: join(from, "node_modules", name), args, file: undefined, found };
  const program = isPath(command) ? resolve(cwd, command) : command;
  return { command: program, args, file: findScript(command, args, cwd), found };
}

const mostFileBytes = 1 << 20;
/** Shorter values of variables, such as `true` and `3000`, occur in too many other texts. */
const shortestSecret = 8;

/** The text of a file for a server. `written`: its path for people. Throws `TrailblazeError`. */
function readText(label: string, directory: string, file: string, path: Path, written = file): string {
  let cause = "it does not exist";
  try {
    const bytes = readBytes(resolve(directory, file), mostFileBytes);
    if (bytes !== undefined) return bytes.toString().replace(/^\uFEFF/, "");
  } catch (error) {
    cause = explainFileError(error) ?? "it cannot be read";
  }
  const reason = `its file ${quote(written, 400)} cannot be used: ${cause}`;
  throw failure("ServerStartFailed", { label, reason }, { path });
}

/** What `envFile` of the config and of a server say; the server's wins. With a lock, none decides what runs. Throws. */
function readFileVariables(
  { directory, envFile }: Pick<SessionConfig, "directory" | "envFile">,
  isLocked: boolean,
  server?: Pick<UserServer, "name" | "envFile" | "path">,
) {
  const { name = "", envFile: ofServer, path = [] } = server ?? {};
  const read = (file: string | undefined, at: Path) =>
    file === undefined ? [] : Object.entries(parseEnv(readText(name, directory, file, at)));
  const entries = [...read(envFile, ["envFile"]), ...read(ofServer, [...path, "envFile"])];
  const ofFile: Readonly<Record<string, string>> = Object.fromEntries(
    entries.flatMap(([key, value = ""]) => (isLocked && decidesWhatRuns(key) ? [] : [[key, value]])),
  );
  const secrets = entries.flatMap(([, value = ""]) => (value.length < shortestSecret ? [] : [value]));
  return { ofFile, secrets };
}

const noVariables: ReturnType<typeof readFileVariables> = { ofFile: {}, secrets: [] };

/** A value of a server with the values of the variables that its strings refer to. Throws `ServerStartFailed`. */
function expandAll<Value>(value: Value, environment: NodeJS.ProcessEnv, { name: label, path }: UserServer) {
  const expand = (inner: unknown, at: Path): unknown => {
    if (typeof inner === "string") return expandVariables(inner, environment, { label, path: at });
    if (Array.isArray(inner)) return inner.map((entry, index) => expand(entry, [...at, index]));
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, entry]) => [key, expand(entry, [...at, key])]),
    );
  };
  return expand(value, path) as Value;
}

export const describeUserSource = (server: UserServer, { file }: SessionConfig): ToolSource => ({
  type: "config",
  server: server.name,
  ...(file && { file }),
});

const describeUserServer = (server: UserServer, config: SessionConfig) => ({
  label: server.name,
  key: `config ${server.name}`,
  pack: undefined,
  source: describeUserSource(server, config),
  place: { path: server.path },
  entry: server,
});

async function explainMissing(
  { name: label, package: name = "", path }: UserServer,
  { project: directory }: SessionConfig,
  found: PackageProgram | undefined,
): Promise<TrailblazeError | undefined> {
  if (found === undefined || found.state === "found") return undefined;
  if (found.state === "unusable") {
    const { key, reason, hint } = found;
    const args = { reason: `the server ${quote(label)} cannot be run: ${reason}`, hint };
    return failure("InvalidConfig", args, { path: [...path, key] });
  }
  const project = findProject(port, directory);
  const isDeclared = declaredDependencies(project.manifest).has(name);
  const manager = managerIn(port, await findWorkspace(port, project));
  const args = { name, label, isDeclared, manager };
  return failure("ServerPackageNotInstalled", args, { path: [...path, "package"] });
}

/** A user's server with the values of variables and files. With a `fault`, it cannot have them, and its strings are as written. */
function fillIn(server: UserServer, config: SessionConfig, isLocked: boolean) {
  const { name: label, path, command, args, cwd, url, headers, env, oauth = {} } = server;
  const written = { command, args, cwd, url, headers, env, oauth };
  // A program inherits what files say; a remote server needs them for references alone.
  const needsFiles = url === undefined || JSON.stringify([url, headers, oauth]).includes("${");
  try {
    const { ofFile, ...files } = needsFiles ? readFileVariables(config, isLocked, server) : noVariables;
    const filled = expandAll(written, { ...process.env, ...ofFile }, server);
    const { clientSecret = "" } = filled.oauth;
    const secrets = [...files.secrets, clientSecret];
    const values = Object.entries(filled.env).map(([name, value]) => {
      if (typeof value === "string") return [name, value] as const;
      const at = [...path, "env", name, "file"];
      if (isLocked && decidesWhatRuns(name)) {
        const reason = `its variable ${name} decides what runs, so a file cannot have it`;
        throw failure("ServerStartFailed", { label, reason }, { path: at });
      }
      // The path may have secret parts.
      const { file: shown } = env[name] as typeof value;
      const text = readText(label, config.directory, value.file, at, shown).replace(/\r?\n$/, "");
      secrets.push(text);
      return [name, text] as const;
    });
    return { ...filled, env: Object.fromEntries(values), ofFile, secrets, fault: undefined };
  } catch (fault) {
    if (!(fault instanceof TrailblazeError)) throw fault;
    return { ...written, env: {}, oauth: {}, ...noVariables, fault };
  }
}

/** A program of the user's config (seed 004). Its package is found as Node finds it from the project. */
export async function planUserServer(
  server: UserServer,
  config: SessionConfig,
  isLocked = false,
): Promise<ProgramPlan> {
  const { project: from, directory, file: configFile = join(directory, "package.json") } = config;
  const { env, ofFile, secrets, fault, ...filled } = fillIn(server, config, isLocked);
  const { package: name, bin } = server;
  const places = { from, cwd: resolve(directory, filled.cwd) };
  const program = findProgram({ ...filled, package: name, bin }, places);
  const { command, args, file: toolsetFile = configFile, found } = program;
  const shown = findProgram(server, places);
  const context = server.context ?? (server.isListed && name === undefined);
  return {
    ...describeUserServer(server, config),
    version: found?.version,
    command,
    args,
    cwd: places.cwd,
    shown: { command: shown.command, args: shown.args },
    fault: fault ?? (await explainMissing(server, config, found)),
    context,
    legacyContext: context && server.legacyContext !== false,
    secrets,
    environment: { toolsetFile, env, ofFile },
  };
}

/** Why a remote server cannot be reached, if variables make its URL or a header invalid. Their values may be secret. */
function explainAddress(url: string, headers: Readonly<Record<string, string>>): string | undefined {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : {};
  if (protocol !== "http:" && protocol !== "https:") return "its URL is not an http or https URL";
  if (username !== "" || password !== "") return "its URL contains credentials";
  const invalid = Object.entries(headers).find(([, value]) => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value));
  return invalid && `its header ${quote(invalid[0])} has characters that headers cannot contain`;
}

export function planRemoteServer(server: UserServer, config: SessionConfig, isLocked = false): RemotePlan {
  const { url = "", oauth, secrets, ...filled } = fillIn(server, config, isLocked);
  const headers = Object.fromEntries(
    Object.entries(filled.headers).map(([key, value]) => [key, value.trim()]),
  );
  const reason = filled.fault ? undefined : explainAddress(url.trim(), headers);
  const { name: label, path } = server;
  const hint = "Check the values of its variables.";
  const fault =
    reason === undefined ? filled.fault : failure("ServerStartFailed", { label, reason, hint }, { path });
  return {
    ...describeUserServer(server, config),
    url: new URL(fault ? "http://invalid" : url.trim()),
    shown: (server.url ?? "").replace(/[?#].*$/s, "?…"),
    headers,
    oauth: hasCredentials(headers) ? undefined : oauth,
    secrets,
    fault,
    context: server.context ?? false,
    // A remote server has no callback, so its arguments stay as they are.
    legacyContext: false,
  };
}

export function describeSource(
  { pack }: FoundPack,
  { declaration, file = null }: Pick<InspectedItem, "declaration"> & { file?: string | null },
): ToolSource {
  return {
    type: "pack",
    pack: pack.name,
    ...(pack.version === null ? {} : { version: pack.version }),
    item: declaration.name,
    ...(declaration.kind === "server" ? { server: declaration.name } : {}),
    ...(file === null ? {} : { file }),
  };
}

/** A pack's subprocess server with a valid definition. */
export function planPackServer(
  found: FoundPack,
  item: InspectedItem,
  config: Pick<SessionConfig, "directory" | "envFile">,
  isLocked = false,
): ProgramPlan {
  // The user's servers tell of a file that is missing.
  const { ofFile, secrets } = attempt(() => readFileVariables(config, isLocked)) ?? noVariables;
  const { name: pack, location, qualifiedName } = found.pack;
  const { qualifiedName: label, declaration } = item;
  const definition = item.definition as SubprocessServer;
  const { env = {}, envPassthrough = [], protocol, start, idleMs, timeouts } = definition;
  const context = definition.context ?? definition.package === undefined;
  const cwd = join(location, definition.cwd ?? ".");
  const program = findProgram(definition, { from: location, cwd });
  const { command, args, file: toolsetFile = join(location, item.file ?? "package.json") } = program;
  return {
    label,
    key: `pack ${label}`,
    pack: qualifiedName,
    source: describeSource(found, item),
    place: { pack, kind: "server", item: declaration.name },
    // Not the definition itself, in which unknown keys have no effect.
    entry: { protocol, start, idleMs, timeouts },
    version: program.found?.version ?? found.pack.version,
    command,
    args,
    cwd,
    shown: { command, args },
    context,
    legacyContext: context && definition.legacyContext !== false,
    secrets,
    environment: { toolsetFile, env, envPassthrough, ofFile },
  };
}
