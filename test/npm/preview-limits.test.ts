import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { addPacks } from "../../src/npm/add-packs.ts";
import type { PackPreview } from "../../src/npm/preview-packs.ts";
import { makeTar, type TarEntry } from "../support/make-tar.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { commandsIn } from "../support/preview.ts";
import { startStandIn } from "./stand-in-registry.ts";
import { useHome } from "./user-home.ts";

const name = "tb-preview";

/** A project whose registry has one pack with this tarball. */
async function setUp(fields: Record<string, unknown>, tarball: (manifest: string) => Uint8Array) {
  const manifest = packManifest(name, fields);
  const data = tarball(JSON.stringify(manifest));
  const integrity = `sha512-${createHash("sha512").update(data).digest("base64")}`;
  const registry = await startStandIn({
    intercept: ({ path }, response) => path.endsWith(".tgz") && response.end(data) !== undefined,
  });
  registry.options.manifests = [{ ...manifest, dist: { tarball: `${registry.url}x.tgz`, integrity } }];
  // A tarball that is wrong is not asked for again.
  useHome([`registry=${registry.url}`, "fetch-retries=0"]);
  const cwd = makeTree({ "package.json": { name: "app" } });
  return { cwd, registry };
}

async function preview(cwd: string): Promise<PackPreview | undefined> {
  let shown: PackPreview | undefined;
  await addPacks([name], {
    cwd,
    // A busy machine takes long for so much.
    registryTimeoutMs: 110_000,
    consent([first]) {
      shown = first;
      return false;
    },
  });
  return shown;
}

const packed = (entries: readonly TarEntry[]) => (manifest: string) =>
  gzipSync(makeTar([...entries, { path: "package/package.json", text: manifest }]));
test.each<[what: string, reason: string, tarball: (manifest: string) => Uint8Array]>([
  [
    "unpacks to more than 500 MiB",
    "500 MiB",
    (manifest) =>
      // Archives in gzip may be put after one another.
      Buffer.concat([
        gzipSync(makeTar([{ path: "package/package.json", text: manifest }], Buffer.alloc(0))),
        gzipSync(makeTar([{ path: "package/zeros", size: "12000000000 " }], Buffer.alloc(0))),
        ...Array<Buffer>(9).fill(gzipSync(Buffer.alloc(2 ** 26), { level: 1 })),
      ]),
  ],
  ["is no tarball", "not a valid package", () => Buffer.from("hello")],
  [
    "has a package.json above 1 MiB",
    "package.json",
    (manifest) => gzipSync(makeTar([{ path: "package/package.json", text: manifest + " ".repeat(2 ** 20) }])),
  ],
])("a package that %s fails the preview and leaves the project unchanged", async (_what, reason, tarball) => {
  const { cwd } = await setUp({}, tarball);
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
});

test("an interruption ends the unpacking of a package with many files", async () => {
  const files = Array.from({ length: 30_000 }, () => ({ path: `package/${randomUUID()}`, text: "" }));
  const { cwd } = await setUp({}, packed(files));
  const temporary = makeTree({});
  vi.stubEnv("TMPDIR", temporary);
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  const interruption = new AbortController();
  const unpacks = () => readdirSync(temporary).some((one) => existsSync(join(temporary, one, "package")));
  const watch = setInterval(() => unpacks() && interruption.abort(), 1);
  const consent = vi.fn(() => false);
  const adding = addPacks([name], { cwd, consent, signal: interruption.signal, registryTimeoutMs: 110_000 });
  await expect(adding.finally(() => clearInterval(watch))).rejects.toMatchObject({
    problem: { args: { reason: "it was interrupted" } },
  });
  expect(consent).not.toHaveBeenCalled();
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
  );
  const commands = commandsIn(await preview(cwd));
  for (const name of ["linked", "hard", "above"])
    expect(commands).toContain(`${name}: defined in code (not run)`);
});

test("the preview shows the commands of servers in the pack's root folder, whatever the size of other files", async () => {
  const server = (command: string) => JSON.stringify({ command });
  const trailblaze = { root: "./defs/", servers: ["own", "code", "combined", "large"] };
  const { cwd } = await setUp({ trailblaze }, (manifest) =>
    gzipSync(
      makeTar([
        { path: "package/defs/servers/own.json", text: server("first") },
        { path: "package/defs/servers/own.json", text: server("last"), mode: "0200" },
        { path: "package/trailblaze/servers/own.json", text: server("elsewhere") },
        { path: "package/defs/servers/code.mjs", text: "export default {};" },
        {
          path: "package/defs/servers.json",
          text: JSON.stringify({ code: { command: "no" }, combined: { command: "yes" } }),
        },
        { path: "package/defs/servers/large.json", text: server(" ".repeat(2 ** 20)) },
        { path: "package/big.bin", text: "x".repeat(2 ** 24) },
        { path: "package/package.json", text: manifest },
      ]),
    ),
  );
  expect(commandsIn(await preview(cwd))).toEqual([
    "own: last",
    "code: defined in code (not run)",
    "combined: yes",
    "large: defined in code (not run)",
  ]);
});

test.each<[what: string, isSame: boolean, installed: TarEntry[]]>([
  ["other contents", false, [{ path: "package/index.js", text: "two\n" }]],
  [
    "a file more",
    false,
    [
      { path: "package/index.js", text: "one\n" },
      { path: "package/more.js", text: "" },
    ],
  ],
  [
    "other line breaks, ignored files and packages of its own",
    true,
    [
      { path: "package/index.js", text: "one\r\n" },
      { path: "package/.npmignore", text: "x" },
      { path: "package/node_modules/own/package.json", text: "{}" },
    ],
  ],
])(
  "a pack that is installed with %s than the preview showed: the same is %s",
  async (_what, isSame, installed) => {
    const { cwd, registry } = await setUp({}, packed([{ path: "package/index.js", text: "one\n" }]));
    const [manifest] = registry.options.manifests ?? [];
    // Without a hash, package managers take what they get.
    registry.options.manifests = [{ ...manifest, dist: { tarball: `${registry.url}x.tgz` } }];
    const adding = addPacks([name], {
      cwd,
      consent() {
        const data = packed(installed)(JSON.stringify(packManifest(name)));
        registry.options.intercept = ({ path }, response) =>
          path.endsWith(".tgz") && response.end(data) !== undefined;
        vi.stubEnv("npm_config_cache", makeTree({}));
        return true;
      },
    });
    if (isSame) return expect(await adding).toMatchObject({ added: [{ name }] });
    await expect(adding).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: { reason: expect.stringContaining("differ"), restored: true } },
    });
    expect(readFileSync(join(cwd, "package.json"), "utf8")).not.toContain(name);
  },
);
