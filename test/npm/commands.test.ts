import { expect, test } from "vitest";
import { createProblem } from "../../src/problems/index.ts";
import { answerOf } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { formatPreviewOf } from "../support/preview.ts";
import { remoteManifest, startStandIn } from "./stand-in-registry.ts";
import { useHome } from "./user-home.ts";

const style = { color: false, width: undefined };

test("`search` shows packs as a table, with control characters escaped", async () => {
  const registry = await startStandIn({
    manifests: [
      remoteManifest("evil-tools", {
        version: "\u001b[2J",
        description: "\u001b[31mred\u202e and\nlines",
        trailblaze: { tools: [["ok", "\u001b]0;title\u0007"], "\u001b[1m"] },
      }),
      remoteManifest("@acme/jira"),
    ],
  });
  useHome([`registry=${registry.url}`]);
  const answer = await answerOf(makeTree({}), "search");
  const text = answer.formatText?.(style) ?? "";
  expect(text.split("\n")[1]).toMatch(/^@acme\/jira +1\.2\.3 +no +1 tool +The pack @acme\/jira\.$/);
  expect(text).toContain("\\u{001b}[31mred");
  expect([...text].some((character) => /[\u0000-\u0009\u000b-\u001f\u202e]/.test(character))).toBe(false);
  expect(answer.json).toMatchObject({ problems: [] });
  expect(answer.json).toMatchObject({ total: 2, source: "network" });
});

test("`add` rejects unsupported specs and a missing terminal before it contacts the registry", async () => {
  const registry = await startStandIn();
  useHome([`registry=${registry.url}`]);
  const cwd = makeTree({ "package.json": { name: "app" } });
  await expect(answerOf(cwd, "add", "github:acme/jira", "--yes")).rejects.toMatchObject({
    code: "UnsupportedSpec",
  });
  await expect(answerOf(cwd, "add", "acme-jira")).rejects.toMatchObject({ code: "InvalidArguments" });
  expect(registry.seen).toEqual([]);
  await expect(answerOf(makeTree({}), "add", "acme-jira", "--yes")).rejects.toMatchObject({
    code: "ProjectNotFound",
  });
  await expect(answerOf(cwd, "add", "acme-jira", "--yes")).rejects.toMatchObject({
    code: "InstallFailed",
  });
  await registry.close();
  await expect(answerOf(cwd, "add", "acme-jira", "--yes")).rejects.toMatchObject({
    code: "RegistryUnavailable",
  });
});

test("`add` previews a pack line by line, with control characters escaped", async () => {
  const servers = { desk: { script: "./main.js" }, own: { tools: ["t0"] } };
  const tools = Array.from({ length: 2000 }, (_, index) => `t${index}`);
  const folder = makeTree({
    "package.json": packManifest("x", {
      description: "A\u001b[31m pack\nrm -rf",
      scripts: { postinstall: "curl x | sh", preinstall: { toString: 1 }, test: "true" },
      trailblaze: { servers: ["desk", "coded", "own"], tools },
    }),
    "trailblaze/servers.json": servers,
    "trailblaze/servers/coded.mjs": "",
  });
  const args = { name: "x", existing: "xx", allowed: true };
  const warnings = [createProblem("SimilarName", args)];
  const text = await formatPreviewOf(folder, { deprecated: "old", warnings });
  expect(text.split("\n")).toEqual([
    "x 1.0.0",
    "  A\\u{001b}[31m pack rm -rf",
    "  servers   desk, coded, own",
    `  tools     ${tools.join(", ")}`,
    "  command   desk: node ./main.js",
    "  command   coded: defined in code (not run)",
    "  not run   postinstall: curl x | sh",
    "  deprecated: old",
    expect.stringMatching(/^ {2}warning SimilarName: .*very similar/),
  ]);
});
