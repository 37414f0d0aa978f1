import { posix } from "node:path";
import { isRecord } from "../../data/parse-json.ts";
import {
  findHandlers,
  type HandlerPlace,
  parseHandler,
  replaceBackslashes,
} from "../../extension-schema/references.ts";
import { isData } from "../../inspection/formats.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Finding, findInItem } from "../finding.ts";
import { type ExportSearch, findExport } from "../modules/exports.ts";
import { findNearestFile, hintForSource } from "../modules/imports.ts";
import type { ModuleFiles } from "../modules/module-files.ts";
import type { ModuleFault } from "../modules/parse-module.ts";
import { isTypeScript } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** A pack, or the tools of a project. */
type WithHandlers = Pick<PackUnderTest, "files" | "moduleFaults" | "findFailingImport"> & {
  inspected: Pick<InspectedPack, "items"> & { pack: Pick<InspectedPack["pack"], "origin"> };
};

/** Limit on the exports that a problem lists instead of a missing one. */
const maximumListed = 10;

/** A hint for a path that is relative to the folder of the definition, a common mistake, or leads out of the package. */
async function hintForRelative(
  files: ModuleFiles,
  module: string,
  { file }: InspectedItem,
): Promise<string | undefined> {
  const candidates = [module.replace(/^(?:\.\.\/)+/, "")];
  if (file !== null) candidates.unshift(posix.join(posix.dirname(file), module));
  for (const one of candidates) {
    if (one === "" || one === module || one.startsWith("..")) continue;
    if (["absent", "outside", "broken"].includes((await files.get(one)).kind)) continue;
    return `Paths are relative to the package, not to this file. Did you mean ${quote(`./${one}`, 200)}?`;
  }
  return undefined;
}

/** Why there is no module, with a hint to build it or to correct the path. */
async function explainAbsence(files: ModuleFiles, module: string, item: InspectedItem) {
  const beside = findNearestFile(files, module);
  const { nearest, source } = beside ?? {};
  const reason = `the package has no file ${quote(module)}`;
  if (source !== undefined) return { reason, hint: hintForSource(source) };
  if (nearest !== undefined) return { reason, hint: `Did you mean ${quote(`./${nearest}`, 200)}?` };
  const hint = isTypeScript(module) ? undefined : await hintForRelative(files, module, item);
  if (beside !== undefined || hint !== undefined) return { reason, hint };
  const folder = module.slice(0, module.lastIndexOf("/"));
  return { reason: `the package has no folder ${quote(folder)}, which a build may have to create` };
}

/** Whether Node cannot load a module, so that its exports do not matter. */
const isBroken = (fault: ModuleFault | undefined) =>
  fault !== undefined && !(fault.fault === "variable" && fault.isInFunction);

/** Whether execution finds the export of an existing module. */
async function search(
  { files, inspected, findFailingImport }: WithHandlers,
  { module, exportName }: HandlerPlace,
): Promise<ExportSearch> {
  const { kind } = await files.get(module);
  if (kind === "foreign") return { absent: `Node cannot import ${quote(module)} as a module`, module };
  if (kind === "typescript") {
    const isInstalled = !["self", "workspace"].includes(inspected.pack.origin);
    return isInstalled ? { absent: "Node does not run TypeScript in installed packages", module } : "found";
  }
  const failing = await findFailingImport(module);
  return failing === undefined
    ? findExport(files, module, exportName)
    : { absent: failing.reason, hint: failing.hint, module };
}

async function* checkModule(
  pack: WithHandlers,
  item: InspectedItem,
  { handler, path, ...place }: HandlerPlace & { handler: string; path: Path },
): AsyncGenerator<Finding> {
  const { files } = pack;
  const { module, exportName } = place;
  const { kind } = await files.get(module);
  if (kind === "outside") {
    const hint = await hintForRelative(files, module, item);
    yield findInItem(item, "DefinitionOutsidePackage", { what: handler, hint }, path);
  } else if (kind === "absent") {
    const args = await explainAbsence(files, module, item);
    yield findInItem(item, "HandlerNotFound", { handler, ...args }, path);
  } else {
    const found = await search(pack, place);
    if (found === "found") return;
    const faults = await pack.moduleFaults();
    if (isBroken(faults.get(module)) || ("absent" in found && isBroken(faults.get(found.module)))) return;
    if ("absent" in found) {
      const { absent: reason, hint, exports: all = [] } = found;
      const nearest = findNearestNames(exportName, all);
      const exports = nearest.length > 0 ? nearest : all.slice(0, maximumListed);
      yield findInItem(item, "HandlerNotFound", { handler, reason, exports, hint }, path);
    } else {
      yield findInItem(item, "HandlerUnchecked", { handler, reason: found.unclear }, path);
    }
  }
}

export const backslashReason = 'it contains a backslash, but paths use "/"';

/** A module path without the leading `./`. */
const isPathOfModule = (handler: string) => /^[\w-][\w./-]*\.[cm]?js(?:#|$)/.test(handler);

/** Checks that the modules and exports in `handler` and `initialize` exist inside the package. */
export async function* checkHandlers(pack: WithHandlers): AsyncGenerator<Finding> {
  for (const item of pack.inspected.items) {
    for (const { handler, path } of findHandlers(item)) {
      if (typeof handler === "string") {
        const place = parseHandler(handler);
        const meant = replaceBackslashes(handler);
        if (meant !== undefined) {
          const hint = `Did you mean ${quote(meant, 200)}?`;
          yield findInItem(item, "HandlerNotFound", { handler, reason: backslashReason, hint }, path);
        } else if ("fault" in place) {
          const hint = isPathOfModule(handler) ? `Did you mean ${quote(`./${handler}`)}?` : undefined;
          yield findInItem(item, "HandlerNotFound", { handler, reason: place.fault, hint }, path);
        } else {
          yield* checkModule(pack, item, { ...place, handler, path });
        }
      } else if (isRecord(handler) && item.format !== undefined && isData(item.format)) {
        const reason = "only code definitions can contain functions";
        const args = { handler: String(handler.$function), reason };
        yield findInItem(item, "HandlerNotFound", args, path);
      }
    }
  }
}
