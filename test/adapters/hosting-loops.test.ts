// The loops of the guide, as a stranger would copy them: compiled strictly, and run with the real SDKs of models.
// The project is one of the documentation's, whose own tests leave these loops out.
import { readFileSync } from "node:fs";
import ts from "typescript";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ExampleProject, findMentioned } from "../docs/example-project.ts";
import { parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";
import { messageOf } from "../support/type-errors.ts";
import { mastraStub } from "./support/mastra-stub.ts";
import { startModelServer } from "./support/model-server.ts";

const loops = new Map(
  parseMarkdown(readFileSync(inRepository("docs/guides/hosting.md"), "utf8")).flatMap((part) =>
    typeof part !== "string" && part.title?.startsWith("loops/") ? [[part.title, part.text] as const] : [],
  ),
);
let project: ExampleProject;
beforeAll(() => {
  project = new ExampleProject(findMentioned("hello-tools"));
  for (const [path, text] of Object.entries(mastraStub)) project.write(path, text);
});
afterAll(() => project.remove());

test("the loops compile without skipLibCheck", () => {
  const files = [...loops].map(([title, text]) => project.write(title, text));
  expect(files).toHaveLength(6);
  const program = ts.createProgram(files, {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: [
      "lib.es2023.d.ts",
      "lib.dom.d.ts",
      "lib.dom.iterable.d.ts",
      "lib.dom.asynciterable.d.ts",
      "lib.esnext.disposable.d.ts",
    ],
    types: ["node"],
    typeRoots: [inRepository("node_modules/@types")],
  });
  // What others ship is theirs; a host cannot change it.
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => !/node_modules\/(?!trailblaze\/)/.test(fileName));
  expect(ours.length).toBeGreaterThan(files.length);
  const faults = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ];
  expect(faults.map((one) => `${one.file?.fileName}: ${messageOf(one)}`)).toEqual([]);
});

/** All but Mastra's, whose package is not here. */
const runnable = [...loops].filter(([title]) => title !== "loops/mastra.ts");

const call = { id: "call_1", name: "hello_greet", written: '{ "name": "Ada" }' };

test("each loop gives the call to the session, and the result to the model", async () => {
  const server = await startModelServer([call]);
  onTestFinished(server.close);
  const settings = {
    MODEL_URL: `${server.url}/v1`,
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: "none",
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "none",
  };
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
  const runs = runnable.map(([title, text]) => {
    const name = title.replace(/\.ts$/, ".mjs");
    project.write(name, ts.transpileModule(text, { compilerOptions }).outputText);
    return `console.log("# ${title}");\nawait import("./${name}");`;
  });
  // One process for all of them: most of their time is the start of Node and of the SDKs.
  const output = await project.runModule("all-loops", runs.join("\n"), settings);
  const outputs = output.split(/^# /m).slice(1);
  expect(outputs).toHaveLength(runnable.length);
  for (const one of outputs) expect(one).toContain("Hello, Ada!");
  expect(server.requests).toHaveLength(6);
  for (const { tools } of server.requests) expect(JSON.stringify(tools)).toContain("hello_greet");
});
