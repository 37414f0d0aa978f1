import { expect, test } from "vitest";
import { findSimilarName } from "../../src/qualified-names/similar-names.ts";

test.each([
  ["@acme/jria", "@acme/jira", "two letters change places"],
  ["@acme/jiira", "@acme/jira", "a letter too many"],
  ["@acme/jra", "@acme/jira", "a letter too few"],
  ["@acme/jirs", "@acme/jira", "another letter"],
  ["@acne/jira", "@acme/jira", "another letter in the scope"],
  ["@acem/jira", "@acme/jira", "two letters of the scope change places"],
  ["@ibn/jira", "@ibm/jira", "another letter in a scope of three"],
  ["@acrne/jira", "@acme/jira", "rn for m"],
  ["@acme/j1ra", "@acme/jira", "a digit that looks like a letter"],
  ["@acme/jlra", "@acme/jira", "a letter that looks like another"],
  ["@acme/to0ls", "@acme/tools", "0 for o"],
  ["@acme/a1", "@acme/al", "a look-alike in a short name"],
  ["hello_tools", "hello-tools", "another separator"],
  ["hello.tools", "hello-tools", "a dot for a dash"],
  ["hellotools", "hello-tools", "no separator"],
  ["acme-jira", "@acme/jira", "a scope that became part of the name"],
  ["@acme/jira", "@acme/jiira", "a doubled letter left out"],
  ["@acme/savvy", "@acme/sawy", "vv for w"],
  ["@acme/clock", "@acme/dock", "cl for d"],
  ["@acme/he110-tool5", "@acme/hello-tools", "several look-alikes"],
])("%s is similar to %s: %s", (name, existing) => {
  expect(findSimilarName(name, ["left-pad", existing])).toBe(existing);
});

test.each([
  ["@acme/jira", "@acme/jira", "the same name"],
  ["@acme/b", "@acme/a", "names of one letter"],
  ["@acme/app", "@acme/api", "names of three letters"],
  ["@b/jira", "@a/jira", "scopes of one letter"],
  ["@acme/gitlab", "@acme/github", "two other letters"],
  ["@acme/jira", "@globex/jira", "another publisher"],
  ["jira", "@acme/jira", "a name without its scope"],
  ["@acme/jira-cloud", "@acme/jira", "a longer name"],
  ["@acme/jira", "@acme/jira-cloud", "a shorter name"],
  ["@acme/a-b", "@acme/ab", "a separator in a short name"],
  ["@acme/jrka", "@acme/jkxa", "a letter that moves to the left"],
  ["@acme/jrka", "@acme/jxra", "a letter that moves to the right"],
  ["@acme/zbaxq", "@acme/zabq", "two letters that change places and one more"],
  ["@acme/zbaq", "@acme/zabxq", "two letters that change places and one less"],
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
