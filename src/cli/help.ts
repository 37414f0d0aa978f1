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

function formatPage(title: string, usage: string, rows: readonly string[][], width?: number): string {
  const lines = [wrap(title, width), wrap(`Usage: ${usage}`, width, "Usage: ".length)];
  return [...lines, formatColumns(rows, width)].join("\n\n");
}

export async function formatHelp(version: string, width?: number): Promise<string> {
  const rows: string[][] = [];
  for (const [name, load] of Object.entries(commands)) rows.push([`  ${name}`, (await load()).summary]);
  const title = `trailblaze ${version}: tools for AI agents from installed npm packages`;
  const page = formatPage(title, "trailblaze <command> [options]", rows, width);
  return `${page}\n\n${wrap("Run `trailblaze <command> --help` for the options of a command.", width)}`;
}

export function formatCommandHelp(
  name: string,
  { summary, usage, options }: Command,
  width?: number,
): string {
  const words = ["trailblaze", name, usage, "[options]"].filter((word) => word !== "");
  const rows = Object.entries({ ...options, ...commonOptions }).map(formatOption);
  return formatPage(summary, words.join(" "), rows, width);
}
