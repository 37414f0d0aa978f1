import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { makeTar } from "./make-tar.ts";
import { runPackageManager } from "./package-managers.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { type Tree, toContent } from "./tree.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Publishes a package with these files as `latest`. */
export function publish(registry: string, files: Tree): Promise<void> {
  const entries = Object.entries(files).map(([path, content]) => ({
    path: `package/${path}`,
    text: String(toContent(content)),
  }));
  return upload(registry, files["package.json"] as unknown as Manifest, gzipSync(makeTar(entries)));
}

/** Publishes folders as npm packs them, without lifecycle scripts. `tags`: of folders that are not `latest`. */
export async function publishFolders(
  registry: string,
  folders: readonly string[],
  tags: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { path: cwd, remove } = makeTemporaryFolder();
  try {
    const args = ["pack", ...folders, "--json", "--ignore-scripts", "--pack-destination", cwd];
    const packed = await runPackageManager("npm", args, { cwd, registry, home: join(cwd, "home") });
    for (const [index, { filename }] of JSON.parse(packed).entries()) {
      const folder = folders[index] ?? "";
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      await upload(registry, manifest, readFileSync(join(cwd, filename)), tags[folder]);
    }
  } finally {
    remove();
  }
}

/** Publishes a tarball in the request that npm would send, without starting npm. */
async function upload(registry: string, manifest: Manifest, tarball: Buffer, tag = "latest"): Promise<void> {
  const { name, version } = manifest;
  const digest = (algorithm: string) => createHash(algorithm).update(tarball);
  const file = `${name}-${version}.tgz`;
  const dist = {
    integrity: `sha512-${digest("sha512").digest("base64")}`,
    shasum: digest("sha1").digest("hex"),
    tarball: `${registry}${name}/-/${file}`,
  };
  const response = await fetch(`${registry}${encodeURIComponent(name)}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      _id: name,
      name,
      "dist-tags": { [tag]: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: {
        [file]: {
          content_type: "application/octet-stream",
          data: tarball.toString("base64"),
          length: tarball.length,
        },
      },
    }),
  });
  if (!response.ok) throw new Error(`publishing ${file}: ${response.status} ${await response.text()}`);
}
