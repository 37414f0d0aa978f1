import type { Command } from "./command.ts";
import { formatColumns, wrap } from "./layout.ts";
import { commonOptions, type Option } from "./options.ts";
import { commands } from "./parse-command-line.ts";

function formatOption([name, option]: [string, Option]): [string, string] {
  const { short, placeholder, bare, description } = option;
  const dashes = short === undefined ? `      --${name}` : `  -${short}, --${name}`;
  const value = bare === undefined ? ` ${placeholder}` : `[=${placeholder}]`;
  return [placeholder === undefined ? dashes : `${dashes}${value}`, description];
}

export async function formatHelp(version: string, width?: number): Promise<string> {
  const rows: [name: string, summary: string][] = [];
  for (const [name, load] of Object.entries(commands)) rows.push([`  ${name}`, (await load()).summary]);
  return [
    wrap(`trailblaze ${version}: tools for AI agents from installed npm packages`, width),
    "",
    "Usage: trailblaze <command> [options]",
    "",
    formatColumns(rows, width),
    "",
    wrap("Run `trailblaze <command> --help` for the options of a command.", width),
  ].join("\n");
}

export function formatCommandHelp(name: string, command: Command, width?: number): string {
  const usage = ["trailblaze", name, command.usage, "[options]"].filter((word) => word !== "").join(" ");
  const options = Object.entries({ ...command.options, ...commonOptions }).map(formatOption);
  return [
    wrap(command.summary, width),
    "",
    wrap(`Usage: ${usage}`, width, "Usage: ".length),
    "",
    formatColumns(options, width),
  ].join("\n");
}
