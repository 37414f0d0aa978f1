// Packs with natural mistakes, and similar packs without them: each has exactly one problem with its code, place and
// arguments, or none.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { inRepository } from "../support/repository.ts";
import type { Tree } from "../support/tree.ts";
import { greetTool, validateTree } from "./validate-tree.ts";

type Values = Record<string, unknown>;
interface Pack {
  files?: Record<string, Tree[string]>;
  /** Keys of the tool. */
  tool?: Values;
  /** The definition of a subprocess server, if any. */
  server?: Values;
  /** Fields of package.json. */
  fields?: Values;
}
/** Code, severity, `file:line:column` without missing parts, and arguments. */
type Expected = [code: string, severity: string, place: string, args: Values];

const exported = "export const greet = () => 'Hello';\n";

async function judge({ files = {}, tool = {}, server, fields = {} }: Pack) {
  const handler = Object.keys(files).find((file) => /^lib\/greet\.[cm]js$/.test(file)) ?? "lib/greet.js";
  const isCode = Object.keys(files).some((file) => file.startsWith("trailblaze/tools/"));
  const problems = await validateTree({
    extension: { tools: ["greet"], ...(server === undefined ? {} : { servers: ["desk"] }) },
    files: {
      "lib/greet.js": exported,
      ...(isCode ? {} : { "trailblaze/tools/greet.json": { ...greetTool(`./${handler}#greet`), ...tool } }),
      ...(server === undefined ? {} : { "trailblaze/servers/desk.json": server }),
      ...files,
    },
    fields,
  });
  return problems.map(({ code, severity, file, line, column, args }) => ({
    code,
    severity,
    place: [file, line, column].filter((part) => part !== undefined).join(":"),
    args: args as Values,
  }));
}

async function expectOne(pack: Pack, [code, severity, place, args]: Expected) {
  const found = (await judge(pack)).filter((one) => one.code === code || one.code !== "PrivatePackage");
  expect(found.map((one) => `${one.code} ${one.place}`)).toEqual([`${code} ${place}`]);
  expect(found[0]).toMatchObject({ severity, args });
  // TypeScript is never suggested as a handler.
  if (code === "HandlerNotFound" && Object.keys(pack.files ?? {}).some((file) => /\.[cm]?ts$/.test(file)))
    expect(String(found[0]?.args.hint ?? "")).not.toContain("Did you mean");
}

const expectNone = async (pack: Pack) =>
  expect((await judge(pack)).filter(({ code }) => code !== "PrivatePackage")).toEqual([]);

/** What a case need not say of the problem. */
const impliedArgs: Readonly<Record<string, (severity: string, place: string) => Values>> = {
  UndeclaredDependency: (severity) => ({ isGuarded: severity === "warning", isDev: false, others: 0 }),
  TypeScriptNotPublishable: (severity) => ({ isPrivate: severity === "info" }),
  UnparsableModule: (_severity, place) => ({ file: place.replace(/:.*/, "") }),
  WrongModuleFormat: (_severity, place) => ({ file: place.replace(/:.*/, "") }),
};

/** A text between slashes is a pattern, and `missing` a file that the reason names. */
function readArgs({ missing, ...args }: Values): Values {
  const pattern = (value: unknown) => /^\/(.*)\/$/.exec(String(value))?.[1];
  const entries = Object.entries(args).map(([key, value]) => [
    key,
    pattern(value) === undefined ? value : expect.stringMatching(pattern(value) ?? ""),
  ]);
  const reason = missing === undefined ? {} : { reason: expect.stringContaining(`"${missing}"`) };
  return { ...Object.fromEntries(entries), ...reason };
}

/** Modules that are handlers export `greet` in a last line, unless they name it. */
function readFile(file: string, text: string): Tree[string] {
  if (file.endsWith(".json")) return parse(text);
  const isNamed = /\bgreet\b(?!\.)/.test(text);
  const ending = { "lib/greet.js": exported, "lib/greet.cjs": "exports.greet = 1;\n" }[file] ?? "";
  const tool = JSON.stringify(greetTool("./lib/greet.js#greet"));
  return text.replace("GREET", tool) + (isNamed ? "" : ending);
}

