import { isAbsolute, join, resolve } from "node:path";
import type { SessionConfig, ToolChoices, UserServer } from "../config/session-config.ts";
import { expandVariables, UnsetVariableError } from "../config/variables.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findNodeScript, isNode } from "../extension-schema/node-script.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { failure, type Path, type TrailblazeError } from "../problems/index.ts";
import {
  createPackEnvironment,
  createUserServerEnvironment,
  type EnvironmentFacts,
} from "./server-environment.ts";
import type { ToolSource } from "./tool-source.ts";

/** A server that a session starts. The environment is created at the start, because it may contain a token. */
export interface ServerPlan {
  /** The name in the user's config, or the qualified name. */
  label: string;
  /** Unique: a server of the user's config may have the same label as one of a pack. */
  key: string;
  /** Qualified name of the pack; `undefined` for a server of the user's config. */
  pack: string | undefined;
  source: ToolSource;
  /** Its path in the config; `undefined` for a server of a pack. */
  configPath?: Path;
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  /** The command for people. Variables stay as written, because their values may be secret. */
  shown: { command: string; args: readonly string[] };
  /** Why it cannot be started. */
  fault?: TrailblazeError;
  legacyContext: boolean;
  /** What the user's config chooses for its tools; `undefined` for a server of a pack. */
  choices?: ToolChoices;
  /** Absolute path of its script if it has one, otherwise of the file that declares it. */
  toolsetFile: string;
  createEnvironment(facts: Omit<EnvironmentFacts, "toolsetFile">): Record<string, string>;
}

/** True for a command that a shell would treat as a path instead of searching `PATH`. */
const isPath = (text: string) => /^\.{0,2}[/\\]/.test(text) || isAbsolute(text);

const interpreters = /^(?:.*[/\\])?(?:python[\d.]*|bun|deno|tsx|ts-node|ruby|php|perl|sh|bash)(?:\.exe)?$/i;

/** The first argument of an interpreter other than Node that has the extension of a script, after options without values. */
function findOtherScript(args: readonly string[]): string | undefined {
  for (const argument of args) {
    if (/^-[cme]$|^--eval$/.test(argument)) return undefined;
    if (argument.startsWith("-") || argument === "run") continue;
    return /\.(?:[cm]?[jt]s|[jt]sx|pyz?|rb|php|pl|sh)$/i.test(argument) ? argument : undefined;
  }
  return undefined;
}

/** The script that a command runs: the command itself if it is a path, or its interpreter's argument. */
function findScript({
  command,
  args,
  cwd,
}: Pick<UserServer, "command" | "args" | "cwd">): string | undefined {
  if (!isNode(command) && !interpreters.test(command))
    return isPath(command) ? resolve(cwd, command) : undefined;
  const script = isNode(command) ? args[findNodeScript(args)] : findOtherScript(args);
  return script === undefined ? undefined : resolve(cwd, script);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of a user's server that refer to variables, with their values. Throws `UnsetVariableError`. */
function expandServer(
  { path, command, args, cwd, env }: UserServer,
  environment: Environment,
): Pick<UserServer, "command" | "args" | "cwd" | "env"> {
  const expand = (text: string, ...at: Path) => expandVariables(text, environment, [...path, ...at]);
  const variables = Object.entries(env).map(([name, value]) => [name, expand(value, "env", name)] as const);
  return {
    command: expand(command, "command"),
    args: args.map((argument, index) => expand(argument, "args", index)),
    cwd: expand(cwd, "cwd"),
    env: Object.fromEntries(variables),
  };
}

function explainUnset(label: string, error: unknown): TrailblazeError {
  if (!(error instanceof UnsetVariableError)) throw error;
  const { variable, path, message: reason } = error;
  const hint = `Set it, or write \`\${${variable}:-default}\` in the config.`;
  return failure("ServerStartFailed", { label, reason, variable, hint }, { path });
}

/** A server of the user's config (seed 004). References to variables get their values from `environment`. */
export function planUserServer(
  server: UserServer,
  config: SessionConfig,
  environment: Environment = process.env,
): ServerPlan {
  const { name, path, legacyContext, choices } = server;
  let expanded: ReturnType<typeof expandServer> = server;
  let fault: TrailblazeError | undefined;
  try {
    expanded = expandServer(server, environment);
  } catch (error) {
    fault = explainUnset(name, error);
  }
  const { command, args, env } = expanded;
  const cwd = resolve(config.directory, expanded.cwd);
  const file = config.file ?? join(config.directory, "package.json");
  const toolsetFile = findScript({ command, args, cwd }) ?? file;
  return {
    label: name,
    key: `config ${name}`,
    pack: undefined,
    source: { type: "config", server: name, ...(config.file === undefined ? {} : { file: config.file }) },
    configPath: path,
    command: isPath(command) ? resolve(cwd, command) : command,
    args,
    cwd,
    shown: {
      command: isPath(server.command) ? resolve(cwd, server.command) : server.command,
      args: server.args,
    },
    ...(fault === undefined ? {} : { fault }),
    legacyContext,
    choices,
    toolsetFile,
    createEnvironment: (facts) => createUserServerEnvironment({ ...facts, toolsetFile }, env),
  };
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];

/** The source of a tool that an item of a pack provides. */
export function describeSource({ pack }: FoundPack, { declaration, file }: InspectedItem): ToolSource {
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
export function planPackServer(found: FoundPack, item: InspectedItem): ServerPlan {
  const { location, qualifiedName } = found.pack;
  const definition = item.definition ?? {};
  const { script, command, env, legacyContext } = definition;
  const cwd = typeof definition.cwd === "string" ? join(location, definition.cwd) : location;
  const args = textsOf(definition.args);
  const run = typeof command === "string" ? findScript({ command, args, cwd }) : undefined;
  const named = typeof script === "string" ? join(location, script) : run;
  const file = named ?? join(location, item.file ?? "package.json");
  const program =
    typeof script === "string"
      ? { command: process.execPath, args: [join(location, script), ...args] }
      : {
          command: typeof command === "string" && isPath(command) ? resolve(cwd, command) : String(command),
          args,
        };
  return {
    label: item.qualifiedName,
    key: `pack ${item.qualifiedName}`,
    pack: qualifiedName,
    source: describeSource(found, item),
    ...program,
    cwd,
    shown: program,
    legacyContext: legacyContext !== false,
    toolsetFile: file,
    createEnvironment: (facts) =>
      createPackEnvironment(
        { ...facts, toolsetFile: file },
        {
          env: (env ?? {}) as Record<string, string>,
          envPassthrough: textsOf(definition.envPassthrough),
        },
      ),
  };
}
