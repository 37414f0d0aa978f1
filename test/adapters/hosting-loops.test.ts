// The loops of the guide, as a stranger would copy them, run with the real SDKs of models. test/docs/examples.test.ts compiles
// them in a project like this one.
import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, onTestFinished, test } from "vitest";
import { ExampleProject, findMentioned } from "../docs/example-project.ts";
import { parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";
import { startModelServer } from "./support/model-server.ts";

const loops = new Map(
  parseMarkdown(readFileSync(inRepository("docs/guides/hosting.md"), "utf8")).flatMap((part) =>
    typeof part !== "string" && part.title?.startsWith("loops/") ? [[part.title, part.text] as const] : [],
  ),
);
/** All but Mastra's, whose package is not here. */
const runnable = [...loops].filter(([title]) => title !== "loops/mastra.ts");

const call = { id: "call_1", name: "hello_greet", written: '{ "name": "Ada" }' };

test("each loop gives the call to the session, and the result to the model", async () => {
  const project = new ExampleProject(findMentioned("hello-tools"));
  onTestFinished(() => project.remove());
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
