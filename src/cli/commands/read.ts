import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { failure, printableLines, quote } from "../../problems/index.ts";
import type { ResourceContents } from "../../runtime/tool-result.ts";
import type { Session } from "../../session/session.ts";
import { type CommandAnswer, defineCommand } from "../command.ts";
import { text } from "../options.ts";
import { output } from "../output.ts";
import { callOptions, withSession } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Read a resource by its URI, and print its text",
  usage: "<uri>",
  options: {
    out: { ...text("FILE", "Write the content to this file, text or bytes"), excludes: ["json"] },
    ...callOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const [uri = ""] = positionals;
    const { out, json } = options;
    const use = async (session: Session, signal: AbortSignal): Promise<CommandAnswer> => {
      const { contents } = await session.readResource(uri, { signal });
      if (out !== undefined) {
        writeContents(resolve(cwd, out), uri, contents);
        return { problems: session.problems, exitCode: 0 };
      }
      const text = json ? "" : readTexts(uri, contents);
      return {
        json: { contents },
        // Others than a terminal get the text as it is. Not every terminal says its width.
        formatText: () => (output.stdoutIsTerminal() ? printableLines(text) : text),
        problems: session.problems,
        exitCode: 0,
      };
    };
    return withSession(input, use, [], { asks: true });
  },
});

const invalid = (reason: string, hint: string) => failure("InvalidArguments", { reason, hint });

/** The texts of a resource. Throws `InvalidArguments` if it is binary. */
function readTexts(uri: string, contents: readonly ResourceContents[]): string {
  return contents
    .map(({ text }) => {
      if (text !== undefined) return text;
      throw invalid(`${quote(uri)} is binary`, "Add --out FILE, or --json.");
    })
    .join("\n");
}

function writeContents(file: string, uri: string, contents: readonly ResourceContents[]): void {
  const [only, another] = contents;
  if (only === undefined || another !== undefined)
    throw invalid(`${quote(uri)} has ${contents.length} parts, and --out writes one`, "Add --json instead.");
  const { text, blob = "" } = only;
  try {
    writeFileSync(file, text ?? Buffer.from(blob, "base64"));
  } catch (error) {
    const reason = `Cannot write ${quote(file, 200)}: ${(error as Error).message}`;
    throw failure("InvalidArguments", { reason });
  }
}
