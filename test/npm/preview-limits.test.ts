import { createHash, randomUUID } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { planAdd } from "../../src/npm/add-packs.ts";
import { makeTar, type TarEntry } from "../support/make-tar.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { commandsIn } from "../support/preview.ts";
import { type Tree, writeTree } from "../support/tree.ts";
import { startStandIn } from "./stand-in-registry.ts";
import { useHome } from "./user-home.ts";

const name = "tb-preview";

/**
 * A project whose registry has one pack with this tarball. With a shell script in npm's place, the download is a copy of that,
 * because npm itself reads all of a package.
 */
async function setUp(
  fields: Record<string, unknown>,
  tarball: (manifest: string) => Uint8Array,
  script?: string,
) {
  const manifest = packManifest(name, fields);
  const data = tarball(JSON.stringify(manifest));
  const integrity = `sha512-${createHash("sha512").update(data).digest("base64")}`;
  const registry = await startStandIn({
    intercept: ({ path }, response) => path.endsWith(".tgz") && response.end(data) !== undefined,
  });
  registry.options.manifests = [{ ...manifest, dist: { tarball: `${registry.url}x.tgz`, integrity } }];
  // A tarball that is wrong is not asked for again.
  const home = useHome([`registry=${registry.url}`, "fetch-retries=0"], { "x.tgz": Buffer.from(data) });
  if (script !== undefined) {
    const pack = `if [ "$1" = pack ]; then exec cp "${home}/x.tgz" "\${3#--pack-destination=}"; fi`;
    writeTree(home, { "bin/npm": `#!/bin/sh\n${pack}\n${script}\n` });
    chmodSync(join(home, "bin/npm"), 0o755);
    vi.stubEnv("PATH", `${join(home, "bin")}${delimiter}${process.env.PATH}`);
  }
  const cwd = makeTree({ "package.json": { name: "app" } });
  return { cwd, registry };
}

const plan = (cwd: string, signal?: AbortSignal) => planAdd([{ name, text: name }], { cwd, signal });
const preview = async (cwd: string) => (await plan(cwd)).previews[0];

const packed = (entries: readonly TarEntry[]) => (manifest: string) =>
  gzipSync(makeTar([...entries, { path: "package/package.json", text: manifest }]));

test.each<[what: string, reason: string, tarball: (manifest: string) => Uint8Array, script?: string]>([
  [
    "unpacks to more than 500 MiB",
    "500 MiB",
    // What is too large is known from the header: 600 MiB.
    packed([{ path: "package/zeros", size: "04540000000 " }]),
    "exit 1",
  ],
  ["is no tarball", "not a valid package", () => Buffer.from("hello")],
  [
    "has a package.json above 1 MiB",
    "package.json",
    (manifest) => gzipSync(makeTar([{ path: "package/package.json", text: manifest + " ".repeat(2 ** 20) }])),
    "exit 1",
  ],
])(
  "a package that %s fails the preview and leaves the project unchanged",
  async (_what, reason, ...served) => {
    const { cwd } = await setUp({}, ...served);
    const temporary = makeTree({});
    vi.stubEnv("TMPDIR", temporary);
    // npm would keep its own compiled code there.
    vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
    await expect(preview(cwd)).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: { reason: expect.stringContaining(reason) } },
    });
    expect(readdirSync(cwd)).toEqual(["package.json"]);
    expect(readFileSync(join(cwd, "package.json"), "utf8")).not.toContain(name);
    expect(readdirSync(temporary)).toEqual([]);
  },
);

test("an interruption ends the unpacking of a package with many files", async () => {
  const files = Array.from({ length: 6000 }, () => ({ path: `package/${randomUUID()}`, text: "" }));
  const { cwd } = await setUp({}, packed(files), "exit 1");
  const temporary = makeTree({});
  vi.stubEnv("TMPDIR", temporary);
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  const interruption = new AbortController();
  const unpacks = () => readdirSync(temporary).some((one) => existsSync(join(temporary, one, "package")));
  const watch = setInterval(() => unpacks() && interruption.abort(), 1);
  const planning = plan(cwd, interruption.signal);
  await expect(planning.finally(() => clearInterval(watch))).rejects.toMatchObject({
    problem: { args: { reason: "it was interrupted" } },
  });
  expect(readdirSync(temporary)).toEqual([]);
});

