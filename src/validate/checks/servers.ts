import { isRecord } from "../../data/parse-json.ts";
import { installedKeys } from "../../discovery/project.ts";
import { isModulePath } from "../../extension-schema/references.ts";
import { findPackageProgram, suggestPackage } from "../../inspection/server-package.ts";
import { type Path, quote } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";
import { findServerPaths } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";
import { hasKey } from "./modules.ts";

/** Launchers, interpreters and container tools that servers commonly use. Validation does not look for them. */
const knownPrograms =
  /^(?:node|npm|npx|pnpm|pnpx|yarn|bunx?|deno|corepack|python[\d.]*|py|uvx?|pipx|poetry|conda|docker|podman|nerdctl|java|dotnet|dnx|go|cargo|ruby|bundle|php|perl|rscript|sh|bash|zsh|dash|fish|cmd|powershell|pwsh|env|wsl|nix)$/;

const interpreters =
  /^(?:node|bun|deno|python[\d.]*|ruby|php|perl|sh|bash|zsh|dash|fish|cmd|powershell|pwsh)$/;
const codeOption = /^(?:-[a-z]*[cep]|--eval|--print|-command|\/c)$/i;

/** `${NAME}`, `${NAME:-default}` and similar references of clients, such as `${env:NAME}`. `$${` is none. */
const variable = /(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)(:[^{}]*)?\}/;

const programName = (command: string) =>
  command
    .replace(/^.*[/\\]/, "")
    .replace(/\.(?:exe|cmd|bat|ps1)$/i, "")
    .toLowerCase();

function* findServers({ inspected }: PackUnderTest) {
  for (const item of inspected.items)
    if (item.shape === "subprocessServer" && item.definition !== null) yield [item, item.definition] as const;
}

/**
 * Checks that `command` is a program that a host finds: without arguments, and not a command of a dependency, which
 * is not in the PATH.
 */
export const checkServerCommands: Check = function* (pack) {
  for (const [item, { command, args }] of findServers(pack)) {
    if (typeof command !== "string" || command === "" || isModulePath(command) || variable.test(command))
      continue;
    const refuse = (reason: string, hint: string) =>
      findInItem(item, "InvalidServerDefinition", { reason, hint }, ["command"]);
    const [program = "", ...words] = command.trim().split(/\s+/);
    if (/\s/.test(command) && !/[/\\]/.test(program)) {
      const list = [...words, ...(Array.isArray(args) ? args.map(String) : [])].map((one) => quote(one, 80));
      yield refuse(
        `\`command\` is ${quote(command, 200)}, but it must be a program without arguments`,
        `Set \`command\` to ${quote(program)}${list.length === 0 ? "" : ` and \`args\` to [${list.join(", ")}]`}.`,
      );
      continue;
    }
    if (knownPrograms.test(programName(command))) continue;
    const dependency = pack.findCommandOwner(command);
    if (dependency !== undefined)
      yield refuse(
        `${quote(command)} is a command of the dependency ${quote(dependency)}, which is not looked up in node_modules/.bin`,
        suggestPackage(dependency, command),
      );
    else {
      const reason = "programs outside the package depend on the machine";
      yield findInItem(item, "HandlerUnchecked", { handler: command, reason }, ["command"]);
    }
  }
};

/** The strings of a subprocess server in which clients expand variables, with their paths. */
function* findExpandable({
  command,
  args,
  env,
  cwd,
}: Readonly<Record<string, unknown>>): Generator<[written: unknown, path: Path]> {
  yield [command, ["command"]];
  const list: unknown[] = Array.isArray(args) ? args : [];
  const runsCode = interpreters.test(programName(String(command)));
  for (const [index, one] of list.entries())
    if (!runsCode || !codeOption.test(String(list[index - 1]))) yield [one, ["args", index]];
  for (const [name, one] of isRecord(env) ? Object.entries(env) : []) yield [one, ["env", name]];
  yield [cwd, ["cwd"]];
}

/** Finds variables in the definitions of subprocess servers, which a server would get as written. */
export const checkVariables: Check = function* (pack) {
  for (const [item, definition] of findServers(pack))
    for (const [written, path] of findExpandable(definition)) {
      const [found, name] = (typeof written === "string" && variable.exec(written)) || [];
      if (found === undefined || name === undefined) continue;
      // Others are those of editors: `${input:token}`, `${workspaceFolder}`.
      const isOfHost = /^\$\{(?:env:)?[A-Z_\d]+(?::-[^}]*)?\}$/.test(found);
      const args = { variable: found, name: isOfHost ? name : undefined };
      yield findInItem(item, "UnexpandedVariable", args, path);
    }
};

export const checkServerPrograms: Check = async function* (pack) {
  for (const [item] of findServers(pack))
    for (const { written, file, path } of findServerPaths(item)) {
      // The check of variables reports it.
      if (variable.test(written)) continue;
      const kind = pack.files.kindOf(file);
      const refuse = (reason: string, hint?: string) =>
        findInItem(item, "HandlerNotFound", { handler: written, isProgram: true, reason, hint }, path);
      if (kind === "outside") yield findInItem(item, "DefinitionOutsidePackage", { what: written }, path);
      else if (path[0] === "cwd") {
        const reason = `\`cwd\` must be a folder, but ${quote(file)} is not a folder of the package`;
        if (kind !== "folder") yield findInItem(item, "InvalidServerDefinition", { reason }, path);
      } else if (kind === "file") {
        const failing = await pack.findFailingImport(file);
        if (failing !== undefined) yield refuse(failing.reason, failing.hint);
      } else if (kind === "absent") {
        const hasArguments = path[0] === "command" && /\s/.test(written);
        const hint = hasArguments ? "Put arguments into `args`." : pack.files.hintForMissing(file);
        yield refuse(`the package has no file ${quote(file)}`, hint);
      } else yield refuse(`${quote(file)} is not a regular file`);
    }
};

/** Checks that the package of a subprocess server is a dependency with the command, and that `command` is none's. */
export const checkServerPackages: Check = async function* (pack) {
  const { value: manifest } = pack.inspected.manifest;
  for (const [item, { package: name, bin }] of findServers(pack)) {
    if (typeof name !== "string") continue;
    const named = { package: name, bin: typeof bin === "string" ? bin : undefined };
    const program = findPackageProgram(pack.port, pack.inspected.pack.location, named);
    const declared = installedKeys.find((key) => hasKey(manifest[key], name));
    if (declared === undefined) {
      const isDev = hasKey(manifest.devDependencies, name);
      const args = { name, isDev, isServer: true };
      yield findInItem(item, "UndeclaredDependency", args, ["package"]);
    } else if (program.state === "notInstalled") {
      const isDeclared = declared !== "peerDependencies";
      const args = { name, label: item.qualifiedName, isDeclared, manager: await pack.manager() };
      yield findInItem(item, "ServerPackageNotInstalled", args, ["package"]);
    } else if (program.state === "unusable") {
      const { key, reason, hint } = program;
      yield findInItem(item, "InvalidServerDefinition", { reason, hint }, [key]);
    }
  }
};

/** Checks that `needs.env`, if it is declared, has every variable that servers take from the host's environment. */
export const checkNeededVariables: Check = function* (pack) {
  const { env } = pack.inspected.extension.needs ?? {};
  if (env === undefined) return;
  const declared = new Set(env);
  for (const [item, { envPassthrough: names }] of findServers(pack))
    for (const [index, name] of Array.isArray(names) ? names.entries() : []) {
      if (typeof name !== "string" || declared.has(name)) continue;
      yield findInItem(item, "NeedsExceeded", { name }, ["envPassthrough", index]);
    }
};
