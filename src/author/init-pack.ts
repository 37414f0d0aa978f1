import { basename, resolve } from "node:path";
import { createFiles, describeFolder } from "../files/author-files.ts";
import { failure, quote } from "../problems/index.ts";
import { hostVersion } from "../version.ts";
import { suggestName } from "./new-package-name.ts";
import { type PackPlan, planPack } from "./plan-pack.ts";
import type { TemplateName } from "./templates/template.ts";

export { readNewName, readTemplateName, templates } from "./plan-pack.ts";
export { type TemplateName, templateNames } from "./templates/template.ts";

export interface InitOptions {
  /** What a relative folder starts from; default: the process's. */
  cwd?: string;
  /** The npm name; default: that of the folder. */
  name?: string;
  /** Default: `data`. */
  template?: string;
}

/** A pack that was made. */
export interface InitResult {
  /** Absolute. */
  directory: string;
  name: string;
  template: TemplateName;
  /** Paths in the folder, with `/`. */
  files: string[];
}

/**
 * The folder for a new pack, absolute. Throws `InvalidArguments` for one that is not empty, or no folder, and
 * `ProjectNotFound` where there is no `cwd`.
 */
export function findNewFolder(directory: string, cwd: string = process.cwd()): string {
  const start = resolve(cwd);
  if (!["empty", "filled"].includes(describeFolder(start)))
    throw failure("ProjectNotFound", { directory: start, exists: false });
  const folder = resolve(cwd, directory);
  const state = describeFolder(folder);
  if (state === "absent" || state === "empty") return folder;
  const reason = `${quote(folder, 400)} is ${state === "filled" ? "not empty" : "no folder"}`;
  throw failure("InvalidArguments", { reason, hint: "Name a new folder: trailblaze init my-tools" });
}

/** The name that a pack in a folder gets unless its author says another; `undefined` where npm takes none like it. */
export const suggestPackName = (folder: string): string | undefined => suggestName(basename(folder));

/** What `initPack` would make, with nothing done. Throws `InvalidArguments`. */
export function planNewPack(
  directory: string,
  { cwd = process.cwd(), name, template = "data" }: InitOptions = {},
): PackPlan & { directory: string } {
  const folder = findNewFolder(directory, cwd);
  const chosen = name ?? suggestPackName(folder);
  if (chosen === undefined) {
    const reason = `${quote(basename(folder))} makes no name that npm takes`;
    throw failure("InvalidArguments", { reason, hint: "Name the pack: --name my-tools" });
  }
  return { directory: folder, ...planPack({ name: chosen, template, hostVersion }) };
}

/** Makes what was planned, all of it or nothing. Throws `InvalidArguments` where the system refuses. */
export function createPlannedPack({
  directory,
  name,
  template,
  files,
}: PackPlan & { directory: string }): InitResult {
  createFiles(directory, files);
  return { directory, name, template, files: files.map(({ path }) => path) };
}
