import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Only the superuser of Linux may mount a disk, and not in every container. Tests that need one are skipped elsewhere. */
export const canMountDisks =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

/** Mounts a disk in memory at a folder, which is made; it goes after the running test. */
export function mountSmallDisk(folder: string, kibibytes: number): void {
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kibibytes}k`, "tmpfs", folder]);
  if (status !== 0) throw new Error(`mount ended with ${status}`);
  onTestFinished(() => void spawnSync("umount", ["--lazy", folder]));
}

/** Writes a file `filler` until nothing more fits but `spare` bytes. */
export function fillDisk(folder: string, spare = 0): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - spare)));
}
