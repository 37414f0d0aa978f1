import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { formatPreviews } from "../../src/cli/commands/packages.ts";
import { discoverPacks } from "../../src/index.ts";
import { planAdd } from "../../src/npm/add-packs.ts";
import { parseSpecs } from "../../src/npm/parse-specs.ts";
import { planRemove } from "../../src/npm/remove-packs.ts";
import { searchPacks } from "../../src/remote.ts";
import { openSession } from "../../src/session.ts";
import {
  makeProject,
  makeQuickProject,
  packQuickly,
  readState,
  useManagers,
} from "../npm/changeable-project.ts";
import { startRegistryProxy } from "../npm/registry-proxy.ts";
import { runMain } from "../support/main.ts";
import { packageManagers } from "../support/package-managers.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { commandsIn } from "../support/preview.ts";
import { publish } from "../support/publish.ts";
import { command } from "../support/run-cli.ts";

const namesOf = (packs: readonly { name: string }[]) => packs.map(({ name }) => name);
const readManifest = (directory: string) => JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));

/** Of the project of most tests, which each package manager installs once. */
const dependencies = { "hello-tools": "^1.0.0", "is-number": "^7.0.0" };

test("search finds published packs by text, and all of them without one", async () => {
  const registry = inject("registry");
  useManagers(registry);
  const cwd = await makeProject("npm", { registry, dependencies });
  expect((await searchPacks("calculator", { cwd })).packs).toMatchObject([
    { name: "@globex/calculator", qualifiedName: "globex/calculator", version: "1.1.0", installed: false },
  ]);
  expect((await searchPacks("", { cwd })).packs).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "hello-tools", installed: true }),
      expect.objectContaining({ name: "@globex/text", version: "1.0.0", installed: false }),
    ]),
  );
});

test.each(packageManagers)(
  "with %s, add installs a pack after showing it, a failure then restores the project, and remove uninstalls a pack",
  async (manager) => {
    const registry = inject("registry");
    const home = useManagers(registry);
    if (manager !== "npm") packQuickly(home);
    const directory = await makeProject(manager, { registry, dependencies });
    const before = readState(directory);
    const readDirect = async () =>
      namesOf((await discoverPacks({ cwd: directory })).packs.filter(({ origin }) => origin === "direct"));
    const commands: string[] = [];
    const onCommand = (command: string) => commands.push(command);
    const plan = await planAdd(parseSpecs(["@globex/calculator@~1.1"]), { cwd: directory, onCommand });
    expect(readState(directory)).toEqual(before);
    const adding = plan.apply(async () => {
      expect(await readDirect()).toEqual(["@globex/calculator", "hello-tools"]);
      expect(Object.keys(readManifest(directory).dependencies)).toContain("@globex/calculator");
      throw new Error("no");
    });
    await expect(adding).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: { restored: true } },
      cause: { message: "no" },
    });
    expect(readState(directory)).toEqual(before);
    expect(plan.previews).toMatchObject([{ pack: { name: "@globex/calculator", version: "1.1.0" } }]);
    expect(commandsIn(plan.previews[0])).toEqual([
      expect.stringMatching(/^arithmetic: node /),
      "statistics: node ./main.js --statistics (in ./server)",
    ]);
    const verb = manager === "npm" ? "install" : "add";
    expect(commands.map((command) => command.split(" ")[1])).toEqual([verb, "install"]);
    expect(commands[0]).toMatch(new RegExp(`^${manager} .*ignore-scripts`));

    const removal = await planRemove(["hello-tools"], { cwd: directory });
    await removal.apply();
    expect(removal.removed).toMatchObject([{ name: "hello-tools", version: "1.0.0" }]);
    expect(await readDirect()).toEqual([]);
    expect(Object.keys(readManifest(directory).dependencies)).toEqual(["is-number"]);
  },
);

test("add in a member of a workspace changes that member only", async () => {
  const workspaces = { "packages/app": { name: "app", version: "1.0.0" } };
  const { directory } = await makeQuickProject({ workspaces });
  const member = join(directory, "packages/app");
  const { added } = await (await planAdd(parseSpecs(["weather-tools"]), { cwd: member })).apply();
  expect(namesOf(added)).toEqual(["weather-tools"]);
  expect(Object.keys(readManifest(member).dependencies)).toEqual(["weather-tools"]);
  expect(readManifest(directory).dependencies).toEqual({});
});

