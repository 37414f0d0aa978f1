import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { planConfigEdit } from "../../src/install/project-config.ts";
import { type AddOptions, addPacks } from "../../src/npm/add-packs.ts";
import { findInterrupted } from "../../src/npm/managers/change-journal.ts";
import { undoInterrupted } from "../../src/npm/managers/undo-interrupted.ts";
import { removePacks } from "../../src/npm/remove-packs.ts";
import { makeProject, readState, useManagers } from "../npm/changeable-project.ts";
import { packageManagers } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";
import { command, runCli } from "../support/run-cli.ts";
import { waitUntil } from "../support/wait-until.ts";

const dependencies = { "hello-tools": "^1.0.0" };
const consent = () => true;

const journalIn = (home: string) => {
  const folder = join(home, "state/trailblaze/changes");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => join(folder, name));
};

/** What of a project must be as before. */
const stateOf = (directory: string) => ({
  ...readState(directory),
  config: existsSync(join(directory, "trailblaze.config.yaml"))
    ? readFileSync(join(directory, "trailblaze.config.yaml"), "utf8")
    : null,
});

/** Makes a journal look like that of a process that has ended. */
const orphan = (text: string) => {
  const journal = JSON.parse(text);
  return { ...journal, owner: { ...journal.owner, pid: 2 ** 22 + 1 } };
};

/**
 * Makes a change up to its end, and puts its journal back, as if it had been killed just before it was done. Takes the
 * journal from inside `complete`, after the config was written.
 */
async function interrupt(
  home: string,
  change: (complete: NonNullable<AddOptions["complete"]>) => Promise<unknown>,
  directory: string,
  withConfig = true,
): Promise<{ file: string; journal: { files: Record<string, unknown>[] } }> {
  let file = "";
  let text = "";
  await change(async (noteEdit) => {
    const entry = { command: "node", args: ["x.js"] };
    const write = [{ label: "mine", entry: { name: "mine", ...entry } }];
    if (withConfig) await (await planConfigEdit(directory, { write })).apply(noteEdit);
    [file = ""] = journalIn(home);
    text = readFileSync(file, "utf8");
  });
  expect(existsSync(file)).toBe(false);
  const journal = orphan(text);
  writeFileSync(file, JSON.stringify(journal));
  return { file, journal };
}

const open = async (manager: (typeof packageManagers)[number]) => {
  const registry = inject("registry");
  const home = useManagers(registry);
  const directory = await makeProject(manager, { registry, dependencies });
  const add = (complete?: AddOptions["complete"]) =>
    addPacks(["@acme/jira"], { cwd: directory, consent, ...(complete && { complete }) });
  return { home, directory, add };
};

test.each(packageManagers)("with %s, an interrupted addition is undone byte for byte", async (manager) => {
  const { home, directory, add } = await open(manager);
  const before = stateOf(directory);
  const { file, journal } = await interrupt(home, add, directory);
  expect(findInterrupted(directory)).toEqual([{ command: "add", packs: ["@acme/jira"] }]);
  // As if killed before the package manager had ended, when nobody knew what it would make of the files.
  const unknown = journal.files.map(({ after, ...rest }) =>
    String(rest.path).endsWith(".yaml") && after !== undefined ? { after, ...rest } : rest,
  );
  writeFileSync(file, JSON.stringify({ ...journal, files: unknown }));
  const undone = await undoInterrupted({ cwd: directory });
  expect(undone).toMatchObject({ changes: [{ command: "add", packs: ["@acme/jira"] }], isInstalled: true });
  expect(undone.files).toEqual(
    expect.arrayContaining([join(directory, "package.json"), join(directory, "trailblaze.config.yaml")]),
  );
  expect(stateOf(directory)).toEqual(before);
  expect(findInterrupted(directory)).toEqual([]);
  expect(await undoInterrupted({ cwd: directory })).toMatchObject({ changes: [], files: [] });
});

test("an interrupted removal is undone, also after an interrupted addition", async () => {
  const { home, directory, add } = await open("npm");
  const before = stateOf(directory);
  await interrupt(home, add, directory, false);
  const remove = (complete: NonNullable<AddOptions["complete"]>) =>
    removePacks(["hello-tools"], { cwd: directory, complete: (_, noteEdit) => complete(noteEdit) });
  await interrupt(home, remove, directory);
  expect(findInterrupted(directory)).toEqual([
    { command: "add", packs: ["@acme/jira"] },
    { command: "remove", packs: ["hello-tools"] },
  ]);
  await undoInterrupted({ cwd: directory });
  expect(stateOf(directory)).toEqual(before);
});

test("a failed change leaves the journal of an earlier one, and a successful change ends it", async () => {
  const { home, directory, add } = await open("npm");
  await interrupt(home, add, directory, false);
  const failing = removePacks(["hello-tools"], {
    cwd: directory,
    complete: async () => {
      throw new Error("no");
    },
  });
  await expect(failing).rejects.toThrow("Failed to remove hello-tools");
  expect(findInterrupted(directory)).toEqual([{ command: "add", packs: ["@acme/jira"] }]);
  await removePacks(["@acme/jira"], { cwd: directory });
  expect(journalIn(home)).toEqual([]);
});

