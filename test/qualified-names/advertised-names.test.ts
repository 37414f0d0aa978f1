import { describe, expect, test } from "vitest";
import {
  addPrefix,
  findCollisions,
  makeSafeName,
  makeServedName,
  numberNames,
  offerNames,
  type PrefixClaim,
  prefixNames,
} from "../../src/qualified-names/advertised-names.ts";

test("duplicate names get numbers that are still free, and other names stay", () => {
  expect(numberNames(["a", "b", "a", "a2", "a"])).toEqual(["a1", "b", "a3", "a2", "a4"]);
  // A search from 1 for each would take minutes.
  expect(numberNames(Array(20_000).fill("a")).at(-1)).toBe("a20000");
});

test("a numbered name has at most 64 characters and is unique", () => {
  const long = "x".repeat(64);
  const other = `${"x".repeat(63)}y`;
  const numbered = numberNames([
    ...Array.from({ length: 12 }, () => long),
    other,
    other,
    `${"x".repeat(63)}1`,
  ]);
  expect(new Set(numbered).size).toBe(numbered.length);
  for (const name of numbered) expect(name.length).toBeLessThanOrEqual(64);
  expect(numbered.at(-1)).toBe(`${"x".repeat(63)}1`);
  expect(numbered[0]).toBe(`${"x".repeat(63)}2`);
  const almost = "z".repeat(63);
  expect(numberNames([almost, almost])).toEqual([`${almost}1`, `${almost}2`]);
});

test("shortening never splits a character, and a long name that is unique stays", () => {
  const smiling = `${"x".repeat(62)}😀`;
  const whole = "y".repeat(80);
  expect(numberNames(["😀", "😀"])).toEqual(["😀1", "😀2"]);
  expect(numberNames([smiling, smiling, whole])).toEqual([`${"x".repeat(62)}1`, `${"x".repeat(62)}2`, whole]);
});

test("names that several tools claim are one error with all their sources, and unique names are none", () => {
  const claims = ["a", "b", "a"].map((name, index) => ({ name, source: `pack ${index}` }));
  expect(findCollisions(claims)?.problem).toMatchObject({
    code: "NameCollision",
    args: { collisions: [{ name: "a", sources: ["pack 0", "pack 2"] }] },
  });
  expect(findCollisions(claims)?.problem.args).not.toHaveProperty("kind");
  expect(findCollisions(claims, "prompt")?.problem.args).toHaveProperty("kind", "prompt");
  expect(findCollisions(claims.slice(0, 2))).toBeUndefined();
});

test("a name that is what clients are served for a long one collides with it", () => {
  const long = "x".repeat(50);
  const served = makeServedName(long);
  const claims = [long, served].map((name) => ({ name, source: `server of ${name}` }));
  expect(findCollisions(claims)?.problem).toMatchObject({ code: "NameCollision" });
  const named = prefixNames(
    claims.map(({ name, source }) => ({ name, prefix: "p", isBuiltIn: false, identity: source })),
  );
  expect(new Set(named.map(makeServedName)).size).toBe(2);
  const offered = offerNames(undefined, [long, served]);
  expect(offered.get(served)).toBe(served);
  expect(findCollisions([...offered.values()].map((name) => ({ name, source: name })))).toBeUndefined();
});

test.each([
  ["get-issue_2", "get-issue_2"],
  ["files.read", "files_read"],
  ["a b/c\u001b😀é", "a_b_c___"],
])("the safe form of %j is %j", (name, safe) => {
  expect(makeSafeName(name)).toBe(safe);
});

test("long names that differ have different safe forms of 64 characters, which never change", () => {
  const long = (end: string) => makeSafeName(`${"x".repeat(100)}${end}`);
  expect(long("a")).toMatch(/^x{55}_[0-9a-f]{8}$/);
  expect(long("a")).not.toBe(long("b"));
  expect(long("a")).toBe(long("a"));
});

test.each([
  ["jira", "jira_get"],
  ["", "get"],
])("with the prefix %j, get becomes %j", (prefix, name) => {
  expect(addPrefix(prefix, "get")).toBe(name);
});

describe("names that several tools claim", () => {
  const claim = (name: string, prefix?: string, isBuiltIn = false): PrefixClaim => ({
    name,
    prefix,
    isBuiltIn,
    identity: `${prefix} ${name}`,
  });

  test("a name that several tools claim gets the prefix of each tool, and unique names stay", () => {
    const claims = [claim("get", "jira"), claim("get", "my files"), claim("put", "jira")];
    expect(prefixNames(claims)).toEqual(["jira_get", "my_files_get", "put"]);
  });

  test("a duplicate name stays with a built-in, or else with the only tool without a prefix", () => {
    expect(prefixNames([claim("get", undefined, true), claim("get", "a")])).toEqual(["get", "a_get"]);
    expect(prefixNames([claim("b_get"), claim("b_get", "a")])).toEqual(["b_get", "a_b_get"]);
    expect(prefixNames([claim("get", ""), claim("get", "a")])).toEqual(["get", "a_get"]);
  });

  test("prefixed names that still collide end with a hash, unless one tool has that name by itself", () => {
    const claims = [claim("get", "a"), claim("get", "b"), claim("a_get", "c")];
    expect(prefixNames(claims)).toEqual([expect.stringMatching(/^a_get_[0-9a-f]{8}$/), "b_get", "a_get"]);
    const twice = prefixNames([
      { ...claim("get"), identity: "one" },
      { ...claim("get"), identity: "two" },
    ]);
    expect(twice).toEqual([
      expect.stringMatching(/^get_[0-9a-f]{8}$/),
      expect.stringMatching(/^get_[0-9a-f]{8}$/),
    ]);
    expect(new Set(twice).size).toBe(2);
  });

  test("a tool without a prefix keeps the name that another gets with its prefix", () => {
    const claims = [claim("a_b"), claim("a_b", "x"), claim("b", "a"), claim("b", "c")];
    expect(prefixNames(claims)).toEqual(["a_b", "x_a_b", expect.stringMatching(/^a_b_[0-9a-f]{8}$/), "c_b"]);
  });
});
