// The loops of the guide, as a stranger would copy them: compiled strictly, and run with the real SDKs of models.
import { readFileSync } from "node:fs";
import ts from "typescript";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ExampleProject } from "../docs/example-project.ts";
import { parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";
import { messageOf } from "../support/type-errors.ts";
import { startModelServer } from "./support/model-server.ts";

const loops = new Map(
  parseMarkdown(readFileSync(inRepository("docs/guides/hosting.md"), "utf8")).flatMap((part) =>
    typeof part !== "string" && part.title?.startsWith("loops/") ? [[part.title, part.text] as const] : [],
  ),
);
let project: ExampleProject;
beforeAll(() => {
  project = new ExampleProject({ withPacks: true });
});
afterAll(() => project.remove());

test("the loops compile without skipLibCheck", () => {
  const files = [...loops].map(([title, text]) => project.write(title, text));
  expect(files).toHaveLength(5);
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
  const faults = ts.getPreEmitDiagnostics(program).map((one) => `${one.file?.fileName}: ${messageOf(one)}`);
  // What others ship is theirs; a host cannot mend it.
  const ours = faults.filter((fault) => !/node_modules\/(?!trailblaze\/)/.test(fault));
  expect(ours).toEqual([]);
});

const call = { id: "call_1", name: "hello_greet", written: '{ "name": "Ada" }' };

test.each(["loops/ai-sdk.ts", "loops/openai.ts", "loops/anthropic.ts"])(
  "the loop %s gives the model's call to the session, and the result to the model",
  async (title) => {
    const server = await startModelServer([call]);
    onTestFinished(server.close);
    const settings = {
      MODEL_URL: `${server.url}/v1`,
      OPENAI_BASE_URL: `${server.url}/v1`,
      OPENAI_API_KEY: "none",
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "none",
    };
    const output = await project.runModule(title.replace(".ts", ""), loops.get(title) ?? "", settings);
    expect(output).toContain("Hello, Ada!");
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[0]?.tools)).toContain("hello_greet");
  },
);

test.each(["loops/mcp-client.ts", "loops/langchain.ts"])("the loop %s calls a tool", async (title) => {
  const output = await project.runModule(title.replace(".ts", ""), loops.get(title) ?? "");
  expect(output).toContain("Hello, Ada!");
});
