import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyApproval } from "../../src/approval/apply-approval.ts";
import { planApproval } from "../../src/approval/plan-approval.ts";
import { lockFileOf } from "../../src/lock/lock-file.ts";
import { projectTree, toolPack } from "../session/support/session.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { canMountDisks, fillDisk, mountSmallDisk } from "../support/small-disk.ts";
import { writeTree } from "../support/tree.ts";

describe.skipIf(!canMountDisks)("the lock on a full disk", () => {
  const write = (cwd: string, version: string) => {
    const description = `Version ${version}: ${"x".repeat(9000)}`;
    const files = toolPack({ ask: { description } }, "export const ask = () => 1;\n");
    const manifest = files["package.json"] as Record<string, unknown>;
    const pack = { ...files, "package.json": packManifest("notes", { ...manifest, version }) };
    writeTree(cwd, projectTree({ notes: pack }));
  };
  const approve = async (cwd: string) => applyApproval(await planApproval([], { cwd, all: true }));

  test.each([0, 4096])("approve leaves the lock unchanged if only %i bytes are free", async (spare) => {
    const cwd = join(makeTree({}), "project");
    mountSmallDisk(cwd, 256);
    write(cwd, "1.0.0");
    const expectRefused = async () => {
      fillDisk(cwd, spare);
      await expect(approve(cwd)).rejects.toMatchObject({
        code: "InvalidArguments",
        message: expect.stringContaining("no space is left on the disk"),
      });
      rmSync(join(cwd, "filler"));
      expect(readdirSync(cwd).filter((name) => /trailblaze-|\.lock\./.test(name))).toEqual([]);
    };
    await expectRefused();
    expect(readdirSync(cwd).filter((name) => name.includes("lock"))).toEqual([]);
    expect(await approve(cwd)).toMatchObject({ changed: true });
    const lock = readFileSync(lockFileOf(cwd), "utf8");
    write(cwd, "2.0.0");
    await expectRefused();
    expect(readFileSync(lockFileOf(cwd), "utf8")).toBe(lock);
    expect(await approve(cwd)).toMatchObject({ changed: true });
  });
});
