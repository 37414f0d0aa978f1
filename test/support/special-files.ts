import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a symbolic link, and the folders it lies in; the target may be relative to the link's folder. */
export function makeLink(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, process.platform === "win32" ? "junction" : undefined);
}

/** Makes a named pipe, and the folders it lies in. */
export function makeFifo(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync("mkfifo", [path]);
}
