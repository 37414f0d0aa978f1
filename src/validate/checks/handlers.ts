import { isRecord } from "../../data/parse-json.ts";
import { findHandlers, type HandlerPlace, parseHandler } from "../../extension-schema/handlers.ts";
import { replaceBackslashes } from "../../extension-schema/references.ts";
import { isData } from "../../inspection/formats.ts";
import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Finding, findInItem } from "../finding.ts";
import type { ModuleFacts } from "../modules/collect-modules.ts";
import { hintForSource } from "../modules/nearest-file.ts";
import { isBroken, type ModuleFault } from "../modules/parse-module.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

const maximumListed = 10;

/** The exports to list if one is missing: similar ones, or the first ones. */
function chooseExports(name: string, exports: readonly string[]): string[] {
  const nearest = findNearestNames(name, exports);
  return nearest.length > 0 ? nearest : exports.slice(0, maximumListed);
}

/** Suggests a similar path, or to build the file. */
function hintForPath({
  nearest,
  isRelative,
  source,
}: {
  nearest: string | undefined;
  isRelative?: boolean;
  source?: string;
}) {
  if (source !== undefined) return hintForSource(source);
  if (nearest === undefined) return undefined;
  const rule = isRelative ? "Paths are relative to the package, not to this file. " : "";
  return `${rule}Did you mean ${quote(`./${nearest}`, 200)}?`;
}

function describeAbsence(module: string, facts: Extract<ModuleFacts, { state: "missing" }>): string {
  if (facts.hasFolder || facts.nearest !== undefined) return `the package has no file ${quote(module)}`;
  const folder = module.slice(0, module.lastIndexOf("/"));
  return `the package has no folder ${quote(folder)}, which a build may have to create`;
}

function* checkModule(
  item: InspectedItem,
  handler: string,
  { module, exportName }: HandlerPlace,
  facts: ModuleFacts | undefined,
  moduleFaults: ReadonlyMap<string, ModuleFault>,
  path: Path,
): Generator<Finding> {
  switch (facts?.state) {
    case "outside":
      yield findInItem(
        item,
        "DefinitionOutsidePackage",
        { what: handler, hint: hintForPath({ nearest: facts.nearest, isRelative: true }) },
        path,
      );
      break;
    case "missing":
      yield findInItem(
        item,
        "HandlerNotFound",
        { handler, reason: describeAbsence(module, facts), hint: hintForPath(facts) },
        path,
      );
      break;
    case "present": {
      const search = facts.searches.get(exportName);
      if (search === undefined || search === "found") return;
      const looked = "absent" in search ? (search.module ?? module) : module;
      if ([module, looked].some((file) => isBroken(moduleFaults.get(file)))) return;
      if ("absent" in search) {
        const exports = chooseExports(exportName, facts.exports);
        const { absent: reason, hint } = search;
        yield findInItem(item, "HandlerNotFound", { handler, reason, exports, hint }, path);
      } else {
        yield findInItem(item, "HandlerUnchecked", { handler, reason: search.unclear }, path);
      }
    }
  }
}

export const backslashReason = 'it contains a backslash, but paths use "/"';

/** A module path without the leading `./`. */
const isPathOfModule = (handler: string) => /^[\w-][\w./-]*\.[cm]?js(?:#|$)/.test(handler);

/** Checks that the modules and exports in `handler` and `initialize` exist inside the package. */
export async function* checkHandlers(
  pack: Pick<PackUnderTest, "modules" | "moduleFaults"> & { inspected: Pick<InspectedPack, "items"> },
): AsyncGenerator<Finding> {
  const [modules, moduleFaults] = [await pack.modules(), await pack.moduleFaults()];
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
          yield* checkModule(item, handler, place, modules.get(place.module), moduleFaults, path);
        }
      } else if (isRecord(handler) && item.format !== undefined && isData(item.format)) {
        const reason = "only code definitions can contain functions";
        const args = { handler: String(handler.$function), reason };
        yield findInItem(item, "HandlerNotFound", args, path);
      }
    }
  }
}
