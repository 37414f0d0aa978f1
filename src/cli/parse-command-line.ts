import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Command, CommandInput } from "./command.ts";
import { commands } from "./commands.ts";
import { commonOptions } from "./options.ts";

export interface ParsedCommandLine {
  command: Command;
  input: CommandInput;
}

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
      ? "Run `trailblaze --help` for the list of commands."
      : `Did you mean "${nearest}"?`;
  return await fail(`Unknown ${what} "${name}"`, hint);
}

/** How many arguments a usage allows besides options. */
function countArguments(usage: string): { minimum: number; maximum: number } {
  const counts = usage.split(" | ").map((form) => {
    const required = form.match(/<[^>]+>/g)?.length ?? 0;
    const optional = form.match(/\[[^\]]+\]/g)?.length ?? 0;
    const maximum = form.includes("...") ? Number.POSITIVE_INFINITY : required + optional;
    return { minimum: required, maximum };
  });
  return {
    minimum: Math.min(...counts.map(({ minimum }) => minimum)),
    maximum: Math.max(...counts.map(({ maximum }) => maximum)),
  };
}

/** Finds the command and reads its options. Without `--cwd`, it runs in `folder`. Throws `TrailblazeError` `InvalidArguments`. */
export async function parseCommandLine(
  name: string,
  args: readonly string[],
  folder?: string,
): Promise<ParsedCommandLine> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) return await failForUnknown(name);
  const { command } = await load();
  const help = `Run \`trailblaze ${name} --help\` for usage.`;
  const { options: own, usage } = command;
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const written = args.map((arg, index) => {
    const name = arg.slice(2);
    const bare =
      index < end && arg.startsWith("--") && Object.hasOwn(own, name) ? own[name]?.bare : undefined;
    return bare === undefined ? arg : `${arg}=${bare}`;
  });
  let parsed: { values: CommandInput["options"]; positionals: string[] };
  try {
    parsed = parseArgs({
      args: written,
      options: { ...commonOptions, ...own },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const [sentence = "Invalid options"] = (error as Error).message.split(". ");
    return await fail(sentence.replace(/\.$/, ""), help);
  }
  const { minimum, maximum } = countArguments(usage);
  const { positionals, values } = parsed;
  if (values.help !== true && positionals.length < minimum) {
    return await fail(`Missing arguments: trailblaze ${name} ${usage}`, help);
  }
  const surplus = positionals[maximum];
  if (surplus !== undefined) return await fail(`Unexpected argument "${surplus}"`, help);
  for (const [option, value] of Object.entries(values)) {
    const { choices, least } = own[option] ?? {};
    const text = String(value);
    const isInteger = /^\d{1,15}$/.test(text) && Number(text) >= (least ?? 0);
    const wanted = least === undefined ? choices?.join(", ") : `an integer of at least ${least}`;
    const isTaken = least === undefined ? choices?.includes(text) : isInteger;
    if (wanted !== undefined && !isTaken && values.help !== true)
      return await fail(`--${option} requires ${wanted}, not "${text}"`, help);
  }
  if (values.cwd === "") return await fail("--cwd requires a folder", help);
  const given = typeof values.cwd === "string" ? values.cwd : undefined;
  const cwd = folder === undefined ? (given ?? (await findCwd())) : resolve(folder, given ?? "");
  return { command, input: { positionals, options: values, cwd } };
}
