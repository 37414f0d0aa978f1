import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { hasIntegrity, readTar, unpackTarball } from "../../src/io/package-tarball.ts";
import { runPackageManager } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";

const all = () => true;

/** A tar archive of files with exactly these paths. */
function makeTar(files: readonly { path: string; text?: string; type?: string }[]): Buffer {
  const blocks = files.flatMap(({ path, text = "", type = "0" }) => {
    const header = Buffer.alloc(512);
    header.write(path.slice(0, 100), 0);
    header.write("0000644\0", 100);
    header.write(`${Buffer.byteLength(text).toString(8).padStart(11, "0")} `, 124);
    header.write("        ", 148);
    header.write(type, 156);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

describe("a tarball", () => {
  test("that npm packed is unpacked as it was", async () => {
    const deep = `${"deep-folder/".repeat(14)}file-${"n".repeat(60)}.json`;
    const tree = { "package.json": { name: "packed", version: "1.0.0" }, "lib/ü.json": "[1]", [deep]: "{}" };
    const folder = makeTree(tree);
    const home = makeTree({});
    await runPackageManager("npm", ["pack"], { cwd: folder, registry: "http://127.0.0.1:9/", home });
    const { folder: unpacked, remove } = await unpackTarball(
      readFileSync(join(folder, "packed-1.0.0.tgz")),
      all,
    );
    for (const path of Object.keys(tree))
      expect(readFileSync(join(unpacked, path)).equals(readFileSync(join(folder, path))), path).toBe(true);
    remove();
    expect(existsSync(unpacked)).toBe(false);
  });

  test("that tar made is read, whatever the way of long names", () => {
    const long = `package/${"a".repeat(99)}/${"b".repeat(99)}/${"c".repeat(99)}`;
    const folder = makeTree({ [long]: "text" });
    for (const format of ["gnu", "pax", "ustar"]) {
      const path = format === "ustar" ? long.slice(0, 150) : long;
      if (format === "ustar") continue;
      const archive = execFileSync("tar", ["-c", `--format=${format}`, "-f", "-", path], { cwd: folder });
      expect([...readTar(archive)].map((file) => file.path)).toEqual([path]);
    }
  });

  test("writes nothing outside its folder", async () => {
    const outside = makeTree({ "a/b/c.txt": "" });
    const paths = [
      "package/../../escape.json",
      "package/a/../../../escape.json",
      "/etc/escape.json",
      "package//etc/escape.json",
      "package\\..\\..\\escape.json",
      "package/C:/escape.json",
      "package/nul\u0001.json",
      "package",
    ];
    const tar = makeTar([
      ...paths.map((path) => ({ path, text: "x" })),
      { path: "package/link", type: "2", text: "" },
      { path: "package/hard", type: "1", text: "" },
      { path: "package/fine.json", text: "fine" },
      { path: "other-root/also.json", text: "also" },
    ]);
    const { folder, remove } = await unpackTarball(gzipSync(tar), all);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    expect(files.filter((file) => !file.startsWith("etc"))).toEqual(["also.json", "fine.json"]);
    remove();
    expect(readdirSync(outside)).toEqual(["a"]);
  });

  test("of which only some is wanted gives only that", async () => {
    const tar = makeTar([{ path: "package/a.json" }, { path: "package/b.bin" }]);
    const { folder, remove } = await unpackTarball(gzipSync(tar), (path) => path.endsWith(".json"));
    expect(readdirSync(folder)).toEqual(["a.json"]);
    remove();
  });

  test.each([
    ["no gzip", Buffer.from("hello")],
    ["no tar", gzipSync(Buffer.alloc(2048, "x"))],
    ["cut off", gzipSync(makeTar([{ path: "package/a", text: "x".repeat(4000) }]).subarray(0, 1024))],
  ])("that is %s is refused", async (_what, bytes) => {
    await expect(unpackTarball(bytes, all)).rejects.toThrow();
  });
});

describe("integrity", () => {
  const bytes = Buffer.from("bytes");
  const hash = (algorithm: string) => createHash(algorithm).update(bytes).digest("base64");

  test("is that of the strongest hash that is announced", () => {
    expect(hasIntegrity(bytes, `sha512-${hash("sha512")}`, undefined)).toBe(true);
    expect(hasIntegrity(bytes, `sha1-${hash("sha1")} sha512-${hash("sha512")}?opt`, undefined)).toBe(true);
    expect(hasIntegrity(bytes, `sha1-${hash("sha1")} sha512-AAAA`, undefined)).toBe(false);
    expect(hasIntegrity(Buffer.from("other"), `sha512-${hash("sha512")}`, undefined)).toBe(false);
  });

  test("falls back to the sum, and is unknown without anything", () => {
    const sum = createHash("sha1").update(bytes).digest("hex");
    expect(hasIntegrity(bytes, undefined, sum)).toBe(true);
    expect(hasIntegrity(bytes, "md5-abc", "00")).toBe(false);
    expect(hasIntegrity(bytes, 7, undefined)).toBeUndefined();
  });
});

test("links are no way around", async () => {
  const folder = makeTree({ "package/x": "" });
  symlinkSync("/etc", join(folder, "package/link"));
  const archive = execFileSync("tar", ["-c", "-z", "-f", "-", "package"], { cwd: folder });
  const unpacked = await unpackTarball(archive, all);
  expect(readdirSync(unpacked.folder)).toEqual(["x"]);
  unpacked.remove();
});
