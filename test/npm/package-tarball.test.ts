import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { hasIntegrity, unpackTarball } from "../../src/npm/registry/package-tarball.ts";
import { readTar, TarballLimitError } from "../../src/npm/registry/read-tar.ts";
import { makeTar, type TarEntry } from "../support/make-tar.ts";
import { runPackageManager } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";

const all = () => true;

/** A record of an extended header, with its length. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = [1, 2, 3, 4, 5]
    .map((digits) => digits + Buffer.byteLength(rest))
    .find((total, index) => String(total).length === index + 1);
  return `${length}${rest}`;
}

/** What is kept of a tarball, by path. */
async function unpack(tarball: Uint8Array): Promise<Record<string, string>> {
  const { folder, remove } = await unpackTarball(tarball, all);
  try {
    const entries = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    return Object.fromEntries(
      files.sort().map((file) => [relative(folder, file), readFileSync(file, "utf8")]),
    );
  } finally {
    remove();
  }
}

describe("unpacking a tarball", () => {
  test("a tarball that npm packed is unpacked unchanged", async () => {
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

  test("a tarball that tar packed is unpacked, with long paths in both the GNU and the pax format", async () => {
    const long = `package/${"a".repeat(99)}/${"b".repeat(99)}/${"c".repeat(99)}`;
    const folder = makeTree({ [long]: "text" });
    for (const format of ["gnu", "pax"]) {
      const archive = execFileSync("tar", ["-c", "-z", `--format=${format}`, "-f", "-", long], {
        cwd: folder,
      });
      expect(await unpack(archive), format).toEqual({ [long.replace("package/", "")]: "text" });
    }
  });

  test("a tarball with paths that leave its folder writes nothing outside it", async () => {
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

  test("only the requested files of a tarball are unpacked", async () => {
    const tar = makeTar([{ path: "package/a.json" }, { path: "package/b.bin" }]);
    const { folder, remove } = await unpackTarball(gzipSync(tar), (path) => path.endsWith(".json"));
    expect(readdirSync(folder)).toEqual(["a.json"]);
    remove();
  });

  test.each([
    ["data that is not gzip", Buffer.from("hello")],
    ["gzip data that is not a tar archive", gzipSync(Buffer.alloc(2048, "x"))],
    [
      "a truncated tarball",
      gzipSync(makeTar([{ path: "package/a", text: "x".repeat(4000) }]).subarray(0, 1024)),
    ],
  ])("unpacking fails for %s", async (_what, bytes) => {
    await expect(unpackTarball(bytes, all)).rejects.toThrow();
  });
});

describe("the entries of a tarball", () => {
  const one = { path: "package/package.json", text: "one" };
  const two = { path: "package/package.json", text: "two" };
  const tail = Buffer.alloc(1024);

  test.each<[what: string, tar: Buffer, files: Record<string, string>]>([
    ["the last of several entries with one path is unpacked", makeTar([one, two]), { "package.json": "two" }],
    [
      "entries with different top folders have the same path in the package",
      makeTar([one, { ...two, path: "x/package.json" }]),
      { "package.json": "two" },
    ],
    [
      "a link in a tarball does not replace a file",
      makeTar([one, { ...two, type: "2" }, { ...two, type: "1" }]),
      { "package.json": "one" },
    ],
    [
      "one empty block does not end a tarball",
      makeTar([one], Buffer.concat([Buffer.alloc(512), makeTar([two])])),
      { "package.json": "two" },
    ],
    [
      "two empty blocks end a tarball",
      makeTar([one], Buffer.concat([tail, makeTar([two])])),
      { "package.json": "one" },
    ],
    [
      "a tarball without empty blocks at its end is unpacked",
      makeTar([one], Buffer.alloc(0)),
      { "package.json": "one" },
    ],
    [
      "an extended header sets the path and the size of its file",
      makeTar([
        { path: "x", type: "x", text: record("path", two.path) + record("size", "3") },
        { path: "package/other", text: "two", size: "00000000777 " },
      ]),
      { "package.json": "two" },
    ],
    [
      "a global extended header does not set a path",
      makeTar([
        { path: "x", type: "g", text: record("path", two.path) + record("comment", "c") },
        { ...two, path: "package/x" },
      ]),
      { x: "two" },
    ],
    [
      "the size of a folder in a tarball is ignored",
      makeTar([
        { path: "package/lib", type: "5", size: "00000001000 " },
        { path: "package/dir/", size: "00000001000 " },
        one,
      ]),
      { "package.json": "one" },
    ],
    [
      "a sparse file in a tarball is skipped",
      makeTar([{ ...two, type: "S" }, one]),
      { "package.json": "one" },
    ],
    [
      "a long name applies only to the next entry of a tarball",
      makeTar([
        { path: "x", type: "L", text: `${one.path}\0` },
        { path: "y", text: "one" },
        { path: "package/z", text: "z" },
      ]),
      { "package.json": "one", z: "z" },
    ],
  ])("%s", async (_what, tar, files) => {
    expect(await unpack(gzipSync(tar))).toEqual(files);
  });
});

describe("invalid and oversized tarballs", () => {
  const fileOf = (text: string) => ({ path: "package/a", text });

  test.each<[what: string, tar: Buffer]>([
    ["a tarball entry without a size is rejected", makeTar([{ ...fileOf("text"), size: "none        " }])],
    [
      "a tarball entry with a negative size is rejected",
      makeTar([{ ...fileOf("text"), size: Buffer.alloc(12, 0xff) }]),
    ],
    [
      "a tarball entry with a size above the largest safe integer is rejected",
      makeTar([{ ...fileOf("text"), size: Buffer.from([0x80, ...Array(11).fill(0xff)]) }]),
    ],
    [
      "a tarball entry that ends after the tarball is rejected",
      makeTar([{ ...fileOf("text"), size: "77777777777 " }]),
    ],
    [
      "an extended header with a negative size is rejected",
      makeTar([{ path: "x", type: "x", text: record("size", "-1") }, fileOf("t")]),
    ],
  ])("%s", async (_what, tar) => {
    await expect(unpack(gzipSync(tar))).rejects.toThrow(/truncated|no size/);
  });

  const zeros = (size: number) => gzipSync(Buffer.alloc(size), { level: 1 });
  const header = (path: string, size: number, type = "0") =>
    gzipSync(makeTar([{ path, type, size: `${size.toString(8).padStart(11, "0")} ` }], Buffer.alloc(0)));

  test.each<[what: string, reason: RegExp, parts: () => Uint8Array[]]>([
    [
      "a tarball that unpacks to more than 1 GiB is rejected",
      /^exceeds the limit of 1 GiB when unpacked$/,
      // Archives in gzip may be put after one another.
      () => [header("package/big", 5 * 2 ** 28), ...Array<Buffer>(5).fill(zeros(2 ** 28))],
    ],
    [
      "a tarball with more than 100,000 entries is rejected",
      /^exceeds the limit of 100000 entries$/,
      () =>
        Array<Buffer>(101).fill(
          gzipSync(makeTar(Array<TarEntry>(1000).fill({ path: "package/x" }), Buffer.alloc(0))),
        ),
    ],
    [
      "a tarball whose package.json exceeds 1 MiB is rejected",
      /^has a package.json that exceeds the limit of 1 MiB$/,
      () => [header("package/package.json", 2 ** 20 + 512), zeros(2 ** 20 + 512)],
    ],
    [
      "a tarball whose extended header exceeds 1 MiB is rejected",
      /^has a header that exceeds the limit of 1 MiB$/,
      () => [header("x", 2 ** 20 + 512, "x"), zeros(2 ** 20 + 512)],
    ],
    [
      "a tarball whose server definitions exceed 64 MiB is rejected",
      /^has definitions of servers that exceed the limit of 64 MiB$/,
      () =>
        Array.from({ length: 65 }, (_, index) => [
          header(`package/${index}.json`, 2 ** 20),
          zeros(2 ** 20),
        ]).flat(),
    ],
  ])("%s", async (_what, reason, parts) => {
    const error = await unpack(Buffer.concat(parts())).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(TarballLimitError);
    expect((error as Error).message).toMatch(reason);
  });

  test("unpacking a tarball stops when the caller's signal aborts", async () => {
    const tarball = Buffer.concat([header("package/big", 2 ** 29), zeros(2 ** 28), zeros(2 ** 28)]);
    const controller = new AbortController();
    const unpacking = unpackTarball(tarball, all, controller.signal);
    setImmediate(() => controller.abort());
    await expect(unpacking).rejects.toThrow("aborted");
  });
});

test("a skipped file of a tarball is not kept in memory, and a file above the size limit is written empty", async () => {
  const chunk = Buffer.alloc(1 << 16);
  const head = makeTar(
    [{ path: "package/big", size: (2 ** 29).toString(8).padStart(11, "0") }],
    Buffer.alloc(0),
  );
  async function* chunks() {
    yield head;
    for (let sent = 0; sent < 2 ** 29; sent += chunk.length) yield chunk;
    yield makeTar([{ path: "package/a.json", text: "{}" }]);
  }
  const before = process.memoryUsage().arrayBuffers;
  const files: string[] = [];
  for await (const { path, read } of readTar(chunks(), { maximumBytes: 2 ** 30, maximumEntries: 10 })) {
    files.push(path);
    if (path.endsWith(".json")) files.push(String(await read()));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 << 20);
  }
  expect(files).toEqual(["package/big", "package/a.json", "{}"]);

  const size = 2 ** 20 + 1;
  const tar = makeTar([
    { path: "package/a.json", text: "{}" },
    { path: "package/a.json", text: " ".repeat(size) },
  ]);
  expect(await unpack(gzipSync(tar))).toEqual({ "a.json": "" });
});

describe("the integrity of a tarball", () => {
  const bytes = Buffer.from("bytes");
  const hash = (algorithm: string) => createHash(algorithm).update(bytes).digest("base64");

  test("the integrity of a tarball is checked with the strongest hash that the registry gives", () => {
    expect(hasIntegrity(bytes, `sha512-${hash("sha512")}`, undefined)).toBe(true);
    expect(hasIntegrity(bytes, `sha1-${hash("sha1")} sha512-${hash("sha512")}?opt`, undefined)).toBe(true);
    expect(hasIntegrity(bytes, `sha1-${hash("sha1")} sha512-AAAA`, undefined)).toBe(false);
    expect(hasIntegrity(Buffer.from("other"), `sha512-${hash("sha512")}`, undefined)).toBe(false);
  });

  test("the integrity of a tarball is checked with its shasum if there is no known hash, and is unknown without both", () => {
    const sum = createHash("sha1").update(bytes).digest("hex");
    expect(hasIntegrity(bytes, undefined, sum)).toBe(true);
    expect(hasIntegrity(bytes, "md5-abc", "00")).toBe(false);
    expect(hasIntegrity(bytes, 7, undefined)).toBeUndefined();
  });
});

test("a symbolic link in a tarball is not unpacked", async () => {
  const folder = makeTree({ "package/x": "" });
  symlinkSync("/etc", join(folder, "package/link"));
  const archive = execFileSync("tar", ["-c", "-z", "-f", "-", "package"], { cwd: folder });
  const unpacked = await unpackTarball(archive, all);
  expect(readdirSync(unpacked.folder)).toEqual(["x"]);
  unpacked.remove();
});
