// The sample packs check their own README, as packs of `init` do, and each can be exported.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { planExport } from "../../src/author/exports.ts";
import { applyEdits, isChange } from "../../src/files/edit.ts";
import { validateExtension } from "../../src/index.ts";
import { describePack } from "../../src/pages/describe-packs.ts";
import { answerOf } from "../support/main.ts";
import { samplePacks } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

test.each(samplePacks)("the README of $name documents it as `docs --check` wants", async ({ folder }) => {
  const { exitCode, json } = await answerOf(folder, "docs", "--write", "README.md", "--check");
  expect({ exitCode, ...(json as object) }).toMatchObject({ exitCode: 0, files: [{ changed: false }] });
});

test("a change of a definition makes the README of a sample pack outdated", async () => {
  const copy = copyPack(samplePacks.find(({ name }) => name === "hello-tools")?.folder ?? "");
  const answer = await answerOf(copy, "docs", "--write", "README.md", "--check", "--level", "3");
  expect(answer).toMatchObject({ exitCode: 1 });
});

function copyPack(folder: string): string {
  const { path, remove } = makeTemporaryFolder();
  onTestFinished(remove);
  const copy = join(path, "pack");
  mkdirSync(copy);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

const load = (cwd: string) =>
  describePack(undefined, { cwd, builtIns: [], dataOnly: false, requireConfinement: false });

test.each(samplePacks)("the servers of $name can be exported as commands", async ({ folder }) => {
  const cwd = copyPack(folder);
  for (const { name } of (await load(cwd)).pack.servers) {
    const options = { force: false };
    const plan = async () => planExport(await load(cwd), "bin", name, options).files.map(({ edit }) => edit);
    applyEdits(await plan());
    expect((await plan()).filter(isChange)).toEqual([]);
  }
  const { problems } = await validateExtension(cwd);
  expect(problems.filter(({ code }) => code.startsWith("Export") || code === "FileNotPublished")).toEqual([]);
});
