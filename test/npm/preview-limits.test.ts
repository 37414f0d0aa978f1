import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { addPacks } from "../../src/npm/add-packs.ts";
import type { PackPreview } from "../../src/npm/preview-packs.ts";
import { makeTar } from "../support/make-tar.ts";
import { makeTree, packManifest } from "../support/packs.ts";
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
  useHome([`registry=${registry.url}`]);
  const cwd = makeTree({ "package.json": { name: "app" } });
  return { cwd, integrity };
}

async function preview(cwd: string): Promise<PackPreview | undefined> {
  let shown: PackPreview | undefined;
  await addPacks([name], {
    cwd,
    consent([first]) {
      shown = first;
      return false;
    },
  });
  return shown;
}

test("a tarball above the size limit fails the preview with that limit, and leaves the project unchanged", async () => {
  const zeros = gzipSync(Buffer.alloc(2 ** 28), { level: 1 });
  const { cwd } = await setUp({}, (manifest) =>
    Buffer.concat([
      gzipSync(makeTar([{ path: "package/package.json", text: manifest }], Buffer.alloc(0))),
      gzipSync(makeTar([{ path: "package/zeros", size: "12000000000 " }], Buffer.alloc(0))),
      ...Array<Buffer>(5).fill(zeros),
    ]),
  );
  const temporary = makeTree({});
  vi.stubEnv("TMPDIR", temporary);
  await expect(preview(cwd)).rejects.toMatchObject({
    code: "InstallFailed",
    problem: { args: { reason: expect.stringContaining("1 GiB") } },
  });
  expect(readdirSync(cwd)).toEqual(["package.json"]);
  expect(readFileSync(join(cwd, "package.json"), "utf8")).not.toContain(name);
  expect(readdirSync(temporary)).toEqual([]);
});

test("the preview shows the commands of servers in the pack's root folder, whatever the size of other files", async () => {
  const server = (command: string) => JSON.stringify({ command });
  const trailblaze = { root: "./defs/", servers: ["own", "code", "combined", "large"] };
  const { cwd } = await setUp({ trailblaze }, (manifest) =>
    gzipSync(
      makeTar([
        { path: "package/defs/servers/own.json", text: server("first") },
        { path: "package/defs/servers/own.json", text: server("last") },
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
  expect((await preview(cwd))?.commands).toEqual([
    { server: "own", command: "last" },
    { server: "code", command: undefined },
    { server: "combined", command: "yes" },
    { server: "large", command: undefined },
  ]);
});

test("a tarball whose root folder differs from the registry's metadata is rejected", async () => {
  const { cwd } = await setUp({ trailblaze: { servers: ["own"] } }, () => {
    const own = packManifest(name, { trailblaze: { root: "other", servers: ["own"] } });
    return gzipSync(makeTar([{ path: "package/package.json", text: JSON.stringify(own) }]));
  });
  await expect(preview(cwd)).rejects.toMatchObject({
    code: "InstallFailed",
    problem: { args: { reason: expect.stringContaining("registry") } },
  });
});
