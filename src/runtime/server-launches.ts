import { isAbsolute, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { hasCredentials } from "../config/config-rules.ts";
import type { SessionConfig, ToolChoices, UserServer } from "../config/session-config.ts";
import { expandVariables, UnsetVariableError } from "../config/variables.ts";
import { isRecord } from "../data/parse-json.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { findNodeScript, isNode } from "../extension-schema/node-script.ts";
import type { ServerTimeouts } from "../extension-schema/shape-faults.ts";
import { attempt } from "../files/file-errors.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { explainFileError, readBytes } from "../files/write-files.ts";
import { findPackageProgram, type PackageProgram } from "../inspection/server-package.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { failure, type Path, type ProblemPlace, quote, TrailblazeError } from "../problems/index.ts";
import { decidesWhatRuns, type OwnEnvironment } from "./server-environment.ts";
import type { ToolSource } from "./tool-code.ts";

/** A server of a session. */
interface PlannedServer {
  /** The name in the user's config, or the qualified name. */
  label: string;
  /** Unique: a server of the user's config may have the same label as one of a pack. */
  key: string;
  /** Qualified name of the pack; `undefined` for a server of the user's config. */
  pack: string | undefined;
  source: ToolSource;
  /** Its path in the config; `undefined` for a server of a pack. */
  configPath?: Path;
  /** What a client begins with. */
  protocol: UserServer["protocol"];
  /** Why it cannot be started. */
  fault?: TrailblazeError;
  /** A hash of the installed program: an updated package is another launch. `undefined` for other programs. */
  content?: string;
  /** Whether it gets the session's context: `_meta.trailblaze`, and a program the address and token for callbacks. */
  context: boolean;
  /** Whether a program that gets the context also has `_trailblazeContext` in the arguments of calls. */
  legacyContext: boolean;
  /** What files say that it uses, for no log. */
  secrets: readonly string[];
  /** How large its results may be, before what the config says. */
  results?: UserServer["results"];
  /** Its own limits, before those of the config. */
  timeouts?: ServerTimeouts | undefined;
  /** What the user's config chooses for its tools; `undefined` for a server of a pack. */
  choices?: ToolChoices;
}

/** The place of a server's problems. */
export function placeOfServer({
  source: { pack, item },
  configPath,
}: Pick<PlannedServer, "source" | "configPath">): ProblemPlace {
  if (pack !== undefined && item !== undefined) return { pack, kind: "server", item };
  return configPath === undefined ? {} : { path: configPath };
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

/** A server that a session reaches by HTTP. */
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

const interpreters = /(?:^|[/\\])(?:python[\d.]*|bun|deno|tsx|ts-node|ruby|php|perl|sh|bash)(?:\.exe)?$/i;

/** What is likely a script, as an argument of an interpreter. */
const scriptName = /\.(?:[cm]?[jt]s|[jt]sx|pyz?|rb|php|pl|sh)$/i;

/** What to run. */
interface Program {
  command: string;
  args: readonly string[];
}

/** Code of an option such as `-c`, which may end like the name of a script. */
const isCode = (text: string, option = "") =>
  /\s/.test(text) && (!isPath(text) || /^-[a-z]*[ce]$/i.test(option));

/** The script that a command runs: the command itself if it is a path, or its interpreter's argument. */
function findScript({ command, args }: Program, cwd: string): string | undefined {
  if (isPath(command) && !isNode(command) && !interpreters.test(command)) return resolve(cwd, command);
  const script = isNode(command)
    ? args[findNodeScript(args)]
    : args.find((text, at) => scriptName.test(text) && !/^-|:\/\//.test(text) && !isCode(text, args[at - 1]));
  return script === undefined ? undefined : resolve(cwd, script);
}

const runCommand = ({ command, args }: Program, cwd: string): Program => ({
  command: isPath(command) ? resolve(cwd, command) : command,
  args,
});

/** What to run for the command of a package. */
const runFile = (
  { file, nodeOptions }: Extract<PackageProgram, { state: "found" }>,
  args: readonly string[],
): Program =>
  nodeOptions === undefined
    ? { command: file, args }
    : { command: process.execPath, args: [...nodeOptions, file, ...args] };

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

/** What the files of variables say, for a server of the user's or else for those of packs. */
interface FileVariables {
  values: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

const noVariables: FileVariables = { values: {}, secrets: [] };

/**
 * Reads `envFile` of the config, then that of a server, whose values win. Where there is a lock, none of them decides what runs.
 * Throws `TrailblazeError`.
 */
function readFileVariables(
  { directory, envFile }: Pick<Directories, "directory" | "envFile">,
  isLocked: boolean,
  server?: Pick<UserServer, "name" | "envFile" | "path">,
): FileVariables {
  const { name = "", envFile: ofServer, path = [] } = server ?? {};
  const read = (file: string | undefined, at: Path) =>
    file === undefined ? [] : Object.entries(parseEnv(readText(name, directory, file, at)));
  const entries = [...read(envFile, ["envFile"]), ...read(ofServer, [...path, "envFile"])];
  return {
    values: Object.fromEntries(
      entries.flatMap(([key, value = ""]) => (isLocked && decidesWhatRuns(key) ? [] : [[key, value]])),
    ),
    secrets: entries.flatMap(([, value = ""]) => (value.length < shortestSecret ? [] : [value])),
  };
}

/** A value of the config with the values of the variables that its strings refer to. Throws `UnsetVariableError`. */
function expandAll<Value>(value: Value, environment: NodeJS.ProcessEnv, path: Path): Value {
  const expand = (inner: unknown, at: Path): unknown => {
    if (typeof inner === "string") return expandVariables(inner, environment, at);
    if (Array.isArray(inner)) return inner.map((entry, index) => expand(entry, [...at, index]));
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, entry]) => [key, expand(entry, [...at, key])]),
    );
  };
  return expand(value, path) as Value;
}