describe("changes that are rejected", () => {
  test("add detects a tarball that is not the registry's, or does not come", async () => {
    const proxy = await startRegistryProxy(inject("registry"));
    useManagers(proxy.url);
    const directory = await makeProject("npm", { registry: proxy.url });
    const before = readState(directory);
    const plan = (options = {}) => planAdd(parseSpecs(["@acme/jira"]), { cwd: directory, ...options });

    proxy.intercept = ({ path }, response) =>
      path.endsWith(".tgz") && response.end("other bytes") !== undefined;
    // npm's cache has the tarball by now.
    vi.stubEnv("npm_config_cache", makeTree({}));
    await expect(plan()).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: { reason: expect.stringContaining("integrity") } },
    });
    proxy.intercept = ({ path }) => path.endsWith(".tgz");
    await expect(plan({ registryTimeoutMs: 300 })).rejects.toMatchObject({
      code: "RegistryUnavailable",
    });
    expect(readState(directory)).toEqual(before);
  });

  test("add rejects packages that are missing or not packs, and remove those that are not declared", async () => {
    const registry = inject("registry");
    useManagers(registry);
    const directory = await makeProject("npm", { registry, dependencies });
    const before = readState(directory);
    const add = (spec: string) => planAdd(parseSpecs([spec]), { cwd: directory });
    const remove = (name: string) => planRemove([name], { cwd: directory });
    await expect(add("is-number")).rejects.toMatchObject({ code: "ExtensionNotFound" });
    await expect(add("hello-tools@^99")).rejects.toMatchObject({ code: "InstallFailed" });
    await expect(remove("@acme/jira")).rejects.toMatchObject({ code: "PackNotInstalled" });
    expect(readState(directory)).toEqual(before);
  });
});

/** Publishes a pack under a name of the registry's own, by this test alone. */
const publishPack = (name: string, fields: Record<string, unknown>) =>
  publish(inject("registry"), {
    "package.json": packManifest(name, { trailblaze: { servers: ["own"] }, ...fields }),
    "trailblaze/servers/own.mjs": "export default { name: 'own', command: 'node', args: ['x.js'] };\n",
    "canary.js": "require('node:fs').writeFileSync(process.env.INIT_CWD + '/canary', '');\n",
  });

test("a lifecycle script is shown but not run, whatever the settings are, and a dependency outside the registry rejects a pack", async () => {
  const scripts = { preinstall: "node canary.js", postinstall: "node canary.js" };
  await publishPack("tb-scripts", { type: "commonjs", scripts });
  await publishPack("tb-foreign", { dependencies: { other: "git+https://git.invalid/other.git" } });
  const { directory } = await makeQuickProject();
  writeFileSync(join(directory, ".npmrc"), "ignore-scripts=false\n");
  const add = (spec: string) => planAdd(parseSpecs([spec]), { cwd: directory });
  await expect(add("tb-foreign")).rejects.toMatchObject({
    code: "UnsupportedSpec",
    problem: { args: { reason: expect.stringContaining("tb-foreign") } },
  });
  const { previews, apply } = await add("tb-scripts");
  const { problems } = await apply();
  expect(formatPreviews(previews, undefined).match(/not run +\w+/g)).toEqual([
    "not run   preinstall",
    "not run   postinstall",
  ]);
  expect(commandsIn(previews[0])).toEqual(["own: defined in code (not run)"]);
  expect(problems.map(({ code }) => code)).toContain("LifecycleScript");
  expect(existsSync(join(directory, "canary"))).toBe(false);
});

describe("a package manager that fails", () => {
  /** Puts a program in npm's place. Returns the project. */
  async function setUp(script: string, npmrc = ""): Promise<string> {
    const registry = inject("registry");
    const home = useManagers(registry);
    appendFileSync(join(home, ".npmrc"), npmrc);
    packQuickly(home, script);
    return makeProject("npm", { registry });
  }

  const add = async (directory: string, options = {}) => {
    const plan = await planAdd(parseSpecs(["@acme/jira"]), { cwd: directory, ...options });
    const error = await plan.apply().catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "InstallFailed" });
    return (error as { problem: { args: Record<string, unknown> } }).problem.args;
  };

  test("a failing package manager is quoted without credentials", async () => {
    const words = "npm error code E500 http://somebody:passw0rd@registry.invalid/ with s3cret-token";
    const script = `case "$*" in *jira*) { echo "${words}"; echo; echo "  second line"; } >&2; exit 1;; esac`;
    const directory = await setUp(script, "\n//registry.invalid/:_authToken=s3cret-token\n");
    expect(await add(directory)).toMatchObject({
      reason: "npm exited with code 1",
      restored: true,
      output: ["npm error code E500 http://***@registry.invalid/ with ***", "  second line"],
    });
  });

  test("a package manager that silently installs nothing is detected", async () => {
    const directory = await setUp("exit 0");
    expect(await add(directory)).toMatchObject({ reason: expect.stringContaining("@acme/jira") });
  });

  test("if the package manager fails again during the restore, only the project's files are restored", async () => {
    const directory = await setUp(
      "echo broken > package.json; rm -f package-lock.json; touch yarn.lock; exit 3",
    );
    const { files } = readState(directory);
    const args = await add(directory);
    expect(args).toMatchObject({ restored: false });
    expect(args).not.toHaveProperty("hint");
    expect(readState(directory).files).toEqual(files);
  });

  const interruption = new AbortController();

  test("a package manager that runs when the change is interrupted is killed, and the project is restored", async () => {
    const directory = await setUp('case "$*" in *jira*) echo broken > package.json; exec sleep 600;; esac');
    const before = readState(directory);
    const onCommand = () => setTimeout(() => interruption.abort(), 300);
    const args = await add(directory, { signal: interruption.signal, onCommand });
    expect(args).toMatchObject({ reason: expect.stringContaining("interrupted") });
    expect(readState(directory)).toEqual(before);
  });
});

