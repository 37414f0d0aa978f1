import { parseArgs } from "node:util";
import type { CommandDescription, CommandInput, OptionDescription } from "./command.ts";
import { commands, commonOptions } from "./commands.ts";

export interface ParsedCommandLine {
  command: CommandDescription;
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

/** Finds the command and reads its options. Throws `TrailblazeError` `InvalidArguments`. */
export async function parseCommandLine(name: string, args: readonly string[]): Promise<ParsedCommandLine> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return await failForUnknown(name);
  const help = `Run \`trailblaze ${name} --help\` for usage.`;
  const own: Readonly<Record<string, OptionDescription>> = command.options;
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
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const [sentence = "Invalid options"] = (error as Error).message.split(". ");
    return await fail(sentence.replace(/\.$/, ""), help);
  }
  const [minimum, maximum] = command.positionals;
  const { positionals, values } = parsed;
  if (values.help !== true && positionals.length < minimum) {
    return await fail(`Missing arguments: trailblaze ${name} ${command.usage}`, help);
  }
  const surplus = positionals[maximum];
  if (surplus !== undefined) return await fail(`Unexpected argument "${surplus}"`, help);
  if (values.cwd === "") return await fail("--cwd requires a folder", help);
  const cwd = typeof values.cwd === "string" ? values.cwd : await findCwd();
  return { command, input: { positionals, options: values, cwd } };
}
