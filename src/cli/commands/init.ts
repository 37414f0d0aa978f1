import { basename, relative } from "node:path";
import { createInterface } from "node:readline";
import {
  createPlannedPack,
  findNewFolder,
  planNewPack,
  readNewName,
  readTemplateName,
  suggestPackName,
  templateNames,
  templates,
} from "../../author/init-pack.ts";
import { failure, printable } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";
import { canAsk } from "../remote/ask.ts";

interface Wishes {
  name?: string;
  template?: string;
}

/** What asks; `undefined` when the input ended. */
export type Ask = (question: string) => Promise<string | undefined>;

/** Asks until the answer can be read; an empty answer is the default. */
async function askFor(
  ask: Ask,
  question: string,
  fallback: string | undefined,
  read: (text: string) => string,
): Promise<string> {
  for (;;) {
    const given = await ask(fallback === undefined ? `${question}:` : `${question} (${fallback}):`);
    if (given === undefined)
      throw failure("InvalidArguments", { reason: "The input ended before every answer" });
    const text = given.trim() === "" ? (fallback ?? "") : given.trim();
    try {
      return read(text);
    } catch (error) {
      output.note((error as Error).message);
    }
  }
}

/** Asks for what no flag says. */
export async function askForWishes(folder: string, given: Wishes, ask: Ask): Promise<Wishes> {
  const name =
    given.name ?? (await askFor(ask, "Name of the npm package", suggestPackName(folder), readNewName));
  if (given.template !== undefined) return { name, template: given.template };
  for (const [index, one] of templateNames.entries())
    output.note(`  ${index + 1}  ${one.padEnd(10)}  ${templates[one].summary}`);
  const read = (text: string) => readTemplateName(templateNames[Number(text) - 1] ?? text);
  return { name, template: await askFor(ask, "Template", "data", read) };
}

async function askOnTerminal(folder: string, given: Wishes): Promise<Wishes> {
  const terminal = createInterface({ input: process.stdin });
  // Lines that are typed ahead wait in here.
  const lines = terminal[Symbol.asyncIterator]();
  try {
    return await askForWishes(folder, given, async (question) => {
      output.note(question);
      const line = await lines.next();
      return line.done ? undefined : line.value;
    });
  } finally {
    terminal.close();
  }
}

/** Makes a new pack, all of it or nothing. */
export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [target = "."] = positionals;
  const folder = findNewFolder(target, cwd);
  const given: Wishes = {
    ...(options.name === undefined ? {} : { name: readNewName(String(options.name)) }),
    ...(options.template === undefined ? {} : { template: readTemplateName(String(options.template)) }),
  };
  const isComplete = given.name !== undefined && given.template !== undefined;
  const mayAsk = options.yes !== true && options.json !== true && !isComplete && canAsk();
  if (given.template === undefined && options.yes !== true && !mayAsk) {
    const hint = `--template takes ${templateNames.join(", ")}; --yes takes data.`;
    throw failure("InvalidArguments", {
      reason: "There is no terminal to ask on which template to take",
      hint,
    });
  }
  const wishes = mayAsk ? await askOnTerminal(folder, given) : given;
  const plan = planNewPack(target, { cwd, ...wishes });
  const made = createPlannedPack(plan);
  const way = relative(cwd, made.directory);
  const steps = [...(way === "" ? [] : [`cd ${quoteForShell(printable(way))}`]), ...plan.nextSteps];
  return {
    json: made,
    formatText: () =>
      [
        `Made ${made.name} in ${printable(way === "" ? basename(made.directory) : way)}, from the template ${made.template}:`,
        ...made.files.map((file) => `  ${file}`),
        "",
        "Next:",
        ...steps.map((step) => `  ${step}`),
      ].join("\n"),
    problems: [],
  };
}
