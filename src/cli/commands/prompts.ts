import { printable } from "../../problems/index.ts";
import type { SessionPrompt } from "../../session/items.ts";
import type { Session } from "../../session/session.ts";
import { type CommandAnswer, defineCommand, type TextStyle } from "../command.ts";
import { formatTable } from "../layout.ts";
import { formatBlock } from "../session/format-result.ts";
import { callOptions, formatSource, splitPair, withSession } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "List the prompts of a session, or print the messages of one",
  usage: "[prompt] [key=value...]",
  options: callOptions,
  async run(input) {
    const [name, ...words] = input.positionals;
    const args = Object.fromEntries(words.map((word) => splitPair(word, "an argument")));
    const use = async (session: Session, signal: AbortSignal): Promise<CommandAnswer> => {
      const { prompts, problems } = session;
      if (name === undefined) {
        const described = prompts.map(
          ({ name, qualifiedName, title = null, description = null, ...rest }) => {
            return { name, qualifiedName, title, description, ...rest };
          },
        );
        return {
          json: { prompts: described, problems },
          formatText: (style) => formatPrompts(prompts, style),
          problems,
        };
      }
      const { description = null, messages } = await session.getPrompt(name, args, { signal });
      const shown = messages.map(({ role, content }) => `${printable(role)}:\n${formatBlock(content)}`);
      return {
        json: { description, messages },
        formatText: () => shown.join("\n\n"),
        problems,
        exitCode: 0,
      };
    };
    return withSession(input, use, name === undefined ? [] : [name]);
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
