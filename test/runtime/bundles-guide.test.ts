import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { bundleVariables, compileEntryTemplates, compileTemplate } from "../../src/expressions/templates.ts";
import { answerError, type EntryError, fillInputs, fillResult } from "../../src/runtime/bundle.ts";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { inRepository } from "../support/repository.ts";
import { makePack } from "./make-pack.ts";
import { createContext, inModule } from "./run-place.ts";

// What the guide to bundles shows, run as it stands. Its commands are run with those of all pages.
const guide = readFileSync(inRepository("docs/guides/bundles.md"), "utf8");
const session = { id: "s", clientInfo: {}, capabilities: {} };

const files = new Map<string, string>();
for (const [, file = "", text = ""] of guide.matchAll(/```\w+ title="([^"]+)"\n(.*?)```/gs)) {
  // What is written again is the page's example of mistakes.
  if (!files.has(file)) files.set(file, text);
}

const calls = [
  ...guide.matchAll(/Calling `(\w+)` with `([^`]+)` returns( the error)?:\n\n```json\n(.*?)```/gs),
].map(([, name = "", args = "", isError, answer = ""]) => ({
  name,
  args: JSON.parse(args),
  outcome: { [isError === undefined ? "result" : "error"]: JSON.parse(answer) },
}));

const isBundle = (file: string) => file.startsWith("trailblaze/toolsets/");
const bundles = [...files].filter(([file]) => isBundle(file)).map(([, text]) => parse(text).entries);
const faults: unknown[] = [];
const entries = bundles.flat().map((entry) => ({
  name: entry.name,
  handler: entry.handler,
  templates: compileEntryTemplates(entry, [], (fault) => faults.push(fault)),
}));

test("the guide's examples compile", () => {
  expect(bundles).toHaveLength(2);
  expect(faults).toEqual([]);
  expect(calls).toHaveLength(2);
});

test.each(calls)("the guide's tool $name answers as shown", async ({ name, args, outcome }) => {
  const root = makePack(Object.fromEntries(files));
  const runner = createInProcessRunner(root);
  onTestFinished(() => runner.close());
  const entry = entries.find((one) => one.name === name);
  if (entry === undefined) throw new Error(`no ${name}`);
  const place = inModule(String(entry.handler));
  const request = { name, arguments: args, meta: {}, session };
  const ended = await runner.invoke(place, fillInputs(entry.templates, request), createContext()).then(
    (returned) => ({ result: fillResult(entry.templates, returned, request) }),
    (error) => ({ error: (answerError(entry.templates, error, request) as EntryError).answer }),
  );
  expect(ended).toEqual(outcome);
});

const rows = [...guide.matchAll(/^\| `(.*\$\{\{.*)` \| `(.*)` \|$/gm)].map(
  ([, written = "", becomes = ""]) => ({
    written,
    becomes,
  }),
);

test("every row of the guide's tables is tested", () => {
  expect(rows.length).toBeGreaterThan(15);
});

test.each(rows)("the guide's expression $written becomes $becomes", ({ written, becomes }) => {
  const [, args = ""] = /With the arguments `(.*)`:/.exec(guide) ?? [];
  const value = /^[[{]/.test(written) ? JSON.parse(written) : written;
  const template = compileTemplate(value, {
    variables: bundleVariables.inputs,
    path: [],
    onFault: (fault) => expect.fail(JSON.stringify(fault)),
  });
  const request = { name: "x", arguments: JSON.parse(args), meta: {}, session };
  expect(template({ request })).toEqual(JSON.parse(becomes));
});
