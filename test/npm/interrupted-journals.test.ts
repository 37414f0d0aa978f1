// Journals of interrupted changes that are damaged, or that somebody else wrote.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test, vi } from "vitest";
import { findInterrupted } from "../../src/npm/managers/change-journal.ts";
import { changePackages } from "../../src/npm/managers/change-packages.ts";
import { undoInterrupted } from "../../src/npm/managers/undo-interrupted.ts";
import { makeTree } from "../support/packs.ts";
import { command, runCli } from "../support/run-cli.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";
import { waitUntil } from "../support/wait-until.ts";
import { useHome } from "./user-home.ts";

const onPosix = test.skipIf(process.platform === "win32");
const names = ["@acme/jira"];
const manifest = `${JSON.stringify({ name: "app", private: true }, null, 2)}\n`;
const added = `${JSON.stringify({ name: "app", private: true, dependencies: { "@acme/jira": "1" } }, null, 2)}\n`;

interface Written {
  changes: unknown[];
  files: Record<string, unknown>[];
  owner: { pid: number };
}

/** A project, and a way to change its packages with a package manager that only writes package.json. */
function makeProject() {
  const state = join(useHome([]), "state");
  vi.stubEnv("XDG_STATE_HOME", state);
  const directory = makeTree({ "package.json": manifest });
  const script = `require("node:fs").writeFileSync("package.json", ${JSON.stringify(added)})`;
  const project = {
    directory,
    workspaceRoot: undefined,
    manager: { name: "npm", isModernYarn: false },
    program: { command: process.execPath, args: ["--eval", script] },
  } as const;
  const journals = join(state, "trailblaze/changes");
  const add = (verify: () => void = () => {}) =>
    changePackages(project, { kind: "add", names, packages: names }, {}, async () => void verify());
  return { directory, journals, add, read: () => readFileSync(join(directory, "package.json"), "utf8") };
}

/** A project whose change was interrupted, and its journal. */
async function interrupt() {
  const project = makeProject();
  let file = "";
  let text = "";
  await project.add(() => {
    file = join(project.journals, readdirSync(project.journals)[0] ?? "");
    text = readFileSync(file, "utf8");
  });
  const journal = JSON.parse(text) as Written;
  journal.owner.pid = 2 ** 22 + 1;
  writeFileSync(file, JSON.stringify(journal));
  expect(findInterrupted(project.directory)).toEqual([{ command: "add", packs: names }]);
  return { ...project, file, journal };
}

const damaged: [string, (journal: Written) => unknown][] = [
  ["is cut off", (journal) => JSON.stringify(journal).slice(0, -20)],
  ["is empty", () => ""],
  ["has another version", (journal) => ({ ...journal, version: 2 })],
  ["has no change", (journal) => ({ ...journal, changes: [] })],
  ["has an unknown change", (journal) => ({ ...journal, changes: [{ command: "rm", packs: names }] })],
  [
    "has no content of a file",
    ({ files: [file], ...rest }) => ({ ...rest, files: [{ ...file, before: 1 }] }),
  ],
  [
    "has damaged content of a file",
    ({ files: [file], ...rest }) => ({ ...rest, files: [{ ...file, before: "{}" }] }),
  ],
  ["has a file without a path", ({ files, ...rest }) => ({ ...rest, files: [...files, { mode: 420 }] })],
];

test.each(damaged)("a journal that %s counts as none, and restores nothing", async (_, damage) => {
  const { directory, file, journal, read } = await interrupt();
  const broken = damage(journal);
  writeFileSync(file, typeof broken === "string" ? broken : JSON.stringify(broken));
  expect(findInterrupted(directory)).toEqual([]);
  expect(await undoInterrupted({ cwd: directory })).toMatchObject({ changes: [], files: [] });
  expect(read()).toBe(added);
});

test("a journal that is a link or a folder counts as none, and a later change succeeds", async () => {
  const { directory, file, journal, add } = await interrupt();
  const elsewhere = join(makeTree({ "journal.json": JSON.stringify(journal) }), "journal.json");
  for (const make of [
    () => makeLink(elsewhere, file),
    () => mkdirSync(join(file, "x"), { recursive: true }),
  ]) {
    rmSync(file, { recursive: true });
    make();
    expect(findInterrupted(directory)).toEqual([]);
  }
  await add();
  expect(existsSync(file)).toBe(false);
});

onPosix("no command waits for a journal that is a named pipe", async () => {
  const { directory, file } = await interrupt();
  rmSync(file);
  makeFifo(file);
  expect(await runCli(["list"], { cwd: directory })).toMatchObject({ exitCode: 0, stderr: "" });
});

test.skipIf(process.getuid?.() !== 0)("a journal of another user counts as none", async () => {
  const { directory, file } = await interrupt();
  chownSync(file, 65_534, 65_534);
  expect(findInterrupted(directory)).toEqual([]);
});

test("a file that became a folder is reported as changed", async () => {
  const { directory, file, journal } = await interrupt();
  const config = join(directory, "trailblaze.config.yaml");
  const files = [...journal.files, { path: config, mode: 420, before: null }];
  writeFileSync(file, JSON.stringify({ ...journal, files }));
  mkdirSync(config);
  await expect(undoInterrupted({ cwd: directory })).rejects.toMatchObject({
    code: "InterruptedChangeModified",
    problem: { args: { files: [config] } },
  });
});

test("`start --json` warns of an interrupted change", async () => {
  const { directory } = await interrupt();
  const { stderr } = await runCli(["start", "--json"], { cwd: directory });
  expect(stderr).toContain("warning InterruptedChange");
});

test("a change removes what an interrupted one left next to the project's files", async () => {
  const { directory, add } = await interrupt();
  const left = join(directory, ".package.json.trailblaze-0123456789ab");
  writeFileSync(left, manifest);
  await add();
  expect(existsSync(left)).toBe(false);
});

onPosix(
  "after `doctor --fix` was killed as well, the next one waits for the package manager that it ran",
  async () => {
    const { directory, read } = await interrupt();
    const folder = makeTree({ "bin/.keep": "" });
    const [reached, released] = [join(folder, "reached"), join(folder, "released")];
    // npm, which writes to the lockfile when it may.
    const script = `#!/bin/sh
[ -e "${reached}" ] && exit 0
touch "${reached}"
until [ -e "${released}" ]; do sleep 0.05; done
echo late > package-lock.json
`;
    writeFileSync(join(folder, "bin/npm"), script, { mode: 0o755 });
    vi.stubEnv("PATH", `${join(folder, "bin")}${delimiter}${process.env.PATH}`);
    const child = spawn(process.execPath, [command, "doctor", "--fix"], { cwd: directory, stdio: "ignore" });
    await waitUntil(() => existsSync(reached), 60_000);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(read()).toBe(manifest);

    const waits: string[] = [];
    await undoInterrupted({
      cwd: directory,
      onWait(what) {
        waits.push(what);
        writeFileSync(released, "");
      },
    });
    expect(waits).toEqual([expect.stringMatching(/^process \d+, the package manager/)]);
    expect(read()).toBe(manifest);
    expect(existsSync(join(directory, "package-lock.json"))).toBe(false);
  },
);
