import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { maximumFileBytes } from "../../src/files/inspection-port.ts";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";

const onPosix = test.skipIf(process.platform === "win32");

const readText = (root: string, path: string) => {
  const read = port.readFile(root, path);
  return read.state === "read" ? Buffer.from(read.bytes).toString() : read.state;
};

describe("reading a file", () => {
  test("a regular file up to the limit is read, and its real path is returned", () => {
    const root = makeTree({ "a/b.json": "{}", "full.json": new Uint8Array(maximumFileBytes) });
    expect(port.readFile(root, "a/b.json")).toMatchObject({
      state: "read",
      realPath: join(root, "a/b.json"),
    });
    expect(readText(root, "a/b.json")).toBe("{}");
    expect(port.readFile(root, "full.json").state).toBe("read");
    expect(port.readFile(root, "a/b.json", 1)).toEqual({ state: "tooLarge", bytes: 2 });
  });

  test.each(["missing.json", "a/b.json/c.json", "missing/b.json"])("%s counts as missing", (path) => {
    expect(port.readFile(makeTree({ "a/b.json": "{}" }), path)).toEqual({ state: "absent" });
  });

  onPosix("a sparse file of several gigabytes is rejected by its size", () => {
    const root = makeTree({ "big.json": "" });
    truncateSync(join(root, "big.json"), 8 * 2 ** 30);
    expect(port.readFile(root, "big.json")).toEqual({ state: "tooLarge", bytes: 8 * 2 ** 30 });
  });

  onPosix("a named pipe or a folder is reported without waiting for it", () => {
    const root = makeTree({ "folder/x": "" });
    makeFifo(join(root, "pipe.json"));
    expect(port.readFile(root, "pipe.json")).toMatchObject({ state: "unusable" });
    expect(port.readFile(root, "folder")).toMatchObject({ state: "unusable" });
    makeLink("/dev/zero", join(root, "device.json"));
    expect(port.readFile(root, "device.json").state).not.toBe("read");
  });

  onPosix("links inside the package are followed, and links out of it and circular links are not", () => {
    const outside = makeTree({ "secret.json": "secret" });
    const root = makeTree({ "real/a.json": "{}" });
    makeLink("real/a.json", join(root, "link.json"));
    makeLink("real", join(root, "linked"));
    makeLink(join(outside, "secret.json"), join(root, "out.json"));
    makeLink(outside, join(root, "outer"));
    makeLink("circle.json", join(root, "circle.json"));
    makeLink("nowhere.json", join(root, "dangling.json"));
    expect(readText(root, "link.json")).toBe("{}");
    expect(readText(root, "linked/a.json")).toBe("{}");
    expect(port.readFile(root, "out.json")).toEqual({ state: "outside" });
    expect(port.readFile(root, "outer/secret.json")).toEqual({ state: "outside" });
    expect(port.readFile(root, "../secret.json").state).not.toBe("read");
    expect(port.readFile(root, "circle.json")).toMatchObject({ state: "unusable" });
    expect(port.readFile(root, "dangling.json")).toEqual({ state: "absent" });
  });
});

/** Runs code in a thread, over and over, until the test ends. */
async function runBeside(code: string, data: unknown): Promise<void> {
  const source = `
    const { parentPort, workerData: data } = require("node:worker_threads");
    const fs = require("node:fs");
    parentPort.postMessage("started");
    for (let round = 0; ; round++) { ${code} }`;
  const worker = new Worker(source, { eval: true, workerData: data });
  onTestFinished(async () => {
    await worker.terminate();
  });
  await new Promise((resolve) => worker.once("message", resolve));
}

/** Reads until both the file and the link were met often, however slow the other thread is: no secret comes. */
function expectNoSecret(root: string, path: string): void {
  const counts: { good: number; outside: number; [text: string]: number } = { good: 0, outside: 0 };
  const end = performance.now() + 15_000;
  while (Math.min(counts.good, counts.outside) < 1000 && performance.now() < end) {
    const text = readText(root, path);
    counts[text] = (counts[text] ?? 0) + 1;
  }
  expect(counts).not.toHaveProperty("secret");
  expect(Math.min(counts.good, counts.outside)).toBeGreaterThan(0);
}

describe("a package that another program changes", () => {
  onPosix("a file that is replaced by a link never yields the link's target", async () => {
    const outside = makeTree({ "secret.json": "secret" });
    const root = makeTree({ "spare/good.json": "good", "target.json": "good" });
    const target = join(root, "target.json");
    const temporary = join(root, "spare/next.json");
    await runBeside(
      `if (round % 2) fs.linkSync(data.good, data.temporary); else fs.symlinkSync(data.secret, data.temporary);
       fs.renameSync(data.temporary, data.target);`,
      { good: join(root, "spare/good.json"), secret: join(outside, "secret.json"), target, temporary },
    );
    expectNoSecret(root, "target.json");
  });

  onPosix("a parent folder that is replaced by a link never yields the link's target", async () => {
    const outside = makeTree({ "a.json": "secret" });
    const root = makeTree({ "spare/a.json": "good" });
    mkdirSync(join(root, "links"));
    symlinkSync(outside, join(root, "links/out"));
    symlinkSync(join(root, "spare"), join(root, "links/in"));
    symlinkSync(outside, join(root, "way"));
    await runBeside(
      `fs.symlinkSync(round % 2 ? data.inside : data.outside, data.temporary);
       fs.renameSync(data.temporary, data.way);`,
      { inside: join(root, "spare"), outside, temporary: join(root, "links/next"), way: join(root, "way") },
    );
    expectNoSecret(root, "way/a.json");
  });
});
