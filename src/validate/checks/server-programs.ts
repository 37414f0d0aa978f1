import { replaceBackslashes } from "../../extension-schema/references.ts";
import type { PathKind } from "../../files/inspection-port.ts";
import { suggestPackage } from "../../inspection/server-package.ts";
import { quote } from "../../problems/index.ts";
import type { NeededPath } from "../facts/needed-files.ts";
import { findPackage } from "../facts/undeclared-imports.ts";
import { type Check, findInItem } from "../finding.ts";
import { findNearestFile, hintForSource } from "../modules/nearest-file.ts";
import { backslashReason } from "./handlers.ts";
import { hasVariable } from "./server-commands.ts";

function describeMismatch({ location, wanted }: NeededPath, kind: PathKind | undefined): string {
  if (kind === "absent") return `the package has no ${wanted} ${quote(location)}`;
  return `${quote(location)} is ${kind === "folder" ? "a folder, not a file" : `not a regular ${wanted}`}`;
}

/** Checks that the program and the working folder of a subprocess server exist inside the package. */
export const checkServerPrograms: Check = async function* (pack) {
  for (const [item, needed] of pack.paths()) {
    for (const one of needed) {
      const { written, location, wanted, path, kind } = one;
      // The check of variables reports it.
      if (hasVariable(written)) continue;
      const meant = replaceBackslashes(written);
      if (meant !== undefined) {
        const hint = `Did you mean ${quote(meant, 200)}?`;
        const reason = backslashReason;
        yield wanted === "folder"
          ? findInItem(item, "InvalidServerDefinition", { reason: `\`cwd\` is wrong: ${reason}`, hint }, path)
          : findInItem(item, "HandlerNotFound", { handler: written, reason, hint, isProgram: true }, path);
        continue;
      }
      if (kind === wanted) {
        const failing = await pack.findFailingImport(location);
        const args = { handler: written, isProgram: true };
        if (failing !== undefined) yield findInItem(item, "HandlerNotFound", { ...args, ...failing }, path);
        continue;
      }
      if (kind === "outside") {
        yield findInItem(item, "DefinitionOutsidePackage", { what: written }, path);
      } else if (wanted === "folder") {
        const reason = `\`${path.join(".")}\` must be a folder, but ${describeMismatch(one, kind)}`;
        yield findInItem(item, "InvalidServerDefinition", { reason }, path);
      } else {
        const reason = describeMismatch(one, kind);
        const { nearest, source } = (kind === "absent" && findNearestFile(pack.files, location)) || {};
        const suggestion = nearest === undefined ? undefined : `Did you mean ${quote(`./${nearest}`, 200)}?`;
        const hasArguments = path[0] === "command" && /\s/.test(written);
        const split = hasArguments ? "Put arguments into `args`." : undefined;
        // A file of a dependency, as an import would name it.
        const owner = path[0] === "script" ? findPackage(location) : undefined;
        const ofDependency =
          owner !== undefined && pack.dependencies().has(owner)
            ? suggestPackage(owner, undefined, "script")
            : undefined;
        const hint = source === undefined ? (suggestion ?? ofDependency ?? split) : hintForSource(source);
        yield findInItem(item, "HandlerNotFound", { handler: written, reason, hint, isProgram: true }, path);
      }
    }
  }
};
