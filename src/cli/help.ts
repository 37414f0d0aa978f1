import type { OptionDescription } from "./command.ts";
import { commands, commonOptions } from "./commands.ts";

/** Two columns, the first as wide as its longest entry. */
function formatColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}

function formatOption(
  name: string,
  { short, placeholder, description }: OptionDescription,
): [string, string] {
  const dashes = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return [placeholder === undefined ? dashes : `${dashes} ${placeholder}`, description];
}

const formatOptions = (options: Readonly<Record<string, OptionDescription>>) =>
  formatColumns(Object.entries(options).map(([name, option]) => formatOption(name, option)));

/** The help of the whole command. */
export function formatHelp(version: string): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const);
  return [
    `trailblaze ${version}: tools for AI agents from the npm packages you have installed`,
    "",
    "Usage: trailblaze <command> [options]",
    "",
    formatColumns(rows),
    "",
    "trailblaze <command> --help shows a command's options.",
    "",
    "Exit codes: 0 done; 1 done, with errors, or the target is missing; 2 arguments or config unusable.",
  ].join("\n");
}

/** The help of one command. */
export function formatCommandHelp(name: string): string {
  const command = commands[name];
  if (command === undefined) return "";
  return [
    command.summary,
    "",
    `Usage: ${["trailblaze", name, command.usage, "[options]"].filter((word) => word !== "").join(" ")}`,
    "",
    formatOptions({ ...command.options, ...commonOptions }),
  ].join("\n");
}
