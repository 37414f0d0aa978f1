// What shells offer for a word that is being typed. The scripts of `trailblaze completion` run it as `trailblaze __complete`.
import { parseArgs } from "node:util";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import type { CommandDescription, OptionDescription } from "./command.ts";
import { commands, commonOptions } from "./commands.ts";

/** A name from a pack or a config is offered only if no shell gives any of its characters a meaning. */
const plainName = /^@?[A-Za-z0-9][A-Za-z0-9._/@-]*$/;

type Source = () => Promise<readonly string[]>;

/** What finds the names that can take the place of a word in a command's usage. Trust level: discovery; starts nothing. */
function createSources(cwd: string): ReadonlyMap<string, readonly Source[]> {
  const findInstalled = async () => {
    const { findPacks } = await import("../discovery/find-packs.ts");
    const { createNodeDiscoveryPort } = await import("../files/node-discovery-port.ts");
    const { packs } = await findPacks(createNodeDiscoveryPort(), { cwd });
    return packs.map(({ pack }) => pack).filter(({ shadowed }) => !shadowed);
  };
  const items = (ofKinds: readonly Kind[]) => async () =>
    (await findInstalled()).flatMap((pack) =>
      ofKinds.flatMap((kind) => pack[keyOfKind[kind]].map(({ qualifiedName }) => qualifiedName)),
    );
  const builtIns = (kind: Kind) => async () => {
    const { listBuiltIns } = await import("../session/list-built-ins.ts");
    return (await listBuiltIns({ cwd })).items.filter((item) => item.kind === kind).map(({ name }) => name);
  };
  return new Map([
    ["pack", [async () => (await findInstalled()).map(({ name }) => name)]],
    ["publisher/pack/item", [items(kinds)]],
    ["tool", [items(["tool"]), builtIns("tool")]],
    ["server", [items(["server"]), builtIns("server")]],
    ["client", [async () => (await import("../install/clients/index.ts")).clients.map(({ id }) => id)]],
    ["code", [async () => Object.keys((await import("../problems/index.ts")).catalog)]],
  ]);
}

/** The words between the brackets of the usage at one position: `server` and `pack` for `[server|pack]`. */
function readUsage({ usage, positionals: [, maximum] }: CommandDescription, position: number): string[] {
  if (position >= maximum) return [];
  const places = [...usage.matchAll(/[<[]([^>\]]+)[>\]]/g)].map(([, words = ""]) => words);
  const place = places[position] ?? places.at(-1) ?? "";
  return place.replace(/\.\.\.$/, "").split("|");
}

async function findArguments(command: CommandDescription, position: number, cwd: string): Promise<string[]> {
  const sources = createSources(cwd);
  const used = readUsage(command, position).flatMap((word) => sources.get(word) ?? []);
  // A broken config does not hide the packs.
  const found = await Promise.all(used.map((source) => source().catch(() => [])));
  const values = position === 0 ? (command.values ?? []) : [];
  return [...values, ...new Set(found.flat().filter((name) => plainName.test(name)))];
}

const describe = (name: string, description: string) => `${name}\t${description}`;

/** Options that have not been given, or can be given again. */
function listOptions(options: Readonly<Record<string, OptionDescription>>, given: ReadonlySet<string>) {
  return Object.entries(options)
    .filter(([name, { multiple }]) => multiple === true || !given.has(name))
    .map(([name, { description }]) => describe(`--${name}`, description));
}

async function findCandidates(previous: readonly string[], current: string): Promise<string[]> {
  const [name, ...args] = previous;
  if (name === undefined || (name === "help" && args.length === 0))
    return Object.entries(commands).map(([command, { summary }]) => describe(command, summary));
  if (!Object.hasOwn(commands, name)) return [];
  const command = commands[name] as CommandDescription;
  const options: Readonly<Record<string, OptionDescription>> = { ...command.options, ...commonOptions };
  const { tokens, values } = parseArgs({
    args,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const valuesOf = (option: string) =>
    Object.hasOwn(options, option) ? (options[option]?.values ?? []) : [];
  const last = tokens.at(-1);
  const isWaiting = last?.kind === "option" && last.value === undefined && Object.hasOwn(options, last.name);
  if (isWaiting && options[last.name]?.type === "string") return [...valuesOf(last.name)];
  if (!tokens.some(({ kind }) => kind === "option-terminator")) {
    const [, option] = /^--([^=]+)=/.exec(current) ?? [];
    if (option !== undefined) return valuesOf(option).map((value) => `--${option}=${value}`);
    const given = new Set(tokens.map((token) => (token.kind === "option" ? token.name : "")));
    if (current.startsWith("-")) return listOptions(options, given);
  }
  const position = tokens.filter(({ kind }) => kind === "positional").length;
  return await findArguments(command, position, typeof values.cwd === "string" ? values.cwd : process.cwd());
}

/**
 * The words that the current word can become, one for each line of the answer. A description of this table follows behind a tab;
 * names from packs have none. Without an answer, shells complete paths.
 */
export async function complete(previous: readonly string[], current: string): Promise<string[]> {
  return (await findCandidates(previous, current)).filter((candidate) => candidate.startsWith(current));
}
