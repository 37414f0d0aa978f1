import { describe, expect, test } from "vitest";
import { isItemAllowed, type PacksPolicy } from "../../src/config/packs-policy.ts";
import { findPacks } from "../../src/discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../../src/files/node-discovery-port.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const policy: PacksPolicy = { allow: undefined, deny: [], transitive: [] };
const isAllowed = (changes: Partial<PacksPolicy>, item: string, isTransitive = false) =>
  isItemAllowed({ ...policy, ...changes }, "acme/jira", `acme/jira/${item}`, { isTransitive });

describe("a policy passed to discovery", () => {
  test("a policy passed to discovery replaces the project's config, which is not read", async () => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { notes: "*", text: "*" } },
      "node_modules/notes/package.json": packManifest("notes"),
      "node_modules/text/package.json": packManifest("text"),
      "trailblaze.config.yaml": "packs: [broken",
    });
    const given = { ...policy, deny: ["notes"] };
    const { packs } = await findPacks(createNodeDiscoveryPort(), { cwd: root, policy: given });
    expect(packs.map(({ pack }) => [pack.name, pack.enabled])).toEqual([
      ["notes", false],
      ["text", true],
    ]);
    await expect(findPacks(createNodeDiscoveryPort(), { cwd: root })).rejects.toMatchObject({
      code: "InvalidConfig",
      problem: { file: "trailblaze.config.yaml", args: { reason: expect.stringContaining("YAML") } },
    });
  });
});

describe("items that a policy allows", () => {
  test.each([
    [{}, true],
    [{ allow: [] }, false],
    [{ allow: ["acme/jira"] }, true],
    [{ allow: ["@acme/*"] }, true],
    [{ allow: ["acme/jira/get*"] }, true],
    [{ allow: ["acme/jira/create*"] }, false],
    [{ allow: ["jira/getIssue"] }, false],
    [{ deny: ["acme/jira"] }, false],
    [{ deny: ["acme/jira/getIssue"] }, false],
    [{ deny: ["acme/jira/createIssue"] }, true],
    [{ allow: ["acme/jira"], deny: ["acme/jira/getIssue"] }, false],
    [{ allow: ["acme/jira/getIssue"], deny: ["acme/jira"] }, false],
    [{ allow: ["acme/jira/getIssue"], deny: ["*/*/getIssue"] }, false],
  ])("under %j, the item is allowed: %j", (changes, expected) => {
    expect(isAllowed(changes, "getIssue")).toBe(expected);
  });

  test.each([
    [{}, false],
    [{ transitive: ["acme/jira"] }, true],
    [{ transitive: ["acme/jira/getIssue"] }, true],
    [{ transitive: ["acme/jira/createIssue"] }, false],
    [{ transitive: ["acme/jira"], deny: ["acme/jira/getIssue"] }, false],
  ])("for a transitive pack under %j, the item is allowed: %j", (changes, expected) => {
    expect(isAllowed(changes, "getIssue", true)).toBe(expected);
  });
});
