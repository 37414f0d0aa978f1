import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { HandlerContext } from "../../src/runtime/handler-context.ts";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { createProcessRunner } from "../../src/runtime/process-runner.ts";
import { inRepository } from "../support/repository.ts";
import { makePack } from "./make-pack.ts";
import { callCode, createContext, inModule } from "./run-place.ts";

// What the guide for authors of handlers shows, run as it stands: a module, then calls of it with their answers.
const guide = readFileSync(inRepository("docs/guides/handlers.md"), "utf8");

function readGuide() {
  const modules: Record<string, string> = {};
  const calls: { handler: string; args: Record<string, unknown>; answer: unknown }[] = [];
  const parts =
    /```js title="(?<file>[^"]+)"\n(?<code>.*?)```|alling `(?<name>\w+)` with `(?<args>[^`]+)` returns:\n\n```json\n(?<answer>.*?)```/gs;
  let file = "";
  for (const { groups = {} } of guide.matchAll(parts)) {
    if (groups.file !== undefined) {
      file = groups.file;
      modules[file] = groups.code ?? "";
    } else {
      const [args, answer] = [JSON.parse(groups.args ?? ""), JSON.parse(groups.answer ?? "")];
      calls.push({ handler: `./${file}#${groups.name}`, args, answer });
    }
  }
  return { modules, calls };
}

const context: Partial<HandlerContext> = {
  options: { mostIssues: 1 },
  callTool: async (_name, args) => ({ structuredContent: { title: `${args?.query}, page ${args?.page}` } }),
};

test("the guide has examples, and each JSON block is the result of one of them", () => {
  const { modules, calls } = readGuide();
  expect(Object.keys(modules)).toHaveLength(3);
  expect(calls).toHaveLength(guide.match(/^```json$/gm)?.length ?? 0);
  expect(calls.length).toBeGreaterThan(5);
});

test.each(["in-process", "process"])(
  "the guide's handlers return the documented results, %s",
  async (isolation) => {
    const { modules, calls } = readGuide();
    const root = makePack({ "package.json": { type: "module" }, ...modules });
    const runner =
      isolation === "process" ? createProcessRunner({ root, env: {} }) : createInProcessRunner({ root });
    onTestFinished(() => runner.close());
    for (const { handler, args, answer } of calls) {
      expect(await callCode(runner, inModule(root, handler), args, createContext(context)), handler).toEqual(
        answer,
      );
    }
  },
);
