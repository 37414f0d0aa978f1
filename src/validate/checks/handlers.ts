import { isRecord } from "../../data/parse-json.ts";
import { findHandlers, type HandlerPlace, parseHandler } from "../../extension-schema/references.ts";
import { isData } from "../../inspection/locate-definitions.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Finding, findInItem } from "../finding.ts";
import { type ExportSearch, findExport, hintForMissing } from "../modules/loadable.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** A pack, or the tools of a project. */
type WithHandlers = Pick<PackUnderTest, "files" | "moduleFaults" | "findFailingImport"> & {
  inspected: Pick<InspectedPack, "items"> & { pack: Pick<InspectedPack["pack"], "origin"> };
};

/** Limit on the exports that a problem lists instead of a missing one. */
const maximumListed = 10;

/** Whether execution finds the export of a module. */
async function search(
  { files, inspected, findFailingImport }: WithHandlers,
  { module, exportName }: HandlerPlace,
): Promise<ExportSearch> {
  const { kind } = await files.get(module);
  if (kind === "absent")
    return { absent: `the package has no file ${quote(module)}`, hint: hintForMissing(files, module) };
  if (kind === "foreign") return { absent: `Node cannot import ${quote(module)} as a module` };
  if (kind === "typescript") {
    const isInstalled = !["self", "workspace"].includes(inspected.pack.origin);
    return isInstalled ? { absent: "Node does not run TypeScript in installed packages" } : "found";
  }
  const failing = await findFailingImport(module);
  if (failing === undefined) return findExport(files, module, exportName);
  return { absent: failing.reason, hint: failing.hint };
}

async function* checkModule(
  pack: WithHandlers,
  item: InspectedItem,
  { handler, path, ...place }: HandlerPlace & { handler: string; path: Path },
): AsyncGenerator<Finding> {
  const { module, exportName } = place;
  if ((await pack.files.get(module)).kind === "outside") {
    yield findInItem(item, "DefinitionOutsidePackage", { what: handler }, path);
    return;
  }
  const found = await search(pack, place);
  if (found === "found" || (await pack.moduleFaults()).has(module)) return;
  if ("unclear" in found)
    yield findInItem(item, "HandlerUnchecked", { handler, reason: found.unclear }, path);
  else {
    const { absent: reason, hint, exports: all = [] } = found;
    const nearest = findNearestNames(exportName, all);
    const exports = nearest.length > 0 ? nearest : all.slice(0, maximumListed);
    yield findInItem(item, "HandlerNotFound", { handler, reason, exports, hint }, path);
  }
}

/** Checks that the modules and exports in `handler` and `initialize` exist inside the package. */
export async function* checkHandlers(pack: WithHandlers): AsyncGenerator<Finding> {
  for (const item of pack.inspected.items) {
    for (const { handler, path } of findHandlers(item)) {
      const refuse = (written: string, reason: string) =>
        findInItem(item, "HandlerNotFound", { handler: written, reason }, path);
      if (typeof handler === "string") {
        const place = parseHandler(handler);
        if ("fault" in place) yield refuse(handler, place.fault);
        else yield* checkModule(pack, item, { ...place, handler, path });
      } else if (isRecord(handler) && item.format !== undefined && isData(item.format))
        yield refuse(String(handler.$function), "only code definitions can contain functions");
    }
  }
}
