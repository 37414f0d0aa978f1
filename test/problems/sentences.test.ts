import { expect, test } from "vitest";
import { createProblem, type ProblemCode } from "../../src/problems/index.ts";
import { samples } from "./samples.ts";

const indent = (text: string) => text.replaceAll("\n", "\n    ");

/** The sentences of one code, each once. */
function* sentencesOf(code: ProblemCode): Generator<string> {
  yield code;
  const shown = new Set<string>();
  for (const args of samples[code]) {
    const { message, hint } = createProblem(code, args as never);
    const sentence = `  ${indent(message)}${hint === undefined ? "" : `\n    ${indent(hint)}`}`;
    if (!shown.has(sentence)) yield sentence;
    shown.add(sentence);
  }
}

// The one place where tests fix what problems say: all others assert code, place and arguments.
test("the catalog's sentences are those of sentences.txt", async () => {
  const codes = Object.keys(samples) as ProblemCode[];
  const text = codes.flatMap((code) => [...sentencesOf(code), ""]).join("\n");
  await expect(text).toMatchFileSnapshot("sentences.txt");
});

test("names in the commands of messages and hints are quoted for the shell", () => {
  const name = 'x;touch pwned $(touch pwned) "`touch pwned`';
  const commands =
    /(?:`|^(?=\w+ (?:install|add) ))(?:trailblaze|npm|pnpm|yarn|bun|deno|git) (?:'[^']*'|[^'`\n])*/gm;
  // Other strings are sentences, or words of ours.
  const names = new Set([
    "name",
    "entry",
    "server",
    "package",
    "alternative",
    "range",
    "file",
    "label",
    "spec",
  ]);
  const unquoted: string[] = [];
  for (const code of Object.keys(samples) as ProblemCode[]) {
    for (const args of samples[code] as readonly Record<string, unknown>[]) {
      for (const key of Object.keys(args)) {
        if (typeof args[key] !== "string" || !names.has(key)) continue;
        const { message, hint = "" } = createProblem(code, { ...args, [key]: name } as never);
        for (const [command] of `${message}\n${hint}`.matchAll(commands))
          if (command.replace(/'[^']*'/g, "").includes("touch")) unquoted.push(`${code} ${key}: ${command}`);
      }
    }
  }
  expect([...new Set(unquoted)]).toEqual([]);
});

test("every problem keeps its arguments", () => {
  for (const code of Object.keys(samples) as ProblemCode[]) {
    for (const args of samples[code]) {
      const problem = createProblem(code, args as never);
      expect(problem.args).toEqual(args);
      expect(JSON.parse(JSON.stringify(problem)).args).toEqual(JSON.parse(JSON.stringify(args)));
    }
  }
});
