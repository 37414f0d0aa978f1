import { type Kind, keyOfKind } from "../kinds.ts";
import { entry, warningForBystanders } from "./entry.ts";
import { formatInstall, formatWhy, type PackageManager } from "./install-command.ts";
import { hintForSyntax, type SyntaxCause } from "./syntax-hint.ts";
import { endSentence, listOf, printable, quote } from "./text.ts";

export interface ItemNotFound {
  name: string;
  /** What the item with this name is instead. */
  otherKind: Kind | undefined;
  /** Names that are near, best first. */
  nearest: readonly string[];
  /** Why one that is installed is not to be had. */
  reason?: string;
  /** The tool that models know by this name. */
  advertises?: string;
  /** Items of every kind were looked through. */
  isAnyKind?: boolean;
  /** The server of the config whose name it begins with. */
  server?: string;
}

const itemNotFound = (kind: Kind) =>
  entry<ItemNotFound>({
    title: `There is no such ${kind}`,
    severity: "error",
    message: ({ name, otherKind, reason, advertises, isAnyKind, server }) =>
      server !== undefined
        ? `There is no ${kind} ${quote(name)}: tools of the config's server ${quote(server)} have no qualified names.`
        : advertises !== undefined
          ? `There is no ${kind} ${quote(name)}; that is the name by which models know ${quote(advertises, 200)}.`
          : otherKind !== undefined
            ? `There is no ${kind} ${quote(name)}; that is the name of a ${otherKind}.`
            : reason !== undefined
              ? `The ${kind} ${quote(name)} is installed, but not to be had here: ${printable(reason)}`
              : `There is no ${isAnyKind ? "item" : kind} ${quote(name)}.`,
    hint: ({ nearest, otherKind, reason, isAnyKind, server }) =>
      otherKind !== undefined
        ? `Ask for it as a ${otherKind}: --kind ${otherKind}`
        : reason !== undefined
          ? "`trailblaze tools` shows what a session has, and why not the rest."
          : nearest.length > 0
            ? `Did you mean ${listOf(nearest)}?`
            : isAnyKind
              ? "`trailblaze list` shows what is installed."
              : server !== undefined
                ? "`trailblaze tools` lists its tools."
                : `\`trailblaze list ${keyOfKind[kind]}\` shows every installed ${kind}.`,
  });

export interface PackNotInstalled {
  name: string;
  nearest?: readonly string[];
  isDeclared?: boolean;
  /** What the name may mean as well: two segments are an item, or a pack with a scope. */
  alternative?: string | undefined;
  /** In which it is asked for. */
  range?: string | undefined;
  /** That of the project; npm where it is not known. */
  manager?: PackageManager | undefined;
  /** It is a word that somebody typed, which need not be the name of a pack: a package of that name is a stranger's. */
  isWord?: boolean;
  /** What the project's config has under this name. */
  inConfig?: "server" | "tool" | undefined;
  /** The config's servers, one of which may have a tool of this name. */
  servers?: readonly string[];
  /** It was to be removed. */
  isRemoval?: boolean;
}

function hintForMissingPack(args: PackNotInstalled): string {
  const { name, nearest = [], alternative, isDeclared, range, manager, inConfig, isRemoval } = args;
  if (inConfig !== undefined && isRemoval) return "Remove it from the config.";
  if (inConfig === "server") return "`trailblaze tools` starts it and lists its tools.";
  if (inConfig === "tool") return "`trailblaze tools` lists it.";
  if (isDeclared) return `package.json declares it: ${formatInstall(manager)}`;
  const meant = nearest.length > 0 ? `Did you mean ${listOf(nearest)}? ` : "";
  if (isRemoval) return `${meant}\`trailblaze list\` shows the installed packs.`;
  if (args.isWord) {
    const servers = (args.servers ?? []).map((server) => quote(server));
    const ofServers =
      servers.length === 0
        ? ""
        : ` \`trailblaze tools\` lists the tools of the config's server${servers.length === 1 ? "" : "s"} ${listOf(servers, "and")}.`;
    return `${meant}\`trailblaze list\` shows the installed packs, \`trailblaze search\` those in the registry.${ofServers}`;
  }
  const install = formatInstall(manager, range === undefined ? name : `${name}@${range}`);
  const command = meant === "" ? install : `${meant}Or: ${install}`;
  return alternative === undefined
    ? command
    : `${command} (or, if it is a pack: ${formatInstall(manager, alternative)})`;
}

