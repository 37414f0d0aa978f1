// Code in projects of Yarn Plug'n'Play: packages in folders run with its program, and those in archives do not run.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainLayout, refuseArchived } from "../../src/cli/explain-layout.ts";
import { inspectItem } from "../../src/index.ts";
import { planInstall } from "../../src/install.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { formatPnp, state, zipPackage } from "../support/plug-and-play.ts";
import { waitUntil } from "../support/wait-until.ts";
import { openFollowed } from "./support/followed.ts";
import { openForTest, probeServer, toolPack } from "./support/session.ts";

/** The program of a real project resolves imports; this one only tells that it ran. */
const program = (...packages: Parameters<typeof state>) =>
  formatPnp(state(...packages), "globalThis.plugAndPlay = true;").replace(/^require.*$/m, "");

const tellingPack = (name: string) => {
  const files = toolPack({ tell: {} }, `export const tell = () => String(globalThis.plugAndPlay);`);
  const manifest = packManifest(name, files["package.json"] as Record<string, unknown>);
  return { ...files, "package.json": manifest };
};

const below = (folder: string, files: object) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));

const unplugged = ".yarn/unplugged/notes-npm-1.0.0-2b/node_modules/notes";

test("code of packs in folders runs with the project's program, also outside the project", async () => {
  const root = makeTree({
    "app/package.json": { name: "app", dependencies: { notes: "1", beside: "portal:../beside" } },
    "app/.pnp.cjs": program(
      [
        "app",
        [
          [
            "workspace:.",
            "./",
            [
              ["notes", "npm:1.0.0"],
              ["beside", "portal:../beside"],
            ],
          ],
        ],
      ],
      ["notes", [["npm:1.0.0", `./${unplugged}/`, []]]],
      ["beside", [["portal:../beside", "../beside/", []]]],
    ),
    ...below(`app/${unplugged}`, tellingPack("notes")),
    ...below("beside", tellingPack("beside")),
  });
  const session = await openForTest(join(root, "app"), { config: { nameCollisions: "suffix" } });
  for (const name of ["notes/tell", "beside/tell"])
    expect(await session.callTool(name, {}), name).toMatchObject({ variant: "Success", message: "true" });
});

const server = { name: "probe", package: "probe" };
const manifest = { name: "probe", version: "1.0.0", type: "module", bin: "./probe.mjs" };
const start = `import ${JSON.stringify(probeServer)};`;

test("a server of the config runs from a folder, and in an archive it is UnsupportedLayout", async () => {
  const zip = ".yarn/cache/probe.zip";
  const folder = ".yarn/unplugged/probe/node_modules/probe";
  const app = (location: string) => ({
    "package.json": { name: "app", dependencies: { probe: "1" } },
    ".pnp.cjs": program(
      ["app", [["workspace:.", "./", [["probe", "npm:1.0.0"]]]]],
      ["probe", [["npm:1.0.0", `./${location}/`, []]]],
    ),
  });
  const config = { trailblazeSubprocessToolsets: [server] };
  const archived = makeTree(app(`${zip}/node_modules/probe`));
  mkdirSync(join(archived, ".yarn/cache"), { recursive: true });
  const content = { name: "node_modules/probe/probe.mjs", content: start };
  writeFileSync(join(archived, zip), zipPackage(manifest, content));
  await expect(openForTest(archived, { config })).rejects.toMatchObject({
    code: "UnsupportedLayout",
    problem: { hint: "Run `yarn unplug probe`." },
  });

  const files = { "package.json": manifest, "probe.mjs": `#!/usr/bin/env node\n${start}` };
  const root = makeTree({ ...app(folder), ...below(folder, files) });
  const commands: string[] = [];
  const session = await openForTest(root, { config, onCommand: ({ args }) => commands.push(args.join(" ")) });
  expect(session.tools.length).toBeGreaterThan(0);
  expect(commands).toEqual([expect.stringContaining(`--require ${join(root, ".pnp.cjs")}`)]);
});

test("a definition that is code and imports a package of the project is UnsupportedLayout", async () => {
  const code = `import "helper"; export default {};`;
  const extension = { trailblaze: { tools: ["code"] }, dependencies: { helper: "1" } };
  const files = { "package.json": packManifest("notes", extension), "trailblaze/tools/code.mjs": code };
  const root = makeTree({
    "package.json": { name: "app", dependencies: { notes: "1" } },
    ".pnp.cjs": program(
      ["app", [["workspace:.", "./", [["notes", "npm:1.0.0"]]]]],
      ["notes", [["npm:1.0.0", `./${unplugged}/`, [["helper", "npm:1.0.0"]]]]],
      ["helper", [["npm:1.0.0", "./.yarn/cache/helper.zip/node_modules/helper/", []]]],
    ),
    ...below(unplugged, files),
  });
  const { problems } = await inspectItem("notes/code", { cwd: root });
  expect(problems).toMatchObject([
    { code: "UnsupportedLayout", args: { layout: "import", imported: "helper" } },
  ]);
  const session = await openForTest(root);
  expect(session.skipped).toMatchObject([{ name: "code", reason: "UnsupportedLayout" }]);
  await expect(session.callTool("notes/code", {})).rejects.toMatchObject({ code: "UnsupportedLayout" });
});