test("files that somebody has changed since are not overwritten", async () => {
  const { home, directory, add } = await open("npm");
  const before = stateOf(directory);
  const { file, journal } = await interrupt(home, add, directory);
  const [manifest, config] = [join(directory, "package.json"), join(directory, "trailblaze.config.yaml")];
  const [added, configured] = [readFileSync(manifest, "utf8"), readFileSync(config, "utf8")];
  const expectKept = async (path: string) => {
    const now = stateOf(directory);
    const error = await undoInterrupted({ cwd: directory }).catch((one: unknown) => one);
    expect(error).toMatchObject({
      code: "InterruptedChangeModified",
      problem: { args: { command: "add", packs: ["@acme/jira"], files: [path], journal: file } },
    });
    expect(stateOf(directory)).toEqual(now);
  };
  appendFileSync(config, "# mine\n");
  await expectKept(config);
  writeFileSync(config, configured);

  const edits: ((text: string) => string)[] = [
    (text) => `${text}\n`,
    (text) => text.replace("{", '{\n  "description": "mine",'),
    (text) => text.replace('"hello-tools": "^1.0.0"', '"hello-tools": "1.0.0"'),
    (text) => text.slice(0, -10),
    (text) => JSON.stringify(JSON.parse(text)),
  ];
  const files = journal.files.map(({ after: _, ...rest }) => rest);
  const ofConfig = journal.files.filter(({ path }) => path === config);
  const others = files.filter(({ path }) => path !== config);
  // With and without what the package manager made of package.json.
  for (const known of [journal.files, [...others, ...ofConfig]]) {
    writeFileSync(file, JSON.stringify({ ...journal, files: known }));
    for (const edit of edits) {
      writeFileSync(manifest, edit(added));
      expect(readFileSync(manifest, "utf8")).not.toBe(added);
      await expectKept(manifest);
    }
  }
  // The package manager was killed while it wrote the file.
  writeFileSync(manifest, "");
  await undoInterrupted({ cwd: directory });
  expect(stateOf(directory)).toEqual(before);
});

test("a killed `add` is reported by the next command, and `doctor --fix` waits for its package manager", async () => {
  const { home, directory } = await open("npm");
  const before = stateOf(directory);
  const folder = makeTree({});
  const [reached, released] = [join(folder, "reached"), join(folder, "released")];
  // npm, which does not end after its work until it may.
  const npm = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" });
  const script = `#!/bin/sh
[ -e "${reached}" ] && exec "${npm.trim()}" "$@"
"${npm.trim()}" "$@"
touch "${reached}"
until [ -e "${released}" ]; do sleep 0.05; done
`;
  writeFileSync(join(home, "bin/npm"), script, { mode: 0o755 });
  const cwd = directory;
  const child = spawn(process.execPath, [command, "add", "@acme/jira", "--yes"], { cwd, stdio: "ignore" });
  await waitUntil(() => existsSync(reached), 60_000);
  expect((await runCli(["list", "--json"], { cwd })).stdout).not.toContain("InterruptedChange");
  child.kill("SIGKILL");
  await once(child, "exit");

  const listed = await runCli(["list", "--json"], { cwd });
  expect(listed.exitCode).toBe(0);
  const args = { command: "add", packs: ["@acme/jira"] };
  expect(JSON.parse(listed.stdout).problems).toContainEqual(
    expect.objectContaining({ code: "InterruptedChange", severity: "warning", args }),
  );
  const text = await runCli(["list"], { cwd });
  expect(text.stderr).toContain("warning InterruptedChange");
  expect((await runCli(["list", "--strict"], { cwd })).exitCode).toBe(1);
  for (const args of [
    ["explain", "InstallFailed"],
    ["inspect", "nothing"],
  ]) {
    const other = await runCli([...args, "--json"], { cwd });
    expect(other.stderr, args[0]).toContain("warning InterruptedChange");
    expect(other.stdout).not.toContain("InterruptedChange");
  }

  const fixing = spawn(process.execPath, [command, "doctor", "--fix", "--json"], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, notes] = ["", ""];
  fixing.stdout.setEncoding("utf8").on("data", (chunk) => {
    out += chunk;
  });
  fixing.stderr.setEncoding("utf8").on("data", (chunk) => {
    notes += chunk;
  });
  const ended = once(fixing, "close");
  await waitUntil(() => /Waiting for process \d+, the package manager/.test(notes), 60_000);
  writeFileSync(released, "");
  expect(await ended).toEqual([0, null]);
  expect(stateOf(directory)).toEqual(before);
  expect(JSON.parse(out)).toMatchObject({
    project: directory,
    checks: [{ name: "changes", ok: true, summary: expect.stringContaining("undid `add @acme/jira`") }],
    problems: [],
  });
  expect((await runCli(["list"], { cwd })).stderr).toBe("");
  const again = await runCli(["doctor", "--fix"], { cwd });
  expect(again).toMatchObject({ exitCode: 0, stdout: "ok  changes  no change was interrupted\n" });
  rmSync(join(home, "bin/npm"));
});

test("`doctor --fix` takes no options of the checks, and says what was edited", async () => {
  const { home, directory, add } = await open("npm");
  const refused = await runCli(["doctor", "--fix", "--memory", "a=b"], { cwd: directory });
  expect(refused.exitCode).toBe(2);
  await interrupt(home, add, directory, false);
  appendFileSync(join(directory, "package.json"), "\n");
  const now = stateOf(directory);
  const { exitCode, stderr } = await runCli(["doctor", "--fix"], { cwd: directory });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("error InterruptedChangeModified");
  expect(stateOf(directory)).toEqual(now);
});
