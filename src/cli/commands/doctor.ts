import { checkHealth, type Health } from "../../install/check-health.ts";
import { printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput, TextStyle } from "../command.ts";
import { output } from "../output.ts";
import { readSessionOptions } from "../session/session-command.ts";
import { shortenForPeople } from "../shorten-for-people.ts";

function formatHealth({ checks }: Health, { color }: TextStyle): string {
  const paint = (code: number, text: string) => (color ? `\u001b[${code}m${text}\u001b[39m` : text);
  return checks
    .map(({ name, ok, summary }) => {
      const sign = ok ? paint(32, "ok  ") : paint(31, "FAIL");
      return `${sign}  ${name.padEnd(8)} ${printable(shortenForPeople(summary))}`;
    })
    .join("\n");
}

/** Whether sessions can be had here, and what stands in their way. */
export async function run(input: CommandInput): Promise<CommandAnswer> {
  await output.reserve();
  const health = await checkHealth(readSessionOptions(input));
  return {
    json: health,
    formatText: (style) => formatHealth(health, style),
    problems: health.problems,
    // Entries of clients may belong to other projects; sessions here do not depend on them.
    failed: health.checks.some(({ name, ok }) => !ok && name !== "clients"),
  };
}
