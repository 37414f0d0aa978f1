import { lookUpReferences } from "../../discovery/look-up-pack.ts";
import { resolveFrom } from "../../discovery/package-folders.ts";
import { findReferences, type WrittenReference } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Kind, keyOfKind, kinds } from "../../kinds.ts";
import { failure, quote, TrailblazeError } from "../../problems/index.ts";
import { explainInvalidItemName } from "../../qualified-names/item-name.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import { parseQualifiedName } from "../../qualified-names/qualified-name.ts";
import { resolveReference } from "../../qualified-names/resolve-reference.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";

/** Finds bundles that a server lists more than once: it would not start. And toolsets in documents, which only serve bundles. */
export const checkBundles: Check = function* (pack) {
  for (const item of pack.inspected.items) {
    const isDocument = item.shape === "serverDocument";
    if (!isDocument && item.shape !== "composedServer") continue;
    for (const { toolset, reference, path } of isDocument ? pack.listedToolsets(item) : []) {
      if (toolset.shape !== "toolsetList") continue;
      const reason = "Documents can serve only bundles of kind Mcp.Tools, but this is an array of tools.";
      const hint = "To serve it, use a composed server: remove `kind`, and move it to `toolsets`.";
      yield findInItem(item, "InvalidReference", { reference, reason, hint }, path);
    }
    for (const { toolset, path, isRepeated } of pack.walkToolsets(item)) {
      if (!isRepeated || toolset.shape !== "toolsBundle") continue;
      const reason = `it lists the bundle ${quote(toolset.declaration.name)} twice`;
      const hint = "List it once. Otherwise, the server does not start.";
      yield findInItem(item, "InvalidServerDefinition", { reason, hint }, path);
    }
  }
};

export const checkReferences: Check = async function* (pack) {
  const { port, builtIns, inspected } = pack;
  const { items, extension, pack: from } = inspected;
  const own = new Set(
    kinds.flatMap((kind) => extension[keyOfKind[kind]].map(({ name }) => `${kind} ${name}`)),
  );
  const written = items.flatMap((item) => findReferences(item).map((one) => ({ item, ...one })));
  const elsewhere = written.filter(({ kind, reference }) => !own.has(`${kind} ${reference}`));
  if (elsewhere.length === 0) return;
  const found = await pack.context();
  await lookUpReferences(port, found, elsewhere, from);
  const packs = found.packs.map((one) => one.pack);
  const manager = await pack.manager();

  const explainFailure = (
    item: InspectedItem,
    { reference, path }: WrittenReference,
    { code, problem }: TrailblazeError,
  ): Finding => {
    if (code === "PackVersionMismatch") return { item, problem: { ...problem, path } };
    let { message, hint } = problem;
    if (code === "PackNotInstalled") {
      const { packageName: name } = parseQualifiedName(reference);
      const names = packs.map((one) => one.name);
      // An installed package that is not a pack.
      const location = names.includes(name) ? undefined : resolveFrom(port, from.location, name);
      if (location === undefined) {
        const nearest = findNearestNames(name, names);
        const args = { name, nearest, isDeclared: pack.dependencies().has(name), manager };
        const { problem } = findInItem(item, "PackNotInstalled", args, path);
        return { item, problem: args.isDeclared ? { ...problem, severity: "warning" } : problem };
      }
      ({ message, hint } = found.broken.get(location) ?? failure("ExtensionNotFound", { name }).problem);
    }
    const { otherKind } = problem.args as { otherKind?: Kind };
    if (otherKind !== undefined) hint = `Move it to \`${keyOfKind[otherKind]}\`.`;
    return findInItem(item, "InvalidReference", { reference, reason: message, hint }, path);
  };

  for (const { item, ...one } of elsewhere) {
    const { reference, kind, path } = one;
    const isOwn = kinds.some((other) => own.has(`${other} ${reference}`));
    if (kind === "tool" && !isOwn && explainInvalidItemName(reference) === undefined) {
      // A short name that the pack does not declare may be a built-in.
      if (builtIns.includes(reference)) continue;
      const nearest = findNearestNames(
        reference,
        extension.tools.map(({ name }) => name),
      );
      yield findInItem(item, "UnknownBuiltIn", { reference, nearest }, path);
      continue;
    }
    try {
      resolveReference(reference, { from, kind, packs, builtIns, manager });
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      yield explainFailure(item, one, error);
    }
  }
};

/** Limit on the names of a cycle in a message, which ends with the last ones. */
const longestWay = 20;

/** Reports each reference of the pack's own toolsets that closes a cycle. Does not recurse, because chains may be long. */
export const checkToolsetCycles: Check = function* (pack) {
  const done = new Set<InspectedItem>();
  for (const start of pack.inspected.items) {
    if (start.declaration.kind !== "toolset") continue;
    // The toolsets on the current path, each with those that it lists and that are not visited yet.
    const way = [start];
    const left = new Map([[start, pack.listedToolsets(start).values()]]);
    for (let item = way.at(-1); item !== undefined; item = way.at(-1)) {
      const next = done.has(item) ? undefined : left.get(item)?.next().value;
      if (next === undefined) {
        way.pop();
        left.delete(item);
        done.add(item);
      } else if (left.has(next.toolset)) {
        const cycle = way.slice(way.indexOf(next.toolset)).map(({ declaration }) => declaration.name);
        const args = { cycle: [...cycle.slice(-longestWay), next.toolset.declaration.name] };
        yield findInItem(item, "ReferenceCycle", args, next.path);
      } else if (!done.has(next.toolset)) {
        way.push(next.toolset);
        left.set(next.toolset, pack.listedToolsets(next.toolset).values());
      }
    }
  }
};
