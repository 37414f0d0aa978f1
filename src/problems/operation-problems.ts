import { type Kind, keyOfKind } from "../kinds.ts";
import { entry, entryOf } from "./entry.ts";
import { formatInstall, listOf, type PackageManager, printable, quoteForShell } from "./text.ts";

/**
 * `otherKind`: that of the item with this name. `nearest`: similar names, best first. `reason`: why an installed item is not
 * available in this session. `isAnyKind`: items of all kinds were searched. `server`: the one of the config whose label is the
 * first segment. `isLabel`: the name is the first segment of LABEL/TOOL, and the config has servers.
 */
const itemNotFound = (kind: Kind) => {
  const start = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} "{name}"` as const;
  return entry({
    message: `${start} not found.`,
    hint: `Run \`trailblaze list ${keyOfKind[kind]}\` to see every installed ${kind}.`,
    when: {
      isDisabled: { message: `${start} is disabled in the config.`, hint: "Enable it in the config." },
      otherKind: {
        message: `${start} not found; there is a {otherKind} with this name.`,
        hint: ({ name, otherKind }: { name: string; otherKind?: Kind | undefined }) =>
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

interface PackAlternatives {
  name: string;
  range?: string | undefined;
  nearest?: readonly string[];
  alternative?: string | undefined;
  /** The package manager of the project; npm if unknown. */
  manager?: PackageManager | undefined;
}

export const operationProblems = {
  InvalidQualifiedName: entry({
    message: '"{name}" is not a valid qualified name: {reason}.',
    hint: 'Use "publisher/pack/item", or "pack/item" if the npm name has no scope.',
  }),
  /**
   * `alternative`: what else the name can mean, because two segments are an item, or a pack with a scope. `range`: the requested one.
   * `isWord`: the name is a word that a user typed: a package with that name may be unrelated, so no install is suggested.
   * `inConfig`: what the project's config defines under this name. `isUndeclared`: a session did not look for the installed pack.
   */
  PackNotInstalled: entry({
    message: 'Pack "{name}" is not installed.',
    hint: ({ name, range, manager, nearest = [], alternative }: PackAlternatives) => {
      const install = formatInstall(manager, range === undefined ? name : `${name}@${range}`);
      if (nearest.length === 0 && alternative === undefined) return install;
      const other = alternative && `, or \`${formatInstall(manager, alternative)}\` if the name is a pack`;
      return `${nearest.length > 0 ? `Did you mean ${listOf(nearest)}? Otherwise, run` : "Run"} \`${install}\`${other ?? ""}.`;
    },
    when: {
      isUndeclared: {
        message: 'Pack "{name}" is installed, but this project does not declare it.',
        hint: "Add it to the dependencies in package.json, or to `packs.transitive` in the config.",
      },
      inConfig: {
        message: '"{name}" is a {inConfig} in the project\'s config, not a pack.',
        hint: ({ isRemoval }: { isRemoval?: boolean }) =>
          isRemoval
            ? "Remove it from the config file."
            : "Run `trailblaze tools` to list the tools of the config.",
      },
      isDeclared: {
        hint: ({ manager }: PackAlternatives) =>
          `It is declared in package.json. Run \`${formatInstall(manager)}\`.`,
      },
      isRemoval: {
        message: 'This project does not depend on "{name}".',
        hint: "[Did you mean {nearest:or}? ]Run `trailblaze list` to see the installed packs.",
      },
      isWord: {
        hint: "[Did you mean {nearest:or}? ]Run `trailblaze list` to see the installed packs, or `trailblaze search` to search the registry. Run `trailblaze tools` to list the tools of servers.",
      },
    },
  }),
  PackVersionMismatch: entry({
    message: 'The installed version {version} of {name} does not satisfy "{range}".',
    hint: ({ manager, name, range }: { manager?: PackageManager | undefined; name: string; range: string }) =>
      formatInstall(manager, `${name}@${range}`),
  }),
  /** `mayBeServer`: the package has a command, which may be an MCP server. */
  ExtensionNotFound: entry({
    message: 'The package "{name}" is not a Trailblaze pack: its package.json has no `trailblaze` field.',
    hint: "Run `trailblaze list` to see which installed packages are packs.",
    when: {
      mayBeServer: {
        hint: "If it is an MCP server, run `trailblaze add {name:shell}` to add it to the config.",
      },
    },
  }),
  NotAPack: entry({
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
  SkillNotFound: itemNotFound("skill"),
  /**
   * `server`: the server of the config that has a tool with this name, as a pack has. `servers`: those of the pack with this name, or
   * of the config and of packs. `isInConfig`: the config has a server with this name, too.
   */
  AmbiguousName: entry({
    message: '"{name}" matches items of several kinds: {kinds:and}.',
    hint: "Pass --kind {kinds:or}.",
    when: {
      isInConfig: {
        message: '"{name}" matches a server of the config and a pack.',
        hint: "Give the server another name in the config[, or pass {servers:or}].",
      },
      servers: {
        message: 'Pack "{name}" has several servers: {servers:and}.',
        hint: "Pass {servers:or}.",
      },
      skills: {
        message: 'Several skills are called "{name}".',
        hint: "Use {skills:or}.",
      },
      server: {
        message: '"{name}" matches a tool of a pack and a tool of the configured server "{server}".',
        hint: "Give the server another name in the config, or use the tool's advertised name.",
      },
    },
  }),
  InvalidConfig: entry({
    message: "Invalid config: {reason}.",
    when: { hint: { hint: "{hint}" } },
  }),
  ProjectNotFound: entry({
    message: 'No package.json found in "{directory:400}" or any parent folder.',
    when: {
      denoFile: {
        hint: 'Declare the packs in a package.json beside "{denoFile:400}"; there, set `"nodeModulesDir": "auto"`, then run `deno install`.',
      },
      "exists=false": { message: 'Folder "{directory:400}" does not exist.' },
      isTarget: {
        message: 'No package.json found in "{directory:400}".',
        hint: "Pass the folder of a pack, or the name of an installed one.",
      },
      exists: {
        hint: "Run this in a project, pass its folder with --cwd, or create a project with `npm init -y`.",
      },
    },
  }),
  MalformedPackageJson: entry({
    message: 'Invalid package.json in "{location:400}": {reason}.',
    hint: "Correct the file.",
    when: { "isSource=false": { hint: "Reinstall the package, or report this to its author." } },
  }),
  PackageJsonTooLarge: entry({
    message: 'The package.json in "{location:400}" has {bytes:count} bytes; the limit is {limit:count}.',
  }),
  /** `pattern`: the first one that is skipped. `others`: how many more are. */
  WorkspaceIncomplete: entry({
    severity: "warning",
    hint: "Use fewer and simpler patterns, such as packages/*.",
    when: {
      "cause=syntax": {
        message:
          'Skipped the workspace pattern "{pattern}"[ and {others:number} more]: only *, **, ? and {a,b} are supported, with two wildcards in a segment.',
      },
      "cause=folders": {
        message: "The search for workspace packages is incomplete: the limit is {limit:count} folders.",
      },
      "cause=bytes": {
        message: "The file is skipped: the limit is {limit:count} bytes.",
        hint: "Remove entries that pnpm does not need.",
      },
      "cause=malformed": {
        message: "The file is not valid YAML, so none of its packages are found, and it permits no skills.",
        hint: "Correct the file, which pnpm cannot read either.",
      },
    },
  }),
  /** Packages are in archives of Yarn Plug'n'Play, or in Deno's cache. */
  UnsupportedLayout: entry({
    when: {
      "layout=pnp": {
        message:
          "The project uses Yarn Plug'n'Play (\"{file:400}\"), so its packages are not in a node_modules folder.",
        hint: "Add `nodeLinker: node-modules` to .yarnrc.yml, then run `yarn install`.",
      },
      "layout=deno": {
        message:
          'The project uses Deno ("{file:400}") without a node_modules folder, so its packages are not in it.',
        hint: 'In deno.json, set `"nodeModulesDir": "auto"`, then run `deno install`.',
      },
    },
  }),
  AliasedPack: entry({
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
    severity: "warning",
    message: '{name}[ {version}] is not used; the copy[ {winner}] in "{location:400}" takes precedence.',
    hint: ({ name, manager = "npm" }) =>
      `Run \`${manager} ${manager === "npm" ? "ls" : "why"} ${quoteForShell(printable(name))}\` to see which package requires which version.`,
  }),
  ConfinementUnavailable: entry({
    severity: "warning",
    message: "This system cannot confine a pack's code while its definitions are read.",
    hint: "Pass --data-only to read definitions that are data and reject those that are code.",
    when: { required: { severity: "error" } },
  }),
  InvalidArguments: entry({
    message: "{reason:lines}.",
    when: { hint: { hint: "{hint:lines}" } },
  }),
  /** `what` is a sentence without its period; `reason` may have several lines. */
  FailsAsInstalled: entry({
    message: "{what}: {reason}.",
    hint: "Add what is missing to `dependencies` or `files`, and move work from module scope into the handler.",
    when: { hint: { hint: "{hint}" } },
  }),
  UnknownCode: entry({
    message: 'Unknown problem code "{code}".',
    hint: "Copy the code from the output of a command.",
    when: { nearest: { hint: "Did you mean {nearest:or}?" } },
  }),
  InternalError: entry({
    message: "Unexpected error: {reason:lines}",
    hint: "This is a bug in Trailblaze. Please report it together with the command that you ran.",
  }),
};
