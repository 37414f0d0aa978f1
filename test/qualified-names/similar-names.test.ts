import { expect, test } from "vitest";
import { findSimilarName } from "../../src/qualified-names/similar-names.ts";

test.each([
  ["@acme/jria", "@acme/jira", "two letters change places"],
  ["@acme/jiira", "@acme/jira", "a letter too many"],
  ["@acme/jra", "@acme/jira", "a letter too few"],
  ["@acne/jira", "@acme/jira", "another letter in the scope"],
  ["@acrne/jira", "@acme/jira", "rn for m"],
  ["@acme/j1ra", "@acme/jira", "a digit that looks like a letter"],
  ["@acme/a1", "@acme/al", "a look-alike in a short name"],
  ["hello_tools", "hello-tools", "another separator"],
  ["hellotools", "hello-tools", "no separator"],
  ["acme-jira", "@acme/jira", "a scope that became part of the name"],
])("%s is similar to %s: %s", (name, existing) => {
  expect(findSimilarName(name, ["left-pad", existing])).toBe(existing);
});

test.each([
  ["@acme/jira", "@acme/jira", "the same name"],
  ["@acme/app", "@acme/api", "names of three letters"],
  ["@acme/gitlab", "@acme/github", "two other letters"],
  ["@acme/jira", "@globex/jira", "another publisher"],
  ["jira", "@acme/jira", "a name without its scope"],
  ["@acme/jira-cloud", "@acme/jira", "a longer name"],
  ["@acme/jrka", "@acme/jkxa", "a letter that moves to the left"],
  ["@acme/zbaxq", "@acme/zabq", "two letters that change places and one more"],
  ["@acne/jria", "@acme/jira", "a slip in both parts"],
])("%s is not similar to %s: %s", (name, existing) => {
  expect(findSimilarName(name, [existing])).toBeUndefined();
});

test("of several similar names, the first of the alphabet is found", () => {
  expect(findSimilarName("@acme/toolx", ["@acme/tools", "@acme/toola"])).toBe("@acme/toola");
});

test("a name that exists is not similar to its neighbor", () => {
  expect(findSimilarName("@acme/tools", ["@acme/tool", "@acme/tools"])).toBeUndefined();
});
