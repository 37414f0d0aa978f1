import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { InputAnswers, RunContext } from "../../src/runtime/handler-context.ts";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import type { InputNeeded } from "../../src/runtime/input-rounds.ts";
import { createProcessRunner } from "../../src/runtime/process-runner.ts";
import { scriptingPackage } from "../scripting/support/scripting-package.ts";
import { inRepository } from "../support/repository.ts";
import { makePack } from "./make-pack.ts";
import { callCode, createContext, inModule } from "./run-place.ts";

// What the guide for authors of handlers shows, run as it stands: a module, then calls of it with their answers.
const guide = readFileSync(inRepository("docs/guides/handlers.md"), "utf8");

interface Call {
  handler: string;
  args: Record<string, unknown>;
  /** The answers to what it asks first. */
  input: InputAnswers | undefined;
  answer: unknown;
}

function readGuide() {
  const modules: Record<string, string> = {};
  const calls: Call[] = [];
  const parts =
    /```js title="(?<file>[^"]+)"\n(?<code>.*?)```|alling `(?<name>\w+)` with `(?<args>[^`]+)`(?: asks `(?<input>[^`]+)` and then)? returns:\n\n```json\n(?<answer>.*?)```/gs;
  let file = "";
  for (const { groups = {} } of guide.matchAll(parts)) {
    if (groups.file !== undefined) {
      file = groups.file;
      modules[file] = groups.code ?? "";
    } else {
      const [args, answer] = [JSON.parse(groups.args ?? ""), JSON.parse(groups.answer ?? "")];
      const input = groups.input && JSON.parse(groups.input);
      calls.push({ handler: `./${file}#${groups.name}`, args, input, answer });
    }
  }
  return { modules, calls };
}

const context: Partial<RunContext> = {
  options: { mostIssues: 1 },
  callTool: async (_name, json) => {
    const { query, page } = JSON.parse(json);
    return { structuredContent: { title: `${query}, page ${page}` } };
  },
};

test("the guide has examples, and each JSON block is the result of one of them", () => {
  const { modules, calls } = readGuide();
  expect(Object.keys(modules)).toHaveLength(4);
  expect(calls).toHaveLength(guide.match(/^```json$/gm)?.length ?? 0);
  expect(calls.length).toBeGreaterThan(4);
});

test.each(["in-process", "process"])(
  "the guide's handlers return the documented results, %s",
  async (isolation) => {
    const { modules, calls } = readGuide();
    const root = makePack({ "package.json": { type: "module" }, ...modules, ...scriptingPackage });
    const runner =
      isolation === "process" ? createProcessRunner({ root, env: {} }) : createInProcessRunner(root);
    onTestFinished(() => runner.close());
    for (const { handler, args, input, answer } of calls) {
      const place = inModule(handler);
      const needed =
        input && (await callCode(runner, place, args, createContext(context)).catch((error) => error));
      const { asked } = (needed ?? {}) as Partial<InputNeeded>;
      const round = asked && input ? { input, state: asked.state } : {};
      expect(Object.keys(asked?.requests ?? {})).toEqual(Object.keys(input ?? {}));
      const result = await callCode(runner, place, args, createContext({ ...context, ...round }));
      expect(result, handler).toEqual(answer);
    }
  },
);
