import { type Kind, keyOfKind } from "../kinds.ts";
import { entry, entryOf, warningForBystanders } from "./entry.ts";
import { installDenoPackages } from "./layout-problems.ts";
import { hintForSyntax, type SyntaxCause } from "./syntax-hint.ts";
import {
  endSentence,
  formatInstall,
  formatWhy,
  listOf,
  type PackageManager,
  printable,
  quote,
  quoteForShell,
} from "./text.ts";

export interface ItemNotFound {
  name: string;
  /** The kind that the item with this name has. */
  otherKind: Kind | undefined;
  /** Similar names, best first. */
  nearest: readonly string[];
  /** Why an installed item is not available in this session. */
  reason?: string;
  /** Items of all kinds were searched. */
  isAnyKind?: boolean;
  /** The server of the config whose label is the first segment, and that has no such tool. */
  server?: string;
  /** The server is disabled in the config. */
  isDisabled?: boolean;
  /** The name is the first segment of LABEL/TOOL, and the config has servers. */
  isLabel?: boolean;
}

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const itemNotFound = (kind: Kind) => {
  const start = `${capitalize(kind)} "{name}"`;
  return entryOf<ItemNotFound>({
    title: `${capitalize(kind)} not found`,
    severity: "error",
    message: `${start} not found.`,
    hint: `Run \`trailblaze list ${keyOfKind[kind]}\` to see every installed ${kind}.`,
    when: {
      isDisabled: { message: `${start} is disabled in the config.`, hint: "Enable it in the config." },
      otherKind: {
        message: `${start} not found; there is a {otherKind} with this name.`,
        hint: ({ name, otherKind }) =>
          name.includes("/")
            ? `Run \`trailblaze inspect ${quoteForShell(printable(name))} --kind ${otherKind}\` to see the ${otherKind}.`
            : undefined,
      },
      reason: {
        message: `${start} is installed but not available in this session: {reason}`,
        hint: "Run `trailblaze tools` to see which tools are available and why others are not.",
      },
      nearest: { hint: "Did you mean {nearest:or}?" },
      isAnyKind: {
        message: 'Item "{name}" not found.',
        hint: "Run `trailblaze list` to see what is installed.",
      },
      server: {
        message: `${start} not found: the configured server "{server}" has no such ${kind}.`,
        hint: "Run `trailblaze tools` to list its tools.",
      },
      isLabel: {
        hint: 'Run `trailblaze list servers --built-in` to see the config\'s servers. If "{name}" is a pack, install it.',
      },
    },
  });
};

export interface PackNotInstalled {
  name: string;
  nearest?: readonly string[];
  isDeclared?: boolean;
  /** What else the name can mean: two segments are an item, or a pack with a scope. */
  alternative?: string | undefined;
  /** The range that was requested. */
  range?: string | undefined;
  /** The package manager of the project; npm if unknown. */
  manager?: PackageManager | undefined;
  /** The name is a word that a user typed: a package with that name may be unrelated, so no install is suggested. */
  isWord?: boolean;
  /** What the project's config defines under this name. */
  inConfig?: "server" | "tool" | undefined;
  /** The servers of the config, one of which may have a tool with this name. */
  servers?: readonly string[];
  /** The pack was to be removed. */
  isRemoval?: boolean;
  /** The pack is installed, but a session did not look for it. */
  isUndeclared?: boolean;
}

function hintForMissingPack(args: PackNotInstalled): string {
  const { name, nearest = [], alternative, isDeclared, range, manager, inConfig, isRemoval } = args;
  if (args.isUndeclared)
    return "Add it to the dependencies in package.json, or to `packs.transitive` in the config.";
  if (inConfig !== undefined && isRemoval) return "Remove it from the config file.";
  if (inConfig === "server") return "Run `trailblaze tools` to start it and list its tools.";
  if (inConfig === "tool") return "Run `trailblaze tools` to see it.";
  if (isDeclared) return `It is declared in package.json. Run \`${formatInstall(manager)}\`.`;
  const meant = nearest.length > 0 ? `Did you mean ${listOf(nearest)}? ` : "";
  if (isRemoval) return `${meant}Run \`trailblaze list\` to see the installed packs.`;
  if (args.isWord) {
    const servers = (args.servers ?? []).map((server) => quote(server));
    const ofServers =
      servers.length === 0
        ? ""
        : ` Run \`trailblaze tools\` to list the tools of the configured server${servers.length === 1 ? "" : "s"} ${listOf(servers, "and")}.`;
    return `${meant}Run \`trailblaze list\` to see the installed packs, or \`trailblaze search\` to search the registry.${ofServers}`;
  }
  const install = formatInstall(manager, range === undefined ? name : `${name}@${range}`);
  if (meant === "" && alternative === undefined) return install;
  const other =
    alternative === undefined ? "" : `, or \`${formatInstall(manager, alternative)}\` if the name is a pack`;
  return `${meant}${meant === "" ? "Run" : "Otherwise, run"} \`${install}\`${other}.`;
}