type Directories = Pick<SessionConfig, "file" | "directory" | "envFile">;

/** The source of the tools of a user's server. */
export const describeUserSource = (
  { name }: Pick<UserServer, "name">,
  { file }: Pick<SessionConfig, "file">,
): ToolSource => ({ type: "config", server: name, ...(file === undefined ? {} : { file }) });

/** What is common to the plans of the user's servers. */
function describeUserServer(server: UserServer, config: Directories) {
  const { name, path, protocol, timeouts, results, choices } = server;
  return {
    label: name,
    key: `config ${name}`,
    pack: undefined,
    source: describeUserSource(server, config),
    configPath: path,
    protocol,
    timeouts,
    results,
    choices,
  };
}

function explainUnset({ name: label }: UserServer, error: unknown): TrailblazeError {
  if (error instanceof TrailblazeError) return error;
  if (!(error instanceof UnsetVariableError)) throw error;
  const { variable, path, message: reason } = error;
  const hint = `Set it, or write \`\${${variable}:-default}\` in the config.`;
  return failure("ServerStartFailed", { label, reason, variable, hint }, { path });
}

/** Why the package of a user's server cannot be run. */
async function explainPackage(
  port: InspectionPort,
  { name: label, package: name = "", path }: UserServer,
  { project: directory }: SessionConfig,
  program: Exclude<PackageProgram, { state: "found" }>,
): Promise<TrailblazeError> {
  if (program.state === "unusable") {
    const { key, reason, hint } = program;
    const args = { reason: `the server ${quote(label)} cannot be run: ${reason}` };
    const place = { path: [...path, key] };
    return failure("InvalidConfig", hint === undefined ? args : { ...args, hint }, place);
  }
  const project = findProject(port, directory);
  const isDeclared = declaredDependencies(project.manifest).has(name);
  const manager = managerIn(port, await findWorkspace(port, project));
  const args = { name, label, isDeclared, manager };
  return failure("ServerPackageNotInstalled", args, { path: [...path, "package"] });
}

/** A user's server with the values of variables and files. */
interface FilledServer
  extends FileVariables,
    Pick<UserServer, "command" | "args" | "cwd" | "url" | "headers"> {
  env: Readonly<Record<string, string>>;
  oauth: OAuthSettings;
  /** Why it cannot have them. Its strings are as written then. */
  fault?: TrailblazeError;
}

function fillIn(server: UserServer, config: Directories, isLocked: boolean): FilledServer {
  const { name: label, path, command, args, cwd, url, headers, oauth } = server;
  // A program inherits what files say; a remote server needs them for references alone.
  const needsFiles = url === undefined || JSON.stringify([url, headers, oauth]).includes("${");
  try {
    const { values, secrets } = needsFiles ? readFileVariables(config, isLocked, server) : noVariables;
    const environment = { ...process.env, ...values };
    const { clientId, clientSecret } = oauth ?? {};
    const written = { command, args, cwd, url, headers, oauth: { clientId, clientSecret } };
    const filled = expandAll(written, environment, path);
    const ofFiles = filled.oauth.clientSecret === undefined ? [] : [filled.oauth.clientSecret];
    const env = Object.entries(server.env).map(([name, value]) => {
      const at = [...path, "env", name];
      if (typeof value === "string") return [name, expandVariables(value, environment, at)] as const;
      const place = [...at, "file"];
      if (isLocked && decidesWhatRuns(name)) {
        const reason = `its variable ${name} decides what runs, so a file cannot have it`;
        throw failure("ServerStartFailed", { label, reason }, { path: place });
      }
      const file = expandVariables(value.file, environment, place);
      // The path may have secret parts.
      const text = readText(label, config.directory, file, place, value.file).replace(/\r?\n$/, "");
      ofFiles.push(text);
      return [name, text] as const;
    });
    return {
      ...filled,
      oauth: { ...oauth, ...filled.oauth },
      env: Object.fromEntries(env),
      values,
      secrets: [...secrets, ...ofFiles],
    };
  } catch (error) {
    return { ...server, env: {}, oauth: {}, ...noVariables, fault: explainUnset(server, error) };
  }
}