test.skipIf(process.platform !== "linux").each([
  ["yes\n", true],
  ["yesterday\n", false],
])(
  "add on a terminal shows what it installs, and installs it only after a yes: %j",
  async (answer, isAdded) => {
    const { directory: cwd } = await makeQuickProject();
    const line = `'${process.execPath}' '${command}' add @globex/calculator`;
    const child = spawn("script", ["-qec", line, "/dev/null"], { cwd, env: process.env });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("[y/N]")) child.stdin.end(answer);
    });
    await once(child, "close");
    const [before = "", after = ""] = text.split("[y/N]");
    expect(before).toContain("command   statistics: node ./main.js --statistics (in ./server)");
    expect(before).not.toContain("Running npm");
    expect(after.includes("Running npm install")).toBe(isAdded);
    expect(Object.keys(readManifest(cwd).dependencies).length).toBe(isAdded ? 1 : 0);
  },
);

describe("packs that a session needs but that are not installed", () => {
  const config = {
    packs: { autoInstall: ["acme/jira"], deny: ["weather-tools"] },
    toolsets: { mine: ["acme/jira@^1.2/createIssue", "hello-tools/greet", "weather-tools/forecast"] },
    servers: { hello: { tools: ["hello-tools@^1.0/greet"] } },
  };

  async function makeHost() {
    const project = await makeQuickProject();
    writeFileSync(join(project.directory, "trailblaze.config.json"), JSON.stringify(config));
    return project;
  }

  test("a session installs a missing pack if the config or the host allows it", async () => {
    const { directory: cwd } = await makeHost();
    const commands: string[] = [];
    const open = async (options: { install?: boolean }) => {
      await using session = await openSession({ ...options, cwd, onInstall: (one) => commands.push(one) });
      const missing = session.problems.filter(({ code }) => code === "PackNotInstalled");
      return { tools: session.tools.map(({ qualifiedName }) => qualifiedName), missing: missing.length };
    };
    const allowed = await open({});
    expect(allowed.tools).toContain("acme/jira/createIssue");
    expect(allowed.missing).toBe(2);
    expect(commands).toEqual([expect.stringMatching(/^npm install .* "@acme\/jira@\^1\.2"$/)]);

    const told = await open({ install: true });
    expect(told.tools).toContain("hello-tools/greet");
    // What is denied is not installed by anybody's leave.
    expect(told.missing).toBe(1);
    expect(Object.keys(readManifest(cwd).dependencies)).toEqual(["@acme/jira", "hello-tools"]);
    await open({ install: true });
    expect(commands).toHaveLength(2);
  });

  test("a missing pack that cannot be downloaded is a problem of the session and an error of a call", async () => {
    const { directory: cwd, home } = await makeHost();
    rmSync(join(home, "bin/npm"));
    vi.stubEnv("npm_config_registry", "http://127.0.0.1:9/");
    await using session = await openSession({ cwd });
    expect(session.problems.map(({ code }) => code)).toContain("RegistryUnavailable");
    const { exitCode, stdout } = await runMain(["call", "acme/jira/createIssue", "--json"], { cwd });
    expect([exitCode, JSON.parse(stdout).error.code]).toEqual([1, "RegistryUnavailable"]);
  });

  test("a missing pack is installed for a client's entry if that is allowed, but not for a dry run", async () => {
    const { directory: cwd, home } = await makeHost();
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await runMain([...args, "--json"], { cwd, env: { HOME: home } });
      return { answer: JSON.parse(stdout), stderr };
    };
    const install = ["install", "cursor", "hello"];
    for (const more of [[], ["--install", "--dry-run"]]) {
      expect((await run(...install, ...more)).answer.error.code).toBe("PackNotInstalled");
    }
    expect(existsSync(join(cwd, "node_modules/hello-tools"))).toBe(false);
    const { answer, stderr } = await run(...install, "--install");
    expect(answer).toMatchObject({ key: "hello", changed: true });
    expect(stderr).toMatch(/^Running npm install .* "hello-tools@\^1\.0"$/m);
  });
});