test("a session that follows its project has the tools of a pack once it is unplugged from its archive", async () => {
  const stateWith = (location: string) =>
    program(
      ["app", [["workspace:.", "./", [["notes", "npm:1.0.0"]]]]],
      ["notes", [["npm:1.0.0", location, []]]],
    );
  const archive = ".yarn/cache/notes.zip";
  const files = tellingPack("notes");
  const cwd = makeTree({
    "package.json": { name: "app", dependencies: { notes: "1" } },
    ".pnp.cjs": stateWith(`./${archive}/node_modules/notes/`),
    ".yarn/cache/.gitignore": "*",
    ...below(unplugged, files),
  });
  writeFileSync(join(cwd, archive), zipPackage(files["package.json"]));
  const { session, names, change, changes } = await openFollowed(cwd);
  expect(session.skipped).toMatchObject([{ name: "tell", reason: "UnsupportedLayout" }]);
  await change(() => writeFileSync(join(cwd, ".pnp.cjs"), stateWith(`./${unplugged}/`)));
  await waitUntil(() => changes.length === 1);
  expect(names()).toEqual(["tell"]);
});

test("a project's entry in a client's config loads the program that finds this package", async () => {
  const cwd = makeTree({
    "package.json": { name: "root", workspaces: ["web"] },
    "web/package.json": { name: "web", devDependencies: { trailblaze: "1" } },
    ".pnp.cjs": program(["web", [["workspace:web", "./web/", []]]]),
  });
  const argsIn = async (folder: string) => {
    const { diff } = await planInstall("claude-code", null, { cwd: join(cwd, folder), scope: "project" });
    return /"args": \[[^\]]*"--require",\s*\+?\s*"([^"]*)",\s*\+?\s*"-e"/.exec(diff)?.[1];
  };
  expect(await argsIn(".")).toBe("./.pnp.cjs");
  expect(await argsIn("web")).toBe("./../.pnp.cjs");
});

test("a pack that is not found in a layout that cannot be read is UnsupportedLayout for every command", async () => {
  const dependencies = { "@acme/jira": "1" };
  const cwd = makeTree({ "package.json": { name: "app", dependencies }, "deno.json": "{}" });
  const missing = await inspectItem("acme/jira/getIssue", { cwd }).catch((error: unknown) => error);
  expect(missing).toMatchObject({ code: "PackNotInstalled" });
  expect(await explainLayout(missing, cwd)).toMatchObject({ code: "UnsupportedLayout" });
  const session = await openForTest(cwd);
  const explainPrompt = async (name: string) =>
    explainLayout(await session.getPrompt(name, {}).catch((error: unknown) => error), cwd);
  expect(await explainPrompt("acme/jira/ask")).toMatchObject({ code: "UnsupportedLayout" });
  expect(await explainPrompt("ask")).toMatchObject({ code: "PromptNotFound" });
  const installed = makeTree({ "package.json": { name: "app", dependencies }, "node_modules/.bin/x": "" });
  expect(await explainLayout(missing, installed)).toBe(missing);
});

test("names of what is in an archive are UnsupportedLayout for prompts, toolsets and approvals", async () => {
  const cwd = makeTree({
    "package.json": { name: "app", dependencies: { "@acme/desk": "1" } },
    ".pnp.cjs": program(
      ["app", [["workspace:.", "./", [["@acme/desk", "npm:1.0.0"]]]]],
      ["@acme/desk", [["npm:1.0.0", "./desk.zip/node_modules/@acme/desk/", []]]],
    ),
  });
  const desk = packManifest("@acme/desk", { trailblaze: { prompts: ["ask"], toolsets: ["all"] } });
  writeFileSync(join(cwd, "desk.zip"), zipPackage(desk));
  const session = await openForTest(cwd);
  const prompt = await session.getPrompt("acme/desk/ask", {}).catch((error: unknown) => error);
  expect(await explainLayout(prompt, cwd)).toMatchObject({ code: "UnsupportedLayout" });
  const { problems } = session;
  for (const name of ["@acme/desk", "acme/desk", "acme/desk/ask"])
    expect(() => refuseArchived([name], problems), name).toThrow(/archive/);
  expect(() => refuseArchived(["acme/des", "acme/desktop"], problems)).not.toThrow();
});