/** The end of what a program wrote, without the stack of an error, which would push out what the error says. */
const lastWords = (text: string): string =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s+at /.test(line))
    .join("\n")
    .trim()
    .slice(-300);

export interface WorkspaceIncomplete {
  cause: "length" | "alternatives" | "steps" | "folders" | "bytes" | "failed";
  /** The number that is the limit. */
  limit?: number | undefined;
  /** The first pattern that is the cause. */
  pattern?: string | undefined;
  /** How many other patterns have the same fault. */
  others?: number;
  /** Why the search failed. */
  reason?: string | undefined;
}

function describeIncomplete({ cause, limit, pattern, others = 0, reason }: WorkspaceIncomplete): string {
  const number = limit?.toLocaleString("en");
  const first = quote(pattern ?? "", 80);
  const skipped =
    others === 0
      ? `The workspace pattern ${first} is skipped`
      : `${others + 1} workspace patterns are skipped, the first is ${first}`;
  switch (cause) {
    case "length":
      return `${skipped}: the limit is ${number} characters.`;
    case "alternatives":
      return `${skipped}: the patterns of a workspace may have ${number} alternatives in total.`;
    case "steps":
      return pattern === undefined
        ? `The search for workspace packages is incomplete: the limit is ${number} matching steps.`
        : `${skipped}: the limit is ${number} matching steps.`;
    case "folders":
      return `The search for workspace packages is incomplete: the limit is ${number} folders.`;
    case "bytes":
      return `The file is skipped: the limit is ${number} bytes.`;
    case "failed":
      return `The search for workspace packages failed: ${printable(reason ?? "")}`;
  }
}

