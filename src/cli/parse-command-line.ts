import { parseArgs } from "node:util";
import type { CommandDescription, CommandInput } from "./command.ts";
import { commands, commonOptions } from "./commands.ts";

export interface ParsedCommandLine {
  command: CommandDescription;
  input: CommandInput;
}

/** What is wrong is said by modules that a correct command line does not pay for. */
async function fail(reason: string, hint: string): Promise<never> {
  const { failure } = await import("../problems/index.ts");
  throw failure("InvalidArguments", { reason, hint });
}

/** The process's folder, which may have been deleted under it. */
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
  const hint = nearest === undefined ? "trailblaze --help lists the commands." : `Did you mean "${nearest}"?`;
  return await fail(`There is no ${what} "${name}"`, hint);
}

/** Finds the command and reads its options. Throws `TrailblazeError` `InvalidArguments`. */
export async function parseCommandLine(name: string, args: readonly string[]): Promise<ParsedCommandLine> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return await failForUnknown(name);
  const help = `trailblaze ${name} --help shows how to use it.`;
  let parsed: { values: CommandInput["options"]; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...args],
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const [sentence = "The options cannot be read"] = (error as Error).message.split(". ");
    return await fail(sentence.replace(/\.$/, ""), help);
  }
  const [minimum, maximum] = command.positionals;
  const { positionals, values } = parsed;
  if (values.help !== true && positionals.length < minimum) {
    return await fail(`${name} needs ${command.usage}`, help);
  }
  const surplus = positionals[maximum];
  if (surplus !== undefined) return await fail(`"${surplus}" is one argument too many`, help);
  if (values.cwd === "") return await fail("--cwd names no folder", help);
  const cwd = typeof values.cwd === "string" ? values.cwd : await findCwd();
  return { command, input: { positionals, options: values, cwd } };
}
