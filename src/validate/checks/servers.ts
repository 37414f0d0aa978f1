import { isRecord } from "../../data/parse-json.ts";
import { installedKeys } from "../../discovery/project.ts";
import { replaceBackslashes } from "../../extension-schema/references.ts";
import type { PathKind } from "../../files/inspection-port.ts";
import { suggestPackage } from "../../inspection/server-package.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Path, printable, quote } from "../../problems/index.ts";
import { readBins } from "../../qualified-names/reserved-commands.ts";
import { type Check, findInItem } from "../finding.ts";
import { findNearestFile, hintForSource } from "../modules/imports.ts";
import { isRelativePath, type NeededPath } from "../needed-files.ts";
import { backslashReason } from "./handlers.ts";
import { findPackage, hasKey } from "./imports.ts";

/** Launchers, interpreters and container tools that servers commonly use. Validation does not look for them. */
const knownPrograms =
  /^(?:node|npm|npx|pnpm|pnpx|yarn|bunx?|deno|corepack|python[\d.]*|py|uvx?|pipx|poetry|conda|docker|podman|nerdctl|java|dotnet|dnx|go|cargo|ruby|bundle|php|perl|rscript|sh|bash|zsh|dash|fish|cmd|powershell|pwsh|env|wsl|nix)$/;

/** Programs that run code from their arguments. */
const interpreters =
  /^(?:node|bun|deno|python[\d.]*|ruby|php|perl|sh|bash|zsh|dash|fish|cmd|powershell|pwsh)$/;
const codeOption = /^(?:-[a-z]*[cep]|--eval|--print|-command|\/c)$/i;

/** `${NAME}`, `${NAME:-default}` and similar references of clients, such as `${env:NAME}`. `$${` is none. */
const variable = /(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)(:[^{}]*)?\}/;
/** Variables that editors define. */
const editorVariable = /^(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator)$/;

/** The name of a program without its folders and its Windows extension. */
const programName = (command: string) =>
  command
    .replace(/^.*[/\\]/, "")
    .replace(/\.(?:exe|cmd|bat|ps1)$/i, "")
    .toLowerCase();

