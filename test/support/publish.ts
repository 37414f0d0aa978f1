import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { makeTar } from "./make-tar.ts";
import { type Tree, toContent } from "./tree.ts";

/** Publishes a package with these files as `latest`, in the request that npm would send, without starting npm. */
export async function publish(registry: string, files: Tree): Promise<void> {
  const manifest = files["package.json"] as { name: string; version: string };
  const { name, version } = manifest;
  const entries = Object.entries(files).map(([path, content]) => ({
    path: `package/${path}`,
    text: String(toContent(content)),
  }));
  const tarball = gzipSync(makeTar(entries));
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
      "dist-tags": { latest: version },
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
