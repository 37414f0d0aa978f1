import { parseArgs } from "node:util";
import { failure } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { CommandDescription, CommandInput } from "./command.ts";
import { commands, commonOptions } from "./commands.ts";

export interface ParsedCommandLine {
  name: string;
  command: CommandDescription;
  input: CommandInput;
}

function unusable(reason: string, hint?: string) {
  return failure("InvalidArguments", hint === undefined ? { reason } : { reason, hint });
}

/** Finds the command and reads its options. Throws `TrailblazeError` `InvalidArguments`. */
export function parseCommandLine(
  name: string,
  args: readonly string[],
  processCwd: string,
): ParsedCommandLine {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const [nearest] = findNearestNames(name, Object.keys(commands));
    const what = name.startsWith("-") ? "option" : "command";
    const hint =
      nearest === undefined ? "trailblaze --help lists the commands." : `Did you mean "${nearest}"?`;
    throw unusable(`There is no ${what} "${name}"`, hint);
  }
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
    throw unusable(sentence.replace(/\.$/, ""), help);
  }
  const [minimum, maximum] = command.positionals;
  const { positionals, values } = parsed;
  if (values.help !== true && positionals.length < minimum) {
    throw unusable(`${name} needs ${command.usage}`, help);
  }
  const surplus = positionals[maximum];
  if (surplus !== undefined) throw unusable(`"${surplus}" is one argument too many`, help);
  const cwd = typeof values.cwd === "string" ? values.cwd : processCwd;
  return { name, command, input: { positionals, options: values, cwd } };
}
