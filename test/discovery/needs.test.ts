// What a pack needs, wherever packs are shown.
import { describe, expect, test } from "vitest";
import { command as inspect } from "../../src/cli/commands/inspect.ts";
import { discoverPacks, inspectPack } from "../../src/index.ts";
import { describeRemotePack } from "../../src/npm/search-packs.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { formatPreviewOf } from "../support/preview.ts";

const needs = {
  env: ["JIRA_TOKEN"],
  network: ["api.atlassian.com", "*.atlassian.net:443"],
  read: [],
  tools: ["web_*", "acme/notes/create"],
};

const manifest = (field: unknown) =>
  packManifest("@acme/jira", { trailblaze: { tools: ["a"], needs: field } });
const makeProject = (field: unknown) =>
  makeTree({
    "package.json": { name: "app", dependencies: { "@acme/jira": "*" } },
    "node_modules/@acme/jira/package.json": manifest(field),
  });

const discover = async (field: unknown) => {
  const [pack] = (await discoverPacks({ cwd: makeProject(field) })).packs;
  return pack;
};

async function inspectForPeople(field: unknown): Promise<string> {
  const input = { positionals: ["@acme/jira"], options: {}, cwd: makeProject(field) };
  const answer = await inspect.run({ ...input, json: false } as never);
  return answer.formatText?.({ color: false, width: undefined }) ?? "";
}

const preview = (field: unknown) => formatPreviewOf(makeTree({ "package.json": manifest(field) }));

describe("the needs of a pack", () => {
  test("discovery, inspection and search show the declared needs", async () => {
    expect((await discover(needs))?.needs).toEqual(needs);
    expect((await inspectPack("@acme/jira", { cwd: makeProject(needs) })).needs).toEqual(needs);
    expect(describeRemotePack("@acme/jira", manifest(needs), new Set())?.needs).toEqual(needs);
  });

  test("`inspect` shows what is declared, what is none and what is not declared", async () => {
    const page = await inspectForPeople(needs);
    expect(page.slice(page.indexOf("NEEDS")).split("\n")).toEqual([
      "NEEDS    DECLARED",
      "env      JIRA_TOKEN",
      "network  api.atlassian.com, *.atlassian.net:443",
      "read     none",
      "write    not declared",
      "tools    web_*, acme/notes/create",
    ]);
    expect(await inspectForPeople(undefined)).not.toContain("NEEDS");
  });

  test("the preview of `add` has a line for each key, and none for a pack that declares nothing", async () => {
    expect(await preview(needs)).toContain("\n  needs     read: none\n  needs     write: not declared\n");
    expect(await preview(undefined)).not.toContain("needs");
  });
});

test("hostile paths and long lists are escaped and cut where people read them", async () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `V${index}`);
  const field = { env: many, read: ["${TMP}/\u202egnp", `\${TMP}/${"x".repeat(500_000)}`] };
  for (const text of [await inspectForPeople(field), await preview(field)]) {
    expect(text).toMatch(/V39 and 9960 more|V39.*… \([\d,]+ more characters/s);
    expect(text).toContain("\\u{202e}gnp");
    expect(text).toMatch(/x… \([\d,]+ more characters/);
    expect(text).not.toContain("\u202e");
    expect(text.length).toBeLessThan(20_000);
  }
});
