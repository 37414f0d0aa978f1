import { printable } from "../../problems/index.ts";
import type { SessionPrompt } from "../../session/items.ts";
import { defineCommand, type TextStyle } from "../command.ts";
import { formatTable } from "../layout.ts";
import { installOption } from "../options.ts";
import { formatBlock } from "../session/format-result.ts";
import {
  formatSource,
  servedOption,
  sessionOptions,
  splitPair,
  withSession,
} from "../session/session-command.ts";

export const command = defineCommand({
  summary: "List the prompts of a session, or print the messages of one",
  usage: "[prompt] [key=value...]",
  options: { ...servedOption, ...installOption, ...sessionOptions },
  async run(input) {
    const [name, ...words] = input.positionals;
    const args = Object.fromEntries(words.map((word) => splitPair(word, "an argument")));
    if (name === undefined) {
      return withSession(input, async ({ prompts, problems }) => ({
        json: {
          prompts: prompts.map(({ name, qualifiedName, title = null, description = null, ...rest }) => ({
            name,
            qualifiedName,
            title,
            description,
            ...rest,
          })),
          problems,
        },
        formatText: (style) => formatPrompts(prompts, style),
        problems,
      }));
    }
    return withSession(
      input,
      async (session, signal) => {
        const { description = null, messages } = await session.getPrompt(name, args, { signal });
        const shown = messages.map(({ role, content }) => `${printable(role)}:\n${formatBlock(content)}`);
        return {
          json: { description, messages },
          formatText: () => shown.join("\n\n"),
          problems: session.problems,
          exitCode: 0,
        };
      },
      [name],
    );
  },
});

function formatPrompts(prompts: readonly SessionPrompt[], style: TextStyle): string {
  if (prompts.length === 0) return "The session has no prompts.";
  const rows = prompts.map((prompt) => [
    prompt.name,
    formatSource(prompt),
    prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(" "),
    prompt.description ?? "",
  ]);
  return formatTable(["PROMPT", "FROM", "ARGUMENTS", "DESCRIPTION"], rows, style);
}