const listArguments = ({ args }: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(args) ? args.filter((one) => typeof one === "string") : [];

/** A hint to use this program with these arguments. */
function hintForCommand(program: string, args: readonly string[]): string {
  const list = args.map((one) => quote(one, 80)).join(", ");
  return `Set \`command\` to ${quote(program)}${args.length === 0 ? "" : ` and \`args\` to [${list}]`}.`;
}

/** Splits a command line at white space outside of quotes. */
const splitCommand = (command: string): string[] =>
  (command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));

/** The file that a command of the package runs; `undefined` if the package has no such command. */
function findOwnScript(manifest: Readonly<Record<string, unknown>>, command: string): string | undefined {
  const name = typeof manifest.name === "string" ? manifest.name : "";
  const file = readBins(name, manifest).get(command);
  return file === undefined ? undefined : `./${file.replace(/^\.\//, "")}`;
}

/**
 * Checks that `command` of a subprocess server is not the command of the package or of a dependency, which are not in the
 * PATH.
 */
export const checkDependencyCommands: Check = function* ({ inspected, findCommandOwner }) {
  for (const item of inspected.items) {
    const command = item.shape === "subprocessServer" ? item.definition?.command : undefined;
    if (typeof command !== "string" || knownPrograms.test(programName(command))) continue;
    const script = findOwnScript(inspected.manifest.value, command);
    if (script !== undefined) {
      const reason = `${quote(command)} is a command of the package itself, which is not looked up in node_modules/.bin`;
      const hint = `Replace \`command\` with \`script: ${printable(script)}\`.`;
      yield findInItem(item, "InvalidServerDefinition", { reason, hint }, ["command"]);
      continue;
    }
    const dependency = findCommandOwner(command);
    if (dependency === undefined) continue;
    const reason = `${quote(command)} is a command of the dependency ${quote(dependency)}, which is not looked up in node_modules/.bin`;
    const hint = suggestPackage(dependency, command);
    yield findInItem(item, "InvalidServerDefinition", { reason, hint }, ["command"]);
  }
};

/** Checks the programs of subprocess servers that are not files of the package. */
export const checkServerCommands: Check = function* ({ inspected, findCommandOwner }) {
  for (const item of inspected.items) {
    const { shape, definition } = item;
    const command = definition?.command;
    if (shape !== "subprocessServer" || definition === null || typeof command !== "string") continue;
    if (command === "" || isRelativePath(command) || variable.test(command)) continue;
    const [program = "", ...words] = splitCommand(command);
    const args = listArguments(definition);
    if (/\s/.test(command) && !/[/\\]/.test(program)) {
      const reason = `\`command\` is ${quote(command, 200)}, but it must be a program without arguments`;
      const hint = hintForCommand(program, [...words, ...args]);
      yield findInItem(item, "InvalidServerDefinition", { reason, hint }, ["command"]);
    } else if (
      !knownPrograms.test(programName(command)) &&
      findCommandOwner(command) === undefined &&
      findOwnScript(inspected.manifest.value, command) === undefined
    ) {
      const reason = "programs outside the package depend on the machine";
      yield findInItem(item, "HandlerUnchecked", { handler: command, reason }, ["command"]);
    }
  }
};

/** The strings of a subprocess server in which clients expand variables, with their paths. */
function* findExpandable({ definition }: InspectedItem): Generator<[written: string, path: Path]> {
  const { command, env, cwd } = definition ?? {};
  if (typeof command === "string") yield [command, ["command"]];
  const args: unknown[] = Array.isArray(definition?.args) ? definition.args : [];
  const runsCode = typeof command === "string" && interpreters.test(programName(command));
  for (const [index, one] of args.entries()) {
    const isCode = runsCode && codeOption.test(String(args[index - 1]));
    if (typeof one === "string" && !isCode) yield [one, ["args", index]];
  }
  for (const [name, one] of isRecord(env) ? Object.entries(env) : []) {
    if (typeof one === "string") yield [one, ["env", name]];
  }
  if (typeof cwd === "string") yield [cwd, ["cwd"]];
}

/** Finds variables in the definitions of subprocess servers, which a server would get as written. */
export const checkVariables: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    if (item.shape !== "subprocessServer") continue;
    for (const [written, path] of findExpandable(item)) {
      const [found, name] = variable.exec(written) ?? [];
      if (found === undefined || name === undefined) continue;
      const isOfHost = !/^\$\{(?!env:)\w+:(?!-)/.test(found) && !editorVariable.test(name);
      const args = { variable: found, name: isOfHost ? name : undefined };
      yield findInItem(item, "UnexpandedVariable", args, path);
    }
  }
};

function describeMismatch({ location, wanted }: NeededPath, kind: PathKind | undefined): string {
  if (kind === "absent") return `the package has no ${wanted} ${quote(location)}`;
  return `${quote(location)} is ${kind === "folder" ? "a folder, not a file" : `not a regular ${wanted}`}`;
}

/** Checks that the program and the working folder of a subprocess server exist inside the package. */
export const checkServerPrograms: Check = async function* (pack) {
  for (const [item, needed] of pack.paths()) {
    for (const one of needed) {
      const { written, location, wanted, path, kind } = one;
      // The check of variables reports it.
      if (variable.test(written)) continue;
      const meant = replaceBackslashes(written);
      if (meant !== undefined) {
        const hint = `Did you mean ${quote(meant, 200)}?`;
        const reason = backslashReason;
        yield wanted === "folder"
          ? findInItem(item, "InvalidServerDefinition", { reason: `\`cwd\` is wrong: ${reason}`, hint }, path)
          : findInItem(item, "HandlerNotFound", { handler: written, reason, hint, isProgram: true }, path);
        continue;
      }
      if (kind === wanted) {
        const failing = await pack.findFailingImport(location);
        const args = { handler: written, isProgram: true };
        if (failing !== undefined) yield findInItem(item, "HandlerNotFound", { ...args, ...failing }, path);
        continue;
      }
      if (kind === "outside") {
        yield findInItem(item, "DefinitionOutsidePackage", { what: written }, path);
      } else if (wanted === "folder") {
        const reason = `\`${path.join(".")}\` must be a folder, but ${describeMismatch(one, kind)}`;
        yield findInItem(item, "InvalidServerDefinition", { reason }, path);
      } else {
        const reason = describeMismatch(one, kind);
        const { nearest, source } = (kind === "absent" && findNearestFile(pack.files, location)) || {};
        const suggestion = nearest === undefined ? undefined : `Did you mean ${quote(`./${nearest}`, 200)}?`;
        const hasArguments = path[0] === "command" && /\s/.test(written);
        const split = hasArguments ? "Put arguments into `args`." : undefined;
        // A file of a dependency, as an import would name it.
        const owner = path[0] === "script" ? findPackage(location) : undefined;
        const ofDependency =
          owner !== undefined && pack.dependencies().has(owner)
            ? suggestPackage(owner, undefined, "script")
            : undefined;
        const hint = source === undefined ? (suggestion ?? ofDependency ?? split) : hintForSource(source);
        yield findInItem(item, "HandlerNotFound", { handler: written, reason, hint, isProgram: true }, path);
      }
    }
  }
};

/** Checks that the package of a subprocess server is a dependency with the command, and that `command` is none's. */
export const checkServerPackages: Check = async function* (pack) {
  const { inspected, serverPackages } = pack;
  const manifest = inspected.manifest.value;
  for (const [item, program] of serverPackages()) {
    const name = String(item.definition?.package);
    const [key] = installedKeys.filter((one) => hasKey(manifest[one], name));
    if (key === undefined) {
      const isDev = hasKey(manifest.devDependencies, name);
      const args = { name, specifier: name, isGuarded: false, isDev, others: 0 };
      yield findInItem(item, "UndeclaredDependency", { ...args, isServer: true }, ["package"]);
    } else if (program.state === "notInstalled") {
      const isDeclared = key !== "peerDependencies";
      const args = { name, label: item.qualifiedName, isDeclared, manager: await pack.manager() };
      yield findInItem(item, "ServerPackageNotInstalled", args, ["package"]);
    } else if (program.state === "unusable") {
      const { key, reason, hint } = program;
      yield findInItem(item, "InvalidServerDefinition", { reason, hint }, [key]);
    }
  }
};

/** Checks that `needs.env`, if it is declared, has every variable that servers take from the host's environment. */
export const checkNeededVariables: Check = function* ({ inspected }) {
  const { needs } = inspected.extension;
  if (needs?.env === undefined) return;
  const declared = new Set(needs.env);
  for (const item of inspected.items) {
    const names = item.shape === "subprocessServer" ? item.definition?.envPassthrough : undefined;
    for (const [index, name] of Array.isArray(names) ? names.entries() : []) {
      if (typeof name !== "string" || declared.has(name)) continue;
      yield findInItem(item, "NeedsExceeded", { name }, ["envPassthrough", index]);
    }
  }
};
