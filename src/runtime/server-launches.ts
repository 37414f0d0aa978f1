import { isAbsolute, join, resolve } from "node:path";
import { hasCredentials } from "../config/config-rules.ts";
import type { SessionConfig, ToolChoices, UserServer } from "../config/session-config.ts";
import { expandVariables, UnsetVariableError } from "../config/variables.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { findNodeScript, isNode } from "../extension-schema/node-script.ts";
import type { ServerTimeouts } from "../extension-schema/timeouts-schema.ts";
import { attempt } from "../files/file-errors.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { findPackageProgram, type PackageProgram } from "../inspection/server-package.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { failure, type Path, type ProblemPlace, quote, type TrailblazeError } from "../problems/index.ts";
import { type FileVariables, readFileVariables, readSecret, SecretFileError } from "./secret-files.ts";
import {
  createPackEnvironment,
  createUserServerEnvironment,
  decidesWhatRuns,
  type EnvironmentFacts,
} from "./server-environment.ts";
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
  /** Absolute path of its script if it has one, otherwise of the file that declares it. */
  toolsetFile: string;
  createEnvironment(facts: Omit<EnvironmentFacts, "toolsetFile">): Record<string, string>;
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

/** The first argument that is a script; `undefined` for code in the arguments, and for modules. */
function findOtherScript(args: readonly string[]): string | undefined {
  const end = args.findIndex((text) => /^-[a-zA-Z]*[cem]$|^--eval$/.test(text));
  return args
    .slice(0, end < 0 ? undefined : end)
    .find((text) => scriptName.test(text) && (isPath(text) || !/^-|\s|:\/\//.test(text)));
}

/** The script that a command runs: the command itself if it is a path, or its interpreter's argument. */
function findScript({ command, args, cwd }: Program & Pick<UserServer, "cwd">): string | undefined {
  if (isPath(command) && !isNode(command) && !interpreters.test(command)) return resolve(cwd, command);
  const script = isNode(command) ? args[findNodeScript(args)] : findOtherScript(args);
  return script === undefined ? undefined : resolve(cwd, script);
}

/** What a server that was written for any client gets of the callback endpoint. */
const noCallback = { callback: undefined };

const noVariables: FileVariables = { values: {}, secrets: [] };

/** A user's server with the values of variables. */
interface ExpandedServer extends Pick<UserServer, "command" | "args" | "cwd">, FileVariables {
  env: Readonly<Record<string, string>>;
}

/**
 * The parts of a user's server that refer to variables and files, with their values. Throws `UnsetVariableError` and
 * `SecretFileError`.
 */
function expandServer(
  server: UserServer,
  config: Pick<SessionConfig, "directory" | "envFile">,
  isLocked: boolean,
): ExpandedServer {
  const { path, command, args, cwd, env } = server;
  const { values, secrets } = readFileVariables(config, isLocked, server);
  const environment = { ...process.env, ...values };
  const expand = (text: string, ...at: Path) => expandVariables(text, environment, [...path, ...at]);
  const ofFiles: string[] = [];
  const variables = Object.entries(env).map(([name, value]) => {
    if (typeof value === "string") return [name, expand(value, "env", name)] as const;
    const at = [...path, "env", name, "file"];
    if (isLocked && decidesWhatRuns(name))
      throw new SecretFileError(`its variable ${name} decides what runs, so a file cannot have it`, at);
    const text = readSecret(config.directory, expand(value.file, "env", name, "file"), at, value.file);
    ofFiles.push(text);
    return [name, text] as const;
  });
  return {
    command: command === undefined ? undefined : expand(command, "command"),
    args: args.map((argument, index) => expand(argument, "args", index)),
    cwd: expand(cwd, "cwd"),
    env: Object.fromEntries(variables),
    values,
    secrets: [...secrets, ...ofFiles],
  };
}

function explainUnset({ name: label }: UserServer, error: unknown): TrailblazeError {
  if (error instanceof SecretFileError)
    return failure("ServerStartFailed", { label, reason: error.message }, { path: error.path });
  if (!(error instanceof UnsetVariableError)) throw error;
  const { variable, path, message: reason } = error;
  const hint = `Set it, or write \`\${${variable}:-default}\` in the config.`;
  return failure("ServerStartFailed", { label, reason, variable, hint }, { path });
}

type FoundProgram = Extract<PackageProgram, { state: "found" }>;

/** What to run for the command of a package. */
const runFile = ({ file, nodeOptions }: FoundProgram, args: readonly string[]): Program =>
  nodeOptions === undefined
    ? { command: file, args }
    : { command: process.execPath, args: [...nodeOptions, file, ...args] };

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

function describeUserServer(
  { name, path, protocol, timeouts, results, choices }: UserServer,
  { file }: Pick<SessionConfig, "file">,
) {
  const source: ToolSource = { type: "config", server: name, ...(file === undefined ? {} : { file }) };
  const key = `config ${name}`;
  return {
    label: name,
    key,
    pack: undefined,
    source,
    configPath: path,
    protocol,
    timeouts,
    results,
    choices,
  };
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
  const { package: packageName, bin } = server;
  const context = server.context ?? (server.isListed && packageName === undefined);
  let expanded: ExpandedServer = { ...server, env: {}, ...noVariables };
  let fault: TrailblazeError | undefined;
  try {
    expanded = expandServer(server, config, isLocked);
  } catch (error) {
    fault = explainUnset(server, error);
  }
  const { command = "", args, env, values, secrets } = expanded;
  const cwd = resolve(config.directory, expanded.cwd);
  const found =
    packageName === undefined
      ? undefined
      : findPackageProgram(port, config.project, { package: packageName, bin });
  const toProgram = ({ command = "", args }: Pick<UserServer, "command" | "args">): Program =>
    found?.state === "found"
      ? runFile(found, args)
      : { command: isPath(command) ? resolve(cwd, command) : command, args };
  if (found !== undefined && found.state !== "found")
    fault ??= await explainPackage(port, server, config, found);
  const script = found?.state === "found" ? found.file : findScript({ command, args, cwd });
  const toolsetFile = script ?? config.file ?? join(config.directory, "package.json");
  return {
    ...describeUserServer(server, config),
    ...toProgram(expanded),
    cwd,
    shown: toProgram(server),
    fault,
    context,
    legacyContext: context && server.legacyContext,
    toolsetFile,
    secrets,
    createEnvironment: ({ hostEnvironment: host, ...facts }) => {
      const hostEnvironment = { ...host, ...values };
      const whole = { ...facts, hostEnvironment, ...(context ? {} : noCallback), toolsetFile };
      return createUserServerEnvironment(whole, env);
    },
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
export function planRemoteServer(
  server: UserServer,
  config: Pick<SessionConfig, "file" | "directory" | "envFile">,
  isLocked = false,
): RemotePlan {
  const { name, path } = server;
  let { values, secrets } = noVariables;
  const expand = (text: string, ...at: Path) =>
    expandVariables(text, { ...process.env, ...values }, [...path, ...at]);
  let url = "";
  let headers: Record<string, string> = {};
  let oauth: OAuthSettings | undefined;
  let fault: TrailblazeError | undefined;
  try {
    const isReferring = JSON.stringify([server.url, server.headers, server.oauth]).includes("${");
    if (isReferring) ({ values, secrets } = readFileVariables(config, isLocked, server));
    url = expand(server.url ?? "", "url").trim();
    const pairs = Object.entries(server.headers);
    headers = Object.fromEntries(pairs.map(([key, value]) => [key, expand(value, "headers", key).trim()]));
    const { clientId, clientSecret } = server.oauth ?? {};
    if (!hasCredentials(headers))
      oauth = {
        ...server.oauth,
        ...(clientId !== undefined && { clientId: expand(clientId, "oauth", "clientId") }),
        ...(clientSecret !== undefined && { clientSecret: expand(clientSecret, "oauth", "clientSecret") }),
      };
    if (oauth?.clientSecret !== undefined) secrets = [...secrets, oauth.clientSecret];
    const reason = explainAddress(url, headers);
    if (reason !== undefined) {
      const hint = "Check the values of its variables.";
      fault = failure("ServerStartFailed", { label: name, reason, hint }, { path });
    }
  } catch (error) {
    fault = explainUnset(server, error);
  }
  return {
    ...describeUserServer(server, config),
    url: new URL(fault === undefined ? url : "http://invalid"),
    shown: (server.url ?? "").replace(/[?#].*$/s, "?…"),
    headers,
    oauth,
    secrets,
    fault,
    context: server.context ?? false,
    // A remote server has no callback, so its arguments stay as they are.
    legacyContext: false,
  };
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];

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

/** The program of a pack's server, its file if it has one, and why it cannot run. */
function findPackProgram(
  port: InspectionPort,
  { location }: FoundPack["pack"],
  definition: Readonly<Record<string, unknown>>,
  cwd: string,
): { program: Program; file: string | undefined } {
  const { script, package: name, bin } = definition;
  const args = textsOf(definition.args);
  if (typeof script === "string") {
    const file = join(location, script);
    return { program: { command: process.execPath, args: [file, ...args] }, file };
  }
  if (typeof name === "string") {
    const named = { package: name, bin: typeof bin === "string" ? bin : undefined };
    const found = findPackageProgram(port, location, named);
    // Checks have found it, so it has been removed since, and the process fails to start.
    if (found.state !== "found")
      return { program: { command: join(location, "node_modules", name), args }, file: undefined };
    return { program: runFile(found, args), file: found.file };
  }
  const written = String(definition.command);
  const command = isPath(written) ? resolve(cwd, written) : written;
  const file = findScript({ command: written, args, cwd });
  return { program: { command, args }, file };
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
  const definition = item.definition ?? {};
  const { env, protocol, legacyContext, timeouts } = definition;
  const context =
    typeof definition.context === "boolean" ? definition.context : definition.package === undefined;
  const cwd = typeof definition.cwd === "string" ? join(location, definition.cwd) : location;
  const planned = findPackProgram(port, found.pack, definition, cwd);
  const { program } = planned;
  const file = planned.file ?? join(location, item.file ?? "package.json");
  return {
    label: item.qualifiedName,
    key: `pack ${item.qualifiedName}`,
    pack: qualifiedName,
    source: describeSource(found, item),
    ...program,
    cwd,
    shown: program,
    protocol: (protocol ?? "auto") as ProgramPlan["protocol"],
    timeouts: timeouts as ServerTimeouts | undefined,
    context,
    legacyContext: context && legacyContext !== false,
    toolsetFile: file,
    secrets,
    createEnvironment: (facts) =>
      createPackEnvironment(
        { ...facts, ...(context ? {} : noCallback), toolsetFile: file },
        {
          env: (env ?? {}) as Record<string, string>,
          envPassthrough: textsOf(definition.envPassthrough),
          ofFile: values,
        },
      ),
  };
}