/**
 * A server of the user's config (seed 004). References to variables get their values from this process's environment and the
 * files of variables, and its package is found as Node finds it from the project.
 */
export async function planUserServer(
  port: InspectionPort,
  server: UserServer,
  config: SessionConfig,
  isLocked = false,
): Promise<ProgramPlan> {
  const { package: name, bin } = server;
  const { command = "", args, env, values, secrets, fault, ...filled } = fillIn(server, config, isLocked);
  const context = server.context ?? (server.isListed && name === undefined);
  const cwd = resolve(config.directory, filled.cwd);
  const found =
    name === undefined ? undefined : findPackageProgram(port, config.project, { package: name, bin });
  const isFound = found?.state === "found";
  const run = (program: Program) => (isFound ? runFile(found, program.args) : runCommand(program, cwd));
  const isMissing = found !== undefined && !isFound;
  const script = isFound ? found.file : findScript({ command, args }, cwd);
  const toolsetFile = script ?? config.file ?? join(config.directory, "package.json");
  return {
    ...describeUserServer(server, config),
    ...run({ command, args }),
    cwd,
    shown: run({ command: server.command ?? "", args: server.args }),
    fault: fault ?? (isMissing ? await explainPackage(port, server, config, found) : undefined),
    context,
    legacyContext: context && server.legacyContext,
    secrets,
    environment: { context, toolsetFile, env, ofFile: values },
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

/** A remote server of the user's config. References to variables get their values as for a program. */
export function planRemoteServer(server: UserServer, config: Directories, isLocked = false): RemotePlan {
  const { url = "", oauth, secrets, ...filled } = fillIn(server, config, isLocked);
  const headers = Object.fromEntries(
    Object.entries(filled.headers).map(([key, value]) => [key, value.trim()]),
  );
  const reason = explainAddress(url.trim(), headers);
  const { name: label, path } = server;
  const hint = "Check the values of its variables.";
  const fault = filled.fault ?? (reason && failure("ServerStartFailed", { label, reason, hint }, { path }));
  return {
    ...describeUserServer(server, config),
    url: new URL(fault ? "http://invalid" : url.trim()),
    shown: (server.url ?? "").replace(/[?#].*$/s, "?…"),
    headers,
    oauth: hasCredentials(headers) ? undefined : oauth,
    secrets,
    ...(fault && { fault }),
    context: server.context ?? false,
    // A remote server has no callback, so its arguments stay as they are.
    legacyContext: false,
  };
}

/** The source of a tool that an item of a pack provides. */
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

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];

/** The program of a pack's server, and its file if it has one. */
function findPackProgram(
  port: InspectionPort,
  location: string,
  { script, package: name, bin, ...definition }: Readonly<Record<string, unknown>>,
  cwd: string,
): { program: Program; file: string | undefined } {
  const args = textsOf(definition.args);
  if (typeof script === "string") {
    const file = join(location, script);
    return { program: { command: process.execPath, args: [file, ...args] }, file };
  }
  if (typeof name === "string") {
    const named = { package: name, bin: typeof bin === "string" ? bin : undefined };
    const found = findPackageProgram(port, location, named);
    if (found.state === "found") return { program: runFile(found, args), file: found.file };
    // Checks have found it, so it has been removed since, and the process fails to start.
    return { program: { command: join(location, "node_modules", name), args }, file: undefined };
  }
  const written = { command: String(definition.command), args };
  return { program: runCommand(written, cwd), file: findScript(written, cwd) };
}

/** A pack's subprocess server with a valid definition, whose program the checks have found. */
export function planPackServer(
  port: InspectionPort,
  found: FoundPack,
  item: InspectedItem,
  config: Pick<SessionConfig, "directory" | "envFile">,
  isLocked = false,
): ProgramPlan {
  // The user's servers tell of a file that is missing.
  const { values, secrets } = attempt(() => readFileVariables(config, isLocked)) ?? noVariables;
  const { location, qualifiedName } = found.pack;
  const { qualifiedName: label } = item;
  const definition = item.definition ?? {};
  const { env = {}, protocol = "auto", legacyContext, timeouts } = definition;
  const context =
    typeof definition.context === "boolean" ? definition.context : definition.package === undefined;
  const cwd = typeof definition.cwd === "string" ? join(location, definition.cwd) : location;
  const { program, file } = findPackProgram(port, location, definition, cwd);
  return {
    label,
    key: `pack ${label}`,
    pack: qualifiedName,
    source: describeSource(found, item),
    ...program,
    cwd,
    shown: program,
    protocol: protocol as ProgramPlan["protocol"],
    timeouts: timeouts as ServerTimeouts | undefined,
    context,
    legacyContext: context && legacyContext !== false,
    secrets,
    environment: {
      context,
      toolsetFile: file ?? join(location, item.file ?? "package.json"),
      env: env as Record<string, string>,
      envPassthrough: textsOf(definition.envPassthrough),
      ofFile: values,
    },
  };
}