function readCase(code: string, written: string): [title: string, pack: Pack, expected?: Expected] {
  const [head = "", ...parts] = written.split(/\n {2}(?=\S)/);
  const [title = "", problem] = head.split(" -> ");
  const pack: Pack & { files: Record<string, Tree[string]> } = { files: {} };
  for (const part of parts) {
    const [, name = "", line = "", block = ""] = /^([^:]+):(?: ([^\n]*))?(?:\n(.*))?$/s.exec(part) ?? [];
    const text = line === "" ? block.replaceAll(/^ {4}/gm, "") : line;
    if (name === "tool" || name === "server") pack[name] = parse(text);
    else if (name === "package.json")
      pack.fields = Object.fromEntries(
        Object.entries(parse(text) as Values).map(([key, value]) => [key, value ?? undefined]),
      );
    else pack.files[name] = readFile(name, text === "" ? "" : `${text}\n`);
  }
  if (problem === undefined) return [title, pack];
  const [, severity = "error", place = "", args = "{}"] =
    /^(?:(warning|info) )?(\S+)(?: (.*))?$/.exec(problem) ?? [];
  const allArgs = { ...impliedArgs[code]?.(severity, place), ...readArgs(parse(args)) };
  return [title, pack, [code, severity, place, allArgs]];
}

const [, ...sections] = readFileSync(inRepository("test/validate/corpus.txt"), "utf8").split(/^# (?=[A-Z])/m);
for (const section of sections) {
  const [code = "", ...cases] = section.trimEnd().split(/\n+(?=[^\s])/);
  describe(code, () => {
    for (const [title, pack, expected] of cases.map((written) => readCase(code, written)))
      test(`${code} is ${expected ? "" : "not "}reported for ${title}`, () =>
        expected ? expectOne(pack, expected) : expectNone(pack));
  });
}

test("the imports of a large module are judged in linear time", { timeout: 60_000 }, async () => {
  const lines = Array.from(
    { length: 5_000 },
    (_, index) => `try { await import("m${index % 2}"); } catch {}`,
  );
  const found = await judge({ files: { "lib/greet.js": `${exported}${lines.join("\n")}\n` } });
  expect(found.map(({ code, severity, place }) => [code, severity, place])).toEqual([
    ["UndeclaredDependency", "warning", "lib/greet.js:2:13"],
    ["UndeclaredDependency", "warning", "lib/greet.js:3:13"],
  ]);
});

describe("UnpublishableDependency", () => {
  const depend = (spec: string, key = "dependencies", fields = {}): Pack => ({
    fields: { [key]: { base: spec }, ...fields },
  });
  const at = (spec: string): Expected => [
    "UnpublishableDependency",
    "error",
    "package.json:16:5",
    { name: "base", spec },
  ];
  test.each<[Pack, Expected]>([
    [depend("file:../base"), at("file:../base")],
    [depend("link:../base"), at("link:../base")],
    [depend("file:../base", "peerDependencies"), at("file:../base")],
  ])("UnpublishableDependency is reported for %j", expectOne);

  test.each<Pack>([
    ...["^1.0.0", "*", "", "npm:other@1", "github:acme/base", "workspace:*", "catalog:"].map((spec) =>
      depend(spec),
    ),
    depend("file:../base", "devDependencies"),
    depend("file:vendor/base", "dependencies", { bundleDependencies: ["base"] }),
    depend("file:../base", "dependencies", { private: true }),
  ])("UnpublishableDependency is not reported for %j", expectNone);
});

describe("InvalidPackageManifest", () => {
  const refused = (key: "name" | "version", fields: Record<string, unknown>): [Pack, Expected] => [
    { fields },
    ["InvalidPackageManifest", "error", `package.json:${key === "name" ? 2 : 3}:3`, { key }],
  ];
  const names = ["Greeter", "my tools", "@acme/", "fs", "", "a".repeat(215)];
  const versions = ["1.0", "1", "latest", "", "1.0.0.0", "01.0.0", 1];
  test.each([
    ...names.map((name) => refused("name", { name })),
    ...versions.map((version) => refused("version", { version })),
  ])("InvalidPackageManifest is reported for %j", expectOne);

  test.each<Record<string, unknown>>([
    { name: "tools" },
    { name: "@acme/my-tools_2.x" },
    { version: "0.0.0-beta.1+build" },
  ])("InvalidPackageManifest is not reported for %j", (fields) => expectNone({ fields }));
});

test.each<Record<string, unknown>>([{}, { name: undefined }, { version: undefined }])(
  "PrivatePackage is reported as information for a private package with %j",
  (fields) =>
    expectOne({ fields: { private: true, ...fields } }, [
      "PrivatePackage",
      "info",
      `package.json:${Object.keys(fields).length === 0 ? 15 : 14}:3`,
      {},
    ]),
);
