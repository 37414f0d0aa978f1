import { isRecord } from "../../data/parse-json.ts";
import { suggestPackage } from "../../inspection/server-package.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Path, printable, quote } from "../../problems/index.ts";
import { isRelativePath } from "../facts/needed-files.ts";
import { type Check, findInItem } from "../finding.ts";

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
function findOwnScript(
  { name, bin }: Readonly<Record<string, unknown>>,
  command: string,
): string | undefined {
  const own = isRecord(bin) ? (Object.hasOwn(bin, command) ? bin[command] : undefined) : bin;
  const isNamed = isRecord(bin) || (typeof name === "string" && name.replace(/^@[^/]+\//, "") === command);
  return isNamed && typeof own === "string" ? `./${own.replace(/^\.\//, "")}` : undefined;
}

/**
 * Checks that `command` of a subprocess server is not the command of the package or of a dependency, which are not in the
 * PATH.
 */
export const checkDependencyCommands: Check = function* ({ inspected, dependencyCommands }) {
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
    const dependency = dependencyCommands().get(command);
    if (dependency === undefined) continue;
    const reason = `${quote(command)} is a command of the dependency ${quote(dependency)}, which is not looked up in node_modules/.bin`;
    const hint = suggestPackage(dependency, command);
    yield findInItem(item, "InvalidServerDefinition", { reason, hint }, ["command"]);
  }
};

/** Checks the programs of subprocess servers that are not files of the package. */
export const checkServerCommands: Check = function* ({ inspected, dependencyCommands }) {
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
      !dependencyCommands().has(command) &&
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

/** Whether a string has a variable that clients would expand and Trailblaze does not. */
export const hasVariable = (written: string): boolean => variable.test(written);

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
