import { isAbsolute, join, resolve } from "node:path";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findNodeScript, isNode } from "../extension-schema/node-script.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Path } from "../problems/index.ts";
import {
  createPackEnvironment,
  createUserServerEnvironment,
  type EnvironmentFacts,
} from "./server-environment.ts";
import type { ToolSource } from "./tool-source.ts";

/** A server that a session starts. Its environment is made when it starts, as it may hold a token. */
export interface ServerPlan {
  /** The user's name of it, or its qualified name. */
  label: string;
  /** As the label, but different for a server of the user's that is called like one of a pack. */
  key: string;
  /** Qualified name of the pack; `undefined` for the user's own. */
  pack: string | undefined;
  source: ToolSource;
  /** Where the config has it, from its top; `undefined` for a pack's. */
  configPath?: Path;
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  legacyContext: boolean;
  /** Absolute path of its script where one is named, else of the file that declares it. */
  toolsetFile: string;
  createEnvironment(facts: Omit<EnvironmentFacts, "toolsetFile">): Record<string, string>;
}

/** True for what a shell would take as a path and not look up. */
const isPath = (text: string) => /^\.{0,2}[/\\]/.test(text) || isAbsolute(text);

const interpreters = /^(?:.*[/\\])?(?:python[\d.]*|bun|deno|tsx|ts-node|ruby|php|perl|sh|bash)(?:\.exe)?$/i;

/** The first argument of another interpreter, if it is a file by its ending; after options that need no value. */
function findOtherScript(args: readonly string[]): string | undefined {
  for (const argument of args) {
    if (/^-[cme]$|^--eval$/.test(argument)) return undefined;
    if (argument.startsWith("-") || argument === "run") continue;
    return /\.(?:[cm]?[jt]s|[jt]sx|pyz?|rb|php|pl|sh)$/i.test(argument) ? argument : undefined;
  }
  return undefined;
}

/** The script that a command runs: itself, if it is a path, or the one that its interpreter is given. */
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

/** A server of the user's own (seed 004), the config's so-manieth. */
export function planUserServer(server: UserServer, config: SessionConfig, index: number): ServerPlan {
  const { name, command, args, cwd, env, legacyContext } = server;
  const file = config.file ?? join(config.directory, "package.json");
  const toolsetFile = findScript(server) ?? file;
  return {
    label: name,
    key: `config ${name}`,
    pack: undefined,
    source: { type: "config", server: name, ...(config.file === undefined ? {} : { file: config.file }) },
    configPath: ["trailblazeSubprocessToolsets", index],
    command: isPath(command) ? resolve(cwd, command) : command,
    args,
    cwd,
    legacyContext,
    toolsetFile,
    createEnvironment: (facts) => createUserServerEnvironment({ ...facts, toolsetFile }, env),
  };
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];

/** The source of what an item of a pack brings. */
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

/** A pack's subprocess server; its definition is checked. */
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
