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
  /** The base of a relative folder. Default: the current folder. */
  cwd?: string;
  /** The npm name. Default: the folder's name. */
  name?: string;
  /** Default: `data`. */
  template?: string;
}

/** A new pack. */
export interface InitResult {
  /** Absolute. */
  directory: string;
  name: string;
  template: TemplateName;
  /** Paths in the folder, with `/`. */
  files: string[];
}

/**
 * The absolute path of the folder for a new pack. Throws `InvalidArguments` if it is not empty or not a folder, and
 * `ProjectNotFound` if `cwd` does not exist.
 */
export function findNewFolder(directory: string, cwd: string = process.cwd()): string {
  const start = resolve(cwd);
  if (!["empty", "filled"].includes(describeFolder(start)))
    throw failure("ProjectNotFound", { directory: start, exists: false });
  const folder = resolve(cwd, directory);
  const state = describeFolder(folder);
  if (state === "absent" || state === "empty") return folder;
  const reason = `${quote(folder, 400)} is ${state === "filled" ? "not empty" : "not a folder"}`;
  throw failure("InvalidArguments", { reason, hint: "Choose a new folder: trailblaze init my-tools" });
}

/** The default name of a pack in a folder; `undefined` if no valid npm name can be derived. */
export const suggestPackName = (folder: string): string | undefined => suggestName(basename(folder));

/** Plans a new pack and writes nothing. Throws `InvalidArguments`. */
export function planNewPack(
  directory: string,
  { cwd = process.cwd(), name, template = "data" }: InitOptions = {},
): PackPlan & { directory: string } {
  const folder = findNewFolder(directory, cwd);
  const chosen = name ?? suggestPackName(folder);
  if (chosen === undefined) {
    const reason = `Cannot derive an npm name from ${quote(basename(folder))}`;
    throw failure("InvalidArguments", { reason, hint: "Choose a name: --name my-tools" });
  }
  return { directory: folder, ...planPack({ name: chosen, template, hostVersion }) };
}

/** Creates a planned pack, completely or not at all. Throws `InvalidArguments` if it cannot be written. */
export function createPlannedPack({
  directory,
  name,
  template,
  files,
}: PackPlan & { directory: string }): InitResult {
  createFiles(directory, files);
  return { directory, name, template, files: files.map(({ path }) => path) };
}
