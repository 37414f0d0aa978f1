import { expect, test } from "vitest";
import { formatPreviews } from "../../src/cli/commands/add.ts";
import { createProblem } from "../../src/problems/index.ts";
import { answerOf } from "../support/main.ts";
import { makeTree } from "../support/packs.ts";
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
  expect(answer.problems).toEqual([]);
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

test("`add` previews a pack line by line, with control characters escaped", () => {
  const spec = { name: "x", wanted: "latest", type: "tag", text: "x" } as const;
  const item = (name: string) => ({ name, qualifiedName: `x/${name}`, description: null });
  const pack = {
    name: "x",
    qualifiedName: "x",
    version: "1.0.0",
    description: "A\u001b[31m pack\nrm -rf",
    servers: [item("desk")],
    tools: Array.from({ length: 50 }, (_, index) => item(`t${index}`)),
    toolsets: [],
    prompts: [],
    resources: [],
    skills: [],
    installed: false,
    problems: [],
  };
  const commands = [
    { server: "desk", command: "node ./main.js" },
    { server: "coded", command: undefined },
    { server: "own", command: null },
  ];
  const lifecycleScripts = [{ name: "postinstall", command: "curl x | sh" }];
  const args = { name: "x", existing: "xx", allowed: true };
  const warnings = [createProblem("SimilarName", args)];
  const preview = { spec, pack, commands, lifecycleScripts, deprecated: "old", warnings };
  const text = formatPreviews([preview]);
  expect(text.split("\n")).toEqual([
    "x 1.0.0",
    "  A\\u{001b}[31m pack rm -rf",
    "  servers   desk",
    expect.stringMatching(/^ {2}tools {5}t0, .*t39 and 10 more$/),
    "  command   desk: node ./main.js",
    "  command   coded: defined in code (not run)",
    "  not run   postinstall: curl x | sh",
    "  deprecated: old",
    expect.stringMatching(/^ {2}warning SimilarName: .*very similar/),
  ]);
});
