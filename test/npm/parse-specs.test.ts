import { describe, expect, test } from "vitest";
import { installMissing } from "../../src/npm/add-packs.ts";
import { explainForeignDependency, parseReferredPack, parseSpecs } from "../../src/npm/parse-specs.ts";
import { planRemove } from "../../src/npm/remove-packs.ts";
import { makeTree } from "../support/packs.ts";

test.each([
  ["jira", { name: "jira", text: "jira" }],
  ["@acme/jira", { name: "@acme/jira", text: "@acme/jira" }],
  ["@acme/jira@next", { name: "@acme/jira", text: "@acme/jira@next" }],
  ["jira@1.2.3", { name: "jira", text: "jira@1.2.3" }],
  ["jira@^1.2", { name: "jira", text: "jira@^1.2" }],
  ["jira@*", { name: "jira", text: "jira" }],
])("the spec %s is parsed as a package of a registry", (spec, parsed) => {
  expect(parseSpecs([spec])).toEqual([parsed]);
});

const withWhiteSpace = [" jira", "@acme/jira@ 1", "jira@1.0.0\tlodash", "jira\u2028"];

const withOptions = ["-g", "--registry=http://example.org/", "@acme/jira --global", "jira@-g", "@-acme/jira"];

const ofOtherPlaces = [
  "github:acme/jira",
  "jira@https://example.org/jira.tgz",
  "../jira",
  "~/jira",
  "jira.tgz",
  "jira@file:../jira",
  "jira@workspace:*",
  "jira@npm:other@1.0.0",
  "acme/jira",
  "..",
];

const noNames = [
  "",
  "jira@>=1 <3",
  "jira,lodash",
  "jira@$(id)",
  "jira\0@1",
  "jira\u001b[2J",
  "node_modules",
  "@acme/jira@1.0.0@2.0.0",
  "x".repeat(600),
];

const refused = [...withWhiteSpace, ...withOptions, ...ofOtherPlaces, ...noNames];

test.each(refused)("the spec %j is rejected", (spec) => {
  expect(() => parseSpecs([spec])).toThrow(expect.objectContaining({ code: "UnsupportedSpec" }));
  expect(() => parseSpecs(["jira", spec])).toThrow(expect.objectContaining({ code: "UnsupportedSpec" }));
});

/** What a project could have as a dependency, so that it is one to remove. */
const couldBeDeclared = new Set(["acme/jira", "~/jira", "jira.tgz", "node_modules"]);

test.each(
  [...withWhiteSpace, ...withOptions, ...noNames, ...ofOtherPlaces].filter(
    (one) => !couldBeDeclared.has(one),
  ),
)("the spec %j is rejected by a removal and as the pack of a reference", async (spec) => {
  const cwd = makeTree({ "package.json": { name: "app" } });
  const started: string[] = [];
  const onCommand = (command: string) => started.push(command);
  await expect(planRemove([spec], { cwd, onCommand })).rejects.toMatchObject({ code: "UnsupportedSpec" });
  const { problems } = await installMissing({ name: spec, range: undefined }, { cwd, onCommand });
  expect(problems).toMatchObject([{ code: "UnsupportedSpec" }]);
  expect(started).toEqual([]);
});

const refusal = (spec: string, named: string) =>
  expect.objectContaining({
    code: "UnsupportedSpec",
    problem: expect.objectContaining({
      args: expect.objectContaining({ spec, reason: expect.stringContaining(named) }),
    }),
  });

test("the error for a rejected spec names the invalid part", () => {
  for (const [spec, named] of [
    ["@acme/jira --registry=http://example.org/", "space"],
    ["-g", "option"],
  ] as const)
    expect(() => parseSpecs([spec])).toThrow(refusal(spec, named));
});

describe("a pack that references require", () => {
  test.each<[range: string | undefined, declared: unknown, text: string]>([
    [undefined, undefined, "@acme/jira"],
    ["^1.1", undefined, "@acme/jira@^1.1"],
    ["^1.1", "^1.0.0", "@acme/jira@^1.0.0"],
    ["^1.1", "latest", "@acme/jira@^1.1"],
    ["1 - 2", undefined, "@acme/jira@1 - 2"],
  ])("a pack required in the range %j and declared as %j is installed as %s", (range, declared, text) => {
    expect(parseReferredPack("@acme/jira", range, declared).text).toBe(text);
  });

  test.each(["file:../jira", "npm:other@1"])(
    "a pack that the project declares as %s is not installed for a reference",
    (declared) => {
      expect(() => parseReferredPack("@acme/jira", "^1", declared)).toThrow(
        expect.objectContaining({ code: "PackNotInstalled" }),
      );
    },
  );
});

test("a repeated package name is rejected", () => {
  expect(() => parseSpecs(["jira@1", "jira@2"])).toThrow(
    expect.objectContaining({ code: "InvalidArguments" }),
  );
});

test.each(["github:acme/jira", "https://example.org/x.tgz", "file:../x"])(
  "a dependency on %j does not come from a registry",
  (wanted) => {
    expect(explainForeignDependency("x", wanted)).toBe("it is not a package of a registry");
  },
);
