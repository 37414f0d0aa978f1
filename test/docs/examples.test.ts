// The documentation is its own expectation. On each page
//   - a block with title="path" is written to that file, and type-checked if it is TypeScript or uses our types; those in loops/ are
//     run by test/adapters/hosting-loops.test.ts,
//   - in a ```console block the lines after "$ " are run, and what follows them is what they printed,
//   - of what `trailblaze COMMAND --help` printed, the summary and options of several commands are left out,
//   - a line `<!-- $ command -->` is run as well, and nothing is shown of it: what others do between two commands,
//   - a ```ts block is type-checked and run, and a ```output block after it is what it printed,
// in order, in a project of the page's own: with the sample packs installed that it mentions, or, where the page writes its own
// package.json, with nothing but the two packages of this repository and an MCP server. Then the page is compared with itself as it would
// be with what was really printed. `npx vitest run test/docs -u` writes that into the pages: read the diff.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";
import { mastraStub } from "../adapters/support/mastra-stub.ts";
import { runMain } from "../support/main.ts";
import { inRepository } from "../support/repository.ts";
import { findTypeErrors, messageOf } from "../support/type-errors.ts";
import { ExampleProject, findMentioned } from "./example-project.ts";
import { type Block, formatMarkdown, type Part, parseMarkdown } from "./markdown.ts";
import { pages } from "./pages.ts";

const isBlock = (part: Part): part is Block => typeof part !== "string";
const isRun = ({ language, title }: Block) =>
  title !== undefined || language === "console" || language === "ts";

const examples = pages
  .map((page) => ({ page, parts: parseMarkdown(readFileSync(inRepository(page), "utf8")) }))
  .filter(({ parts }) => parts.filter(isBlock).some(isRun));

/** Options of several commands, which docs/cli.md shows once. */
const sharedOption =
  /^ +(?:-h, )?--(?:cwd|json|strict|help|platform|driver|memory|toolset|on-device|frozen|config|served|install|lazy|eager|built-ins|data-only|require-confinement) .*\n?/gm;

/** The list of all commands has the summary. */
const shortenHelp = (help: string) =>
  help
    .replace(/^.*\n\n/, "")
    .replace(sharedOption, "")
    .trimEnd();

/** Needs no process: many commands are shown. */
async function showHelp(command: string | undefined): Promise<string> {
  const { stdout } = await runMain(command === undefined ? ["--help"] : [command, "--help"], { cwd: "/" });
  return shortenHelp(stdout);
}

async function fillInConsole(project: ExampleProject, text: string): Promise<string> {
  const commands = text.split("\n").filter((line) => line.startsWith("$ "));
  const shown: string[] = [];
  for (const command of commands) {
    const help = /^\$ trailblaze (\S+ )?--help$/.exec(command);
    const output =
      help === null ? await project.runCommand(command.slice(2)) : await showHelp(help[1]?.trim());
    shown.push(output === "" ? command : `${command}\n${output}`);
  }
  return shown.join("\n\n");
}

/** The projects of the pages, and the modules in them. */
const projects: ExampleProject[] = [];
const modules: string[] = [];
afterAll(() => projects.forEach((project) => void project.remove()));

async function fillIn(project: ExampleProject, parts: readonly Part[]): Promise<Part[]> {
  const filled: Part[] = [];
  let output = "";
  for (const part of parts) {
    if (!isBlock(part)) {
      const hidden = /^<!-- \$ (.+) -->$/.exec(part)?.[1];
      if (hidden !== undefined) expect(await project.runCommand(hidden)).toBe("");
      filled.push(part);
      continue;
    }
    const { language, title, text, line } = part;
    if (title !== undefined) {
      const file = project.write(title, text);
      if (file.endsWith(".ts") || text.includes("@trailblaze/scripting")) modules.push(file);
      filled.push(part);
    } else if (language === "console") {
      filled.push({ ...part, text: await fillInConsole(project, text) });
    } else if (language === "ts") {
      modules.push(project.write(`example-${line}.ts`, text));
      output = await project.runModule(`example-${line}`, text);
      filled.push(part);
    } else {
      filled.push(language === "output" ? { ...part, text: output } : part);
    }
  }
  return filled;
}

test.each(examples)(
  "the examples of $page produce the output that the page shows",
  async ({ page, parts }) => {
    const ownsManifest = parts.some((part) => isBlock(part) && part.title === "package.json");
    const project = new ExampleProject(ownsManifest ? undefined : findMentioned(formatMarkdown(parts)));
    projects.push(project);
    for (const [path, text] of Object.entries(mastraStub)) project.write(path, text);
    const filled = formatMarkdown(await fillIn(project, parts));
    await expect(filled).toMatchFileSnapshot(inRepository(page));
  },
);

/** What a library of a host exports: each type of it needs a name. */
const exported = `import { aiSdkTools, anthropicTools, mcpTransport, openAiTools } from "trailblaze/adapters";
import { openSession } from "trailblaze/session";
export const session = await openSession();
export const adapters = [aiSdkTools(session), anthropicTools(session), openAiTools(session), mcpTransport(session)] as const;
export const ofAnthropic = async () =>
  (await adapters[1].call({ type: "tool_use", id: "1", name: "a", input: {} })).content;
export const ofOpenAi = async () =>
  (await adapters[2].call({ type: "function_call", call_id: "1", name: "a", arguments: "" })).output;
`;

test("the modules of all pages and the declarations of our packages have no type errors", () => {
  const host = new ExampleProject();
  projects.push(host);
  modules.push(host.write("exported.mts", exported));
  const declarations = ["dist", "packages/scripting/dist"].flatMap((folder) => {
    const names = readdirSync(inRepository(folder)).filter((name) => /\.d\.[mc]?ts$/.test(name));
    expect(names).toContain("index.d.mts");
    return names.map((name) => join(inRepository(folder), name));
  });
  // One program, because it takes most of its time for what all of them import.
  const errors = findTypeErrors([...modules, ...declarations], {
    allowJs: true,
    checkJs: true,
    declaration: true,
    exactOptionalPropertyTypes: true,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    moduleDetection: ts.ModuleDetectionKind.Force,
    types: ["node"],
    typeRoots: [inRepository("node_modules/@types")],
  });
  const lineOf = ({ file, start = 0 }: ts.Diagnostic) =>
    file && file.getLineAndCharacterOfPosition(start).line + 1;
  expect(errors.map((error) => `${error.file?.fileName}:${lineOf(error)}: ${messageOf(error)}`)).toEqual([]);
});
