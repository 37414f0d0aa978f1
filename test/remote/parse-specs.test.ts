import { expect, test } from "vitest";
import { parseSpecs, whyNotFromRegistry } from "../../src/install/packages/parse-specs.ts";

test.each([
  ["jira", { name: "jira", wanted: "latest", type: "tag", text: "jira" }],
  ["@acme/jira", { name: "@acme/jira", wanted: "latest", type: "tag", text: "@acme/jira" }],
  ["@acme/jira@next", { name: "@acme/jira", wanted: "next", type: "tag", text: "@acme/jira@next" }],
  ["jira@1.2.3", { name: "jira", wanted: "1.2.3", type: "version", text: "jira@1.2.3" }],
  ["jira@^1.2", { name: "jira", wanted: "^1.2", type: "range", text: "jira@^1.2" }],
  ["jira@>=1 <3", { name: "jira", wanted: ">=1 <3", type: "range", text: "jira@>=1 <3" }],
  ["jira@*", { name: "jira", wanted: "latest", type: "tag", text: "jira" }],
])("%s is a package of a registry", (spec, parsed) => {
  expect(parseSpecs([spec])).toEqual([parsed]);
});

test.each([
  "github:acme/jira",
  "git+https://git.example/acme/jira.git",
  "git@git.example:acme/jira.git",
  "https://example.org/jira.tgz",
  "jira@https://example.org/jira.tgz",
  "jira@github:acme/jira",
  "./jira",
  "../jira",
  "/srv/jira",
  "~/jira",
  "jira.tgz",
  "file:../jira",
  "jira@file:../jira",
  "link:../jira",
  "workspace:*",
  "jira@workspace:*",
  "jira@npm:other@1.0.0",
  "acme/jira",
  "--registry=http://example.org/",
  "-g",
  "@scope/-x",
  "",
  " jira",
  "jira; rm -rf ~",
  "$(id)",
  "jira@`id`",
  "jira\nother",
  "jira\u202e",
  "node_modules",
  ".",
  "..",
  "@acme",
  "x".repeat(600),
])("%j is refused", (spec) => {
  expect(() => parseSpecs([spec])).toThrow(expect.objectContaining({ code: "UnsupportedSpec" }));
});

test("what is no text is refused, and a name that is there twice", () => {
  expect(() => parseSpecs([7 as unknown as string])).toThrow(
    expect.objectContaining({ code: "UnsupportedSpec" }),
  );
  expect(() => parseSpecs(["jira@1", "jira@2"])).toThrow(
    expect.objectContaining({ code: "InvalidArguments" }),
  );
});

test("the qualified form of a scoped pack is explained", () => {
  expect(() => parseSpecs(["acme/jira"])).toThrow('is "@acme/jira" meant?');
  expect(() => parseSpecs(["../jira"])).toThrow(/it is a folder\.$/);
});

test.each([
  ["^1.0.0", undefined],
  ["latest", undefined],
  ["npm:other@1", undefined],
  ["github:acme/jira", "it is a git repository"],
  ["acme/jira", "it is a git repository"],
  ["git+ssh://git@git.example/x.git", "it is a git repository"],
  ["https://example.org/x.tgz", "it is a URL"],
  ["file:../x", "it is a folder"],
  [7, undefined],
])("a dependency on %j: %s", (wanted, reason) => {
  expect(whyNotFromRegistry("x", wanted)).toBe(reason);
});