export interface WorkspaceIncomplete {
  cause: "syntax" | "patterns" | "folders" | "bytes";
  /** The limit that was exceeded. */
  limit?: number | undefined;
  /** The first pattern that caused it. */
  pattern?: string | undefined;
  /** How many other patterns have the same problem. */
  others?: number;
}

function describeIncomplete({ cause, limit, pattern, others = 0 }: WorkspaceIncomplete): string {
  const number = limit?.toLocaleString("en");
  const first = quote(pattern ?? "", 80);
  const skipped =
    others === 0
      ? `The workspace pattern ${first} is skipped`
      : `${others + 1} workspace patterns are skipped, starting with ${first}`;
  switch (cause) {
    case "syntax":
      return `${skipped}: only *, **, ? and {a,b} are supported, with two wildcards in a segment.`;
    case "patterns":
      return `${skipped}: a workspace may have ${number} patterns with expanded braces.`;
    case "folders":
      return `The search for workspace packages is incomplete: the limit is ${number} folders.`;
    case "bytes":
      return `The file is skipped: the limit is ${number} bytes.`;
  }
}

/** Problems that occur while a command or a library function runs. */
export const operationProblems = {
  InvalidQualifiedName: entry({
    title: "Invalid qualified name",
    severity: "error",
    message: '"{name}" is not a valid qualified name: {reason}.',
    hint: 'Use "publisher/pack/item", or "pack/item" if the npm name has no scope.',
  }),
  PackNotInstalled: entryOf<PackNotInstalled>({
    title: "Pack is not installed",
    severity: (context, { isDeclared }) => (context === "validation" && isDeclared ? "warning" : "error"),
    message: ({ name, inConfig, isUndeclared }) =>
      isUndeclared
        ? `Pack ${quote(name)} is installed, but this project does not declare it.`
        : inConfig === undefined
          ? `Pack ${quote(name)} is not installed.`
          : `${quote(name)} is a ${inConfig} in the project's config, not a pack.`,
    hint: hintForMissingPack,
  }),
  PackVersionMismatch: entryOf<{
    name: string;
    range: string;
    version: string;
    manager?: PackageManager | undefined;
  }>({
    title: "The installed version does not satisfy the requested range",
    severity: "error",
    message: ({ name, version, range }) =>
      `The installed version ${version} of ${name} does not satisfy ${quote(range)}.`,
    hint: ({ manager, name, range }) => formatInstall(manager, `${name}@${range}`),
  }),
  /** `inRegistry`: not installed. `mayBeServer`: the package has a command, which may be an MCP server. */
  ExtensionNotFound: entry({
    title: "The package is not a Trailblaze pack",
    severity: "error",
    message:
      'The installed package "{name}" is not a Trailblaze pack: its package.json has no `trailblaze` field.',
    hint: "Run `trailblaze list` to see which installed packages are packs.",
    when: {
      inRegistry: {
        message: 'The package "{name}" is not a Trailblaze pack: its package.json has no `trailblaze` field.',
      },
      mayBeServer: {
        hint: "If it is an MCP server, run `trailblaze add {name:shell}` to add it to the config.",
      },
    },
  }),
  NotAPack: entry({
    title: "Package is neither a pack nor an MCP server",
    severity: "error",
    message: 'The package "{name}" is neither a Trailblaze pack nor an MCP server: it has no command.',
    hint: "Run `trailblaze search` to find packs in the registry.",
    when: {
      hasBin: {
        message:
          'The package "{name}" is not a Trailblaze pack, and its package.json does not say that it is an MCP server.',
        hint: "If it is an MCP server, pass --server.",
      },
    },
  }),
  ServerNotFound: itemNotFound("server"),
  ToolNotFound: itemNotFound("tool"),
  ToolsetNotFound: itemNotFound("toolset"),
  PromptNotFound: itemNotFound("prompt"),
  ResourceNotFound: itemNotFound("resource"),
  AmbiguousName: entryOf<{
    name: string;
    kinds: readonly Kind[];
    /** The server of the config that has a tool with this name, as a pack has. */
    server?: string;
    /** The servers of the pack with this name, or of the config and of packs. */
    servers?: readonly string[];
    /** Whether the config has a server with this name, too. */
    isInConfig?: boolean;
  }>({
    title: "Name matches several items",
    severity: "error",
    message: ({ name, kinds, server, servers = [], isInConfig = false }) => {
      if (isInConfig) return `${quote(name)} matches a server of the config and a pack.`;
      if (servers.length > 0) return `Pack ${quote(name)} has several servers: ${listOf(servers, "and")}.`;
      if (server !== undefined)
        return `${quote(name)} matches a tool of a pack and a tool of the configured server ${quote(server)}.`;
      const named = kinds.map((kind) => `a ${kind}`);
      return `${quote(name)} matches ${listOf(named, "and")}.`;
    },
    hint: ({ kinds, server, servers = [], isInConfig = false }) => {
      if (isInConfig) {
        const rename = "Give the server another name in the config";
        return servers.length === 0 ? `${rename}.` : `${rename}, or pass ${listOf(servers)}.`;
      }
      if (servers.length > 0) return `Pass ${listOf(servers)}.`;
      return server !== undefined
        ? "Give the server another name in the config, or use the tool's advertised name."
        : `Pass ${listOf(kinds.map((kind) => `--kind ${kind}`))}.`;
    },
  }),
  InvalidConfig: entryOf<{
    reason: string;
    cause?: SyntaxCause | undefined;
    hint?: string;
    /** How many other errors the config has. */
    others?: number;
  }>({
    title: "Invalid config",
    severity: "error",
    message: ({ reason }) => `Invalid config: ${reason}.`,
    hint: ({ cause, hint = hintForSyntax(cause), others = 0 }) => {
      if (others === 0) return hint;
      const more = `\`trailblaze doctor\` shows ${others} more error${others === 1 ? "" : "s"}.`;
      return hint === undefined ? more : `${endSentence(hint)} ${more}`;
    },
  }),
  ProjectNotFound: entry({
    title: "No package.json found",
    severity: "error",
    message: 'Folder "{directory:400}" does not exist.',
    when: {
      denoFile: {
        hint: `Declare the packs in a package.json beside "{denoFile:400}"; there, ${installDenoPackages}`,
      },
      exists: {
        message: 'No package.json found in "{directory:400}" or any parent folder.',
        hint: "Run this in a project, pass its folder with --cwd, or create a project with `npm init -y`.",
      },
    },
  }),
  MalformedPackageJson: entryOf<{
    reason: string;
    cause?: SyntaxCause | undefined;
    location: string;
    isSource: boolean;
  }>({
    title: "Invalid package.json",
    severity: warningForBystanders,
    message: ({ reason, location }) => `Invalid package.json in ${quote(location, 400)}: ${reason}.`,
    hint: ({ isSource, cause }) =>
      isSource
        ? (hintForSyntax(cause) ?? "Correct the file.")
        : "Reinstall the package, or report this to its author.",
  }),
  PackageJsonTooLarge: entry({
    title: "A package.json is larger than 1 MiB",
    severity: warningForBystanders,
    message: 'The package.json in "{location:400}" has {bytes:count} bytes; the limit is {limit:count}.',
  }),
  WorkspaceIncomplete: entryOf<WorkspaceIncomplete>({
    title: "Packages of the workspace may be missing",
    severity: "warning",
    message: describeIncomplete,
    hint: ({ cause }) =>
      cause === "bytes"
        ? "Remove entries that pnpm does not need."
        : "Use fewer and simpler patterns, such as packages/*.",
  }),
  AliasedPack: entry({
    title: "Pack is installed under another name",
    severity: "info",
    message:
      'The package.json of "{name}" names it "{packageName}"; Trailblaze uses the name it is installed under.',
  }),
  ShadowedPack: entryOf<{
    name: string;
    version: string | null;
    winner: string | null;
    location: string;
    manager?: PackageManager;
  }>({
    title: "Another copy of the pack is used",
    severity: "warning",
    message: ({ name, version, winner, location }) =>
      `${name} ${version ?? "(no version)"} is not used; ${winner ?? "the copy"} in ${quote(location, 400)} takes precedence.`,
    hint: ({ name, manager }) =>
      `Run \`${formatWhy(manager, name)}\` to see which package requires which version.`,
  }),
  ConfinementUnavailable: entry({
    title: "Confinement is not available on this system",
    severity: "warning",
    message: "This system cannot confine a pack's code while its definitions are read.",
    hint: "Pass --data-only to read definitions that are data and reject those that are code.",
    when: { required: { severity: "error" } },
  }),
  InvalidArguments: entry({
    title: "Invalid arguments",
    severity: "error",
    message: "{reason:lines}.",
    when: { hint: { hint: "{hint:lines}" } },
  }),
  /** `what` is a sentence without its period; `reason` may have several lines. */
  FailsAsInstalled: entry({
    title: "Pack does not work as installed",
    severity: "error",
    message: "{what}: {reason}.",
    hint: "Add what is missing to `dependencies` or `files`, and move work from module scope into the handler.",
    when: { hint: { hint: "{hint}" } },
  }),
  UnknownCode: entry({
    title: "Unknown problem code",
    severity: "error",
    message: 'Unknown problem code "{code}".',
    hint: "Copy the code from the output of a command.",
    when: { nearest: { hint: "Did you mean {nearest:or}?" } },
  }),
  InternalError: entry({
    title: "Unexpected error in Trailblaze",
    severity: "error",
    message: "Unexpected error: {reason:lines}",
    hint: "This is a bug in Trailblaze. Please report it together with the command that you ran.",
  }),
};