/** Faults met while a command or a library function does its work. */
export const operationProblems = {
  InvalidQualifiedName: entry<{ name: string; reason: string }>({
    title: "This is not a qualified name",
    severity: "error",
    message: ({ name, reason }) => `${quote(name)} is not a qualified name: ${reason}.`,
    hint: () => 'Write "publisher/pack/item", or "pack/item" where the npm name has no scope.',
  }),
  PackNotInstalled: entry<PackNotInstalled>({
    title: "The pack is not installed",
    severity: (context, { isDeclared }) => (context === "validation" && isDeclared ? "warning" : "error"),
    message: ({ name, inConfig }) =>
      inConfig === undefined
        ? `The pack ${quote(name)} is not installed here.`
        : `${quote(name)} is a ${inConfig} of the project's config, not a pack.`,
    hint: hintForMissingPack,
  }),
  PackVersionMismatch: entry<
    | { name: string; range: string; version: string; manager?: PackageManager | undefined }
    /** Nothing is installed, and no version is in all ranges that are asked for. */
    | { name: string; ranges: readonly string[] }
  >({
    title: "No version fits the range asked for",
    severity: "error",
    message: (args) =>
      "ranges" in args
        ? `No version of ${args.name} satisfies ${listOf(
            args.ranges.map((range) => quote(range)),
            "and",
          )} together.`
        : `${args.name} ${args.version} is installed, which does not satisfy ${quote(args.range)}.`,
    hint: (args) =>
      "ranges" in args
        ? "Change the references, or the range in package.json, so that one version satisfies all of them."
        : formatInstall(args.manager, `${args.name}@${args.range}`),
  }),
  ExtensionNotFound: entry<{
    name: string;
    /** Where it is that is not installed. */
    inRegistry?: boolean;
  }>({
    title: "The package is no pack",
    severity: "error",
    message: ({ name, inRegistry }) =>
      `${quote(name)} is ${inRegistry ? "in the registry" : "installed"}, but its package.json has no \`trailblaze\` field.`,
    hint: () => "`trailblaze list` shows the packages that are packs.",
  }),
  ServerNotFound: itemNotFound("server"),
  ToolNotFound: itemNotFound("tool"),
  ToolsetNotFound: itemNotFound("toolset"),
  PromptNotFound: itemNotFound("prompt"),
  AmbiguousName: entry<{ name: string; kinds: readonly Kind[] }>({
    title: "The name belongs to items of several kinds",
    severity: "error",
    message: ({ name, kinds }) => {
      const named = kinds.map((kind) => `a ${kind}`);
      return `${quote(name)} is the name of ${listOf(named, "and")}.`;
    },
    hint: ({ kinds }) => `Say which one: ${listOf(kinds.map((kind) => `--kind ${kind}`))}.`,
  }),
  NameCollision: entry<{ collisions: readonly { name: string; sources: readonly string[] }[] }>({
    title: "Several tools claim one name",
    severity: "error",
    message: ({ collisions }) => {
      const claims = collisions.map(
        ({ name, sources }) => `${quote(name)} by ${listOf(sources.map(printable), "and")}`,
      );
      return `Names must be unique in a session, but these are claimed more than once: ${claims.join("; ")}.`;
    },
    hint: () =>
      "Shut one out with `packs.deny` in trailblaze.config.yaml, or set `nameCollisions: suffix` to number them.",
  }),
  InitializeFailed: entry<{ name: string; reason: string }>({
    title: "An initialize function failed",
    severity: "error",
    message: ({ name, reason }) => `${quote(name, 200)} could not be initialised: ${printable(reason)}`,
    hint: () => "Nothing is served before every tool is ready.",
  }),
  DuplicateBundleEntry: entry<{ name: string | undefined; bundles: readonly string[] }>({
    title: "Two bundles of a server share an entry's name",
    severity: "error",
    message: ({ name, bundles }) =>
      name === undefined
        ? `The bundle ${listOf(bundles.map((bundle) => quote(bundle, 200)))} is listed twice in one server.`
        : bundles[0] === bundles[1]
          ? `The entry ${quote(name)} is twice in ${listOf(bundles.slice(1).map((bundle) => quote(bundle, 200)))}.`
          : `The entry ${quote(name)} is in ${listOf(
              bundles.map((bundle) => quote(bundle, 200)),
              "and",
            )}, which one server has both.`,
    hint: ({ name }) =>
      name === undefined ? "List it once." : "Rename one of them, or serve the bundles by different servers.",
  }),
  ServerDied: entry<{ label: string; why: string; isRelaunched?: boolean; isServed?: boolean }>({
    title: "A server ended by itself",
    severity: (_context, { isRelaunched }) => (isRelaunched ? "warning" : "error"),
    message: ({ label, why, isRelaunched }) =>
      `${quote(label, 200)} ${isRelaunched ? "was gone and is started again" : "is gone"}: ${printable(why)}`,
    hint: ({ isServed }) =>
      isServed
        ? "What it wrote to stderr says more."
        : "`crash` in trailblaze.config.yaml says what a session does then: fail, isolate or relaunch.",
  }),
  SessionClosed: entry<{ reason: string | undefined }>({
    title: "The session is over",
    severity: "error",
    message: ({ reason }) =>
      reason === undefined ? "The session was closed." : `The session is over: ${printable(reason)}`,
    hint: () => "Open another one.",
  }),
  StdoutNoise: entry<{ label: string; line: string }>({
    title: "A server writes to stdout what is no protocol",
    severity: "warning",
    message: ({ label, line }) =>
      `${quote(label, 200)} wrote to stdout what is no MCP message: ${quote(line)}.`,
    hint: () => "stdout is for the protocol: its author should log to stderr.",
  }),
  ToolListChanged: entry<{ label: string }>({
    title: "A server's tools changed during a session",
    severity: "warning",
    message: ({ label }) =>
      `${quote(label, 200)} announced that its tools changed; the session keeps those it began with.`,
    hint: () => "Open another session to get the new ones.",
  }),
  InvalidConfig: entry<{
    reason: string;
    cause?: SyntaxCause | undefined;
    hint?: string;
    /** How many other errors the config has. */
    others?: number;
  }>({
    title: "The config file is not usable",
    severity: "error",
    message: ({ reason }) => `The config cannot be used: ${reason}.`,
    hint: ({ cause, hint = hintForSyntax(cause), others = 0 }) => {
      if (others === 0) return hint;
      const more = `\`trailblaze doctor\` shows ${others} more error${others === 1 ? "" : "s"}.`;
      return hint === undefined ? more : `${endSentence(hint)} ${more}`;
    },
  }),
  ProjectNotFound: entry<{ directory: string; exists: boolean }>({
    title: "No package.json here or above",
    severity: "error",
    message: ({ directory, exists }) =>
      exists
        ? `There is no package.json in ${quote(directory, 400)} or in any folder above it.`
        : `There is no folder ${quote(directory, 400)}.`,
    hint: ({ exists }) =>
      exists ? "Run this inside a project, name one with --cwd, or make one: npm init -y" : undefined,
  }),
  MalformedPackageJson: entry<{
    reason: string;
    cause?: SyntaxCause | undefined;
    location: string;
    isSource: boolean;
  }>({
    title: "A package.json cannot be read",
    severity: warningForBystanders,
    message: ({ reason, location }) =>
      `The package.json in ${quote(location, 400)} is not usable: ${reason}.`,
    hint: ({ isSource, cause }) =>
      isSource
        ? (hintForSyntax(cause) ?? "Correct it there.")
        : "Install the package again, or tell its author.",
  }),
  PackageJsonTooLarge: entry<{ bytes: number; limit: number; location: string }>({
    title: "A package.json is larger than 1 MiB",
    severity: warningForBystanders,
    message: ({ bytes, limit, location }) =>
      `The package.json in ${quote(location, 400)} has ${bytes} bytes, more than the ${limit} that are read.`,
  }),
  WorkspaceIncomplete: entry<WorkspaceIncomplete>({
    title: "Packages of the workspace may be missing",
    severity: "warning",
    message: describeIncomplete,
    hint: ({ cause }) =>
      cause === "bytes"
        ? "Remove what pnpm does not need from it."
        : "Name the folders in fewer and simpler patterns, such as packages/*.",
  }),
  UnsupportedLayout: entry<{ file: string }>({
    title: "Yarn Plug'n'Play has no folders to look into",
    severity: "error",
    message: ({ file }) =>
      `The project is installed with Yarn Plug'n'Play (${quote(file, 400)}), which keeps packages in archives.`,
    hint: () => 'Put "nodeLinker: node-modules" into .yarnrc.yml and run: yarn install',
  }),
  ShadowedPack: entry<{
    name: string;
    version: string | null;
    winner: string | null;
    location: string;
    manager?: PackageManager;
  }>({
    title: "Another copy of the same pack counts",
    severity: "warning",
    message: ({ name, version, winner, location }) =>
      `${name} ${version ?? "(no version)"} is not used: ${winner ?? "the copy"} in ${quote(location, 400)} comes first.`,
    hint: ({ name, manager }) => `${formatWhy(manager, name)} shows which package asks for which version.`,
  }),
  ConfinementUnavailable: entry<{ required: boolean }>({
    title: "Code cannot be confined here",
    severity: (_context, { required }) => (required ? "error" : "warning"),
    message: () => "This system offers no way to confine a pack's code while its definitions are read.",
    hint: () => "--data-only reads definitions that are data and refuses those that are code.",
  }),
  ServerStartFailed: entry<{
    label: string;
    /** Goes on from "it", without a full stop. */
    reason: string;
    /** The end of what it wrote to stderr. */
    stderrTail?: string;
    /** What else to do than to run its command by hand. */
    hint?: string;
  }>({
    title: "An MCP server does not start",
    severity: "error",
    message: ({ label, reason }) => `The server ${quote(label)} does not start: ${printable(reason)}.`,
    hint: ({ stderrTail, hint }) =>
      stderrTail === undefined
        ? (hint ?? "Run its command by hand to see what it says.")
        : `The last it wrote to stderr: ${quote(lastWords(stderrTail), 300)}`,
  }),
  NodeUnsupported: entry<{ version: string; range: string }>({
    title: "This version of Node is not supported",
    severity: "error",
    message: ({ version, range }) => `Node ${version} is not in ${range}.`,
    hint: () => "Install a current version: https://nodejs.org",
  }),
  InvalidArguments: entry<{ reason: string; hint?: string }>({
    title: "The command line cannot be understood",
    severity: "error",
    message: ({ reason }) => `${reason}.`,
    hint: ({ hint }) => hint,
  }),
  InternalError: entry<{ reason: string }>({
    title: "Trailblaze itself failed",
    severity: "error",
    message: ({ reason }) => `Something unexpected went wrong: ${reason}`,
    hint: () => "This is a fault of Trailblaze. Please report it with the command you ran.",
  }),
};