test("definitions that are links, or outside the package, are not read", async () => {
  const server = JSON.stringify({ command: "outside" });
  const outside = makeTree({ "servers/linked.json": server });
  const file = (path: string) => ({ path, text: server });
  const { cwd } = await setUp(
    { trailblaze: { servers: ["linked", "hard", "above", "absolute"] } },
    packed([
      {
        path: "package/trailblaze/servers/linked.json",
        type: "2",
        link: join(outside, "servers/linked.json"),
      },
      { path: "package/trailblaze/servers/hard.json", type: "1", link: join(outside, "servers/linked.json") },
      file("package/../../trailblaze/servers/above.json"),
      file("/trailblaze/servers/absolute.json"),
    ]),
    "exit 1",
  );
  const commands = commandsIn(await preview(cwd));
  for (const name of ["linked", "hard", "above"])
    expect(commands).toContain(`${name}: defined in code (not run)`);
});

test("the preview shows the commands of servers in the pack's root folder, whatever the size of other files", async () => {
  const server = (command: string) => JSON.stringify({ command });
  const trailblaze = { root: "./defs/", servers: ["own", "code", "combined", "large"] };
  const { cwd } = await setUp(
    { trailblaze },
    packed([
      { path: "package/defs/servers/own.json", text: server("first") },
      { path: "package/defs/servers/own.json", text: server("last"), mode: "0200" },
      { path: "package/trailblaze/servers/own.json", text: server("elsewhere") },
      { path: "package/defs/servers/code.mjs", text: "export default {};" },
      {
        path: "package/defs/servers.json",
        text: JSON.stringify({ code: { command: "no" }, combined: { command: "yes" } }),
      },
      { path: "package/defs/servers/large.json", text: server(" ".repeat(2 ** 20)) },
      { path: "package/big.bin", text: "x".repeat(2 ** 22) },
    ]),
    "exit 1",
  );
  expect(commandsIn(await preview(cwd))).toEqual([
    "own: last",
    "code: defined in code (not run)",
    "combined: yes",
    "large: defined in code (not run)",
  ]);
});

test.each<[what: string, files: Tree]>([
  ["other contents", { "index.js": "two\n" }],
  ["a file more", { "index.js": "one\n", "more.js": "" }],
])("a pack that is installed with %s than the preview showed is taken back", async (_what, files) => {
  const installed = makeTree({ "package.json": { name: "app", dependencies: { [name]: "1.0.0" } } });
  writeTree(join(installed, "node_modules", name), {
    "package.json": JSON.stringify(packManifest(name)),
    ...files,
  });
  const shown = packed([{ path: "package/index.js", text: "one\n" }]);
  const { cwd } = await setUp({}, shown, `cp -R "${installed}/." .`);
  await expect((await plan(cwd)).apply()).rejects.toMatchObject({
    code: "InstallFailed",
    problem: { args: { reason: expect.stringContaining("differ"), restored: true } },
  });
  expect(readFileSync(join(cwd, "package.json"), "utf8")).not.toContain(name);
});

test("other line breaks, ignored files and packages of its own are no difference to the preview", async () => {
  const { cwd, registry } = await setUp({}, packed([{ path: "package/index.js", text: "one\n" }]));
  const [manifest] = registry.options.manifests ?? [];
  // Without a hash, package managers take what they get.
  registry.options.manifests = [{ ...manifest, dist: { tarball: `${registry.url}x.tgz` } }];
  const data = packed([
    { path: "package/index.js", text: "one\r\n" },
    { path: "package/.npmignore", text: "x" },
    { path: "package/node_modules/own/package.json", text: "{}" },
  ])(JSON.stringify(packManifest(name)));
  const { apply } = await plan(cwd);
  registry.options.intercept = ({ path }, response) =>
    path.endsWith(".tgz") && response.end(data) !== undefined;
  vi.stubEnv("npm_config_cache", makeTree({}));
  const { added } = await apply();
  expect(added).toMatchObject([{ name }]);
});
