import { isAbsolute, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Command, CommandInput } from "./command.ts";
import { commonOptions, type Options } from "./options.ts";

/** All commands, in the order of the help. The file of each is loaded when it is asked for by name. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  list: async () => (await import("./commands/list.ts")).command,
  inspect: async () => (await import("./commands/inspect.ts")).command,
  validate: async () => (await import("./commands/validate.ts")).command,
  explain: async () => (await import("./commands/explain.ts")).command,
  catalog: async () => (await import("./commands/catalog.ts")).command,
  tools: async () => (await import("./commands/session.ts")).tools,
  prompts: async () => (await import("./commands/session.ts")).prompts,
  call: async () => (await import("./commands/session.ts")).call,
  read: async () => (await import("./commands/session.ts")).read,
  run: async () => (await import("./commands/session.ts")).run,
  start: async () => (await import("./commands/start.ts")).command,
  login: async () => (await import("./commands/login.ts")).command,
  logout: async () => (await import("./commands/login.ts")).logout,
  doctor: async () => (await import("./commands/doctor.ts")).command,
  diff: async () => (await import("./commands/approve.ts")).diff,
  approve: async () => (await import("./commands/approve.ts")).command,
  init: async () => (await import("./commands/author.ts")).init,
  types: async () => (await import("./commands/author.ts")).types,
  docs: async () => (await import("./commands/author.ts")).docs,
  export: async () => (await import("./commands/author.ts")).exportServer,
  dev: async () => (await import("./commands/dev.ts")).command,
  import: async () => (await import("./commands/packages.ts")).importServers,
  install: async () => (await import("./commands/install.ts")).command,
  uninstall: async () => (await import("./commands/install.ts")).uninstall,
  clients: async () => (await import("./commands/install.ts")).clients,
  search: async () => (await import("./commands/search.ts")).command,
  add: async () => (await import("./commands/packages.ts")).add,
  remove: async () => (await import("./commands/packages.ts")).remove,
};

// The catalog is needed only for errors, so that a valid command line does not load it.
async function fail(reason: string, hint: string): Promise<never> {
  const { failure } = await import("../problems/index.ts");
  throw failure("InvalidArguments", { reason, hint });
}

/** The process's folder. Throws `ProjectNotFound` if it has been deleted. */
async function findCwd(): Promise<string> {
  try {
    return process.cwd();
  } catch {
    const { failure } = await import("../problems/index.ts");
    throw failure("ProjectNotFound", { directory: ".", exists: false });
  }
}

async function failForUnknown(name: string): Promise<never> {
  const { findNearestNames } = await import("../qualified-names/nearest-names.ts");
  const [nearest] = findNearestNames(name, Object.keys(commands));
  const what = name.startsWith("-") ? "option" : "command";
  const hint =
    nearest === undefined
      ? "Run `trailblaze --help` for the list of commands. Options follow the command."
      : `Did you mean "${nearest}"?`;
  return await fail(`Unknown ${what} "${name}"`, hint);
}

/** How many words of a pattern each form of the usage has. */
const countWords = (usage: string, pattern: RegExp): number[] =>
  usage.split(" | ").map((form) => form.match(pattern)?.length ?? 0);

function findOptionFault(declared: Options, values: Readonly<Record<string, unknown>>): string | undefined {
  const isGiven = (name: string) => values[name] !== undefined;
  for (const [name, option] of Object.entries(declared)) {
    if (!isGiven(name)) continue;
    const { choices, least, placeholder, needs, excludes = [], multiple } = option;
    const text = String(values[name]);
    const isTaken =
      least === undefined
        ? (choices?.includes(text) ?? (text !== "" || multiple))
        : /^\d{1,15}$/.test(text) && Number(text) >= least;
    const wanted =
      least === undefined ? (choices?.join(", ") ?? placeholder) : `an integer of at least ${least}`;
    if (!isTaken) return `--${name} requires ${wanted}, not "${text}"`;
    if (needs?.some(isGiven) === false) return `--${name} requires --${needs.join(" or --")}`;
    const other = excludes.find(isGiven);
    if (other !== undefined) return `--${name} and --${other} cannot be combined`;
  }
  return undefined;
}

/** Without `--cwd`, it runs in `folder`. Throws `TrailblazeError` `InvalidArguments`. */
export async function parseCommandLine(name: string, args: readonly string[], folder: string | undefined) {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) return await failForUnknown(name);
  const command = await load();
  const help = `Run \`trailblaze ${name} --help\` for usage.`;
  const { usage } = command;
  const declared: Options = { ...commonOptions, ...command.options };
  const written = args.map((arg) => {
    const option = arg.startsWith("--") ? arg.slice(2) : "";
    const bare = Object.hasOwn(declared, option) ? declared[option]?.bare : undefined;
    return bare === undefined ? arg : `${arg}=${bare}`;
  });
  let parsed: { values: Readonly<Record<string, unknown>>; positionals: string[] };
  try {
    parsed = parseArgs({ args: written, options: declared, allowPositionals: true, strict: true });
  } catch (error) {
    const [sentence = "Invalid options"] = (error as Error).message.split(". ");
    return await fail(sentence.replace(/\.$/, ""), help);
  }
  const minimum = Math.min(...countWords(usage, /<[^>]+>/g));
  const maximum = Math.max(...countWords(usage, /<[^>]+>|\[[^\]]+\]/g));
  const { positionals, values } = parsed;
  const fault =
    values.help === true
      ? undefined
      : positionals.length < minimum
        ? `Missing arguments: trailblaze ${name} ${usage}`
        : findOptionFault(declared, values);
  if (fault !== undefined) return await fail(fault, help);
  const surplus = usage.includes("...") ? undefined : positionals[maximum];
  if (surplus !== undefined) return await fail(`Unexpected argument "${surplus}"`, help);
  const read = Object.entries(declared).map(([option, { type, least }]) => {
    const value = values[option];
    if (type === "boolean") return [option, value === true];
    return [option, least === undefined || value === undefined ? value : Number(value)];
  });
  const options: CommandInput["options"] = Object.fromEntries(read);
  const { cwd: target = "" } = options;
  // A deleted folder matters only where something is relative to it.
  const cwd = isAbsolute(target) ? target : resolve(folder ?? (await findCwd()), target);
  const input: CommandInput = { positionals, options, cwd };
  return { command, input };
}
