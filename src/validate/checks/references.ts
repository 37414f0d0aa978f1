import { lookUpReferences } from "../../discovery/look-up-pack.ts";
import { resolveFrom } from "../../discovery/package-folders.ts";
import { managerIn } from "../../discovery/project-manager.ts";
import { findReferences, type WrittenReference } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Kind, keyOfKind, kinds } from "../../kinds.ts";
import { failure, listOf, quote, TrailblazeError } from "../../problems/index.ts";
import {
  explainInvalidItemName,
  findNearestNames,
  parseQualifiedName,
  resolveReference,
} from "../../qualified-names/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** The kinds of items that each shape can list. */
const listedKinds: Readonly<Record<string, readonly Kind[]>> = {
  composedServer: ["tool", "toolset", "prompt", "resource"],
  toolsetList: ["tool", "toolset"],
};

function hintForOtherKind({ shape }: InspectedItem, otherKind: Kind): string | undefined {
  const kindsHere = listedKinds[shape ?? ""];
  if (kindsHere === undefined) return undefined;
  const lists = kindsHere.map((kind) => `\`${keyOfKind[kind]}\``);
  return kindsHere.includes(otherKind)
    ? `Move it to \`${keyOfKind[otherKind]}\`.`
    : `Only ${listOf(lists, "and")} can be listed here.`;
}

/** Finds bundles that a server lists more than once, directly or through toolsets: it would not start. */
function* checkRepeatedBundles(pack: PackUnderTest, server: InspectedItem): Generator<Finding> {
  if (server.shape !== "composedServer" && server.shape !== "serverDocument") return;
  for (const { toolset, path, isRepeated } of pack.walkToolsets(server)) {
    if (!isRepeated || toolset.shape !== "toolsBundle") continue;
    const reason = `it lists the bundle ${quote(toolset.declaration.name)} twice`;
    const hint = "List it once. Otherwise, the server does not start.";
    yield findInItem(server, "InvalidServerDefinition", { reason, hint }, path);
  }
}

/** Checks that a document serves only bundles. */
function* checkBundles(pack: PackUnderTest, item: InspectedItem): Generator<Finding> {
  if (item.shape !== "serverDocument") return;
  for (const { toolset, path, reference } of pack.listedToolsets(item)) {
    if (toolset.shape !== "toolsetList") continue;
    const reason = "Documents can serve only bundles of kind Mcp.Tools, but this is an array of tools.";
    const hint = "To serve it, use a composed server: remove `kind`, and move it to `toolsets`.";
    yield findInItem(item, "InvalidReference", { reference, reason, hint }, path);
  }
}

/** Checks that every reference resolves to an item of the required kind: of the pack, the host, or another pack. */
export const checkReferences: Check = async function* (pack) {
  const { port, builtIns, inspected } = pack;
  const { items, extension, pack: from } = inspected;
  const own = new Set(
    kinds.flatMap((kind) => extension[keyOfKind[kind]].map(({ name }) => `${kind} ${name}`)),
  );
  const isOwn = (kind: Kind, name: string) => own.has(`${kind} ${name}`);
  const elsewhere = items.flatMap((item) =>
    findReferences(item).flatMap(({ reference, kind }) => (isOwn(kind, reference) ? [] : reference)),
  );
  const found = elsewhere.length === 0 ? undefined : await pack.context();
  if (found !== undefined) await lookUpReferences(port, found, elsewhere, from);
  const packs = found?.packs.map((one) => one.pack) ?? [];
  const manager = found && managerIn(port, found);

  const failures = new Map<string, TrailblazeError | undefined>();
  /** The error for a reference that cannot be resolved; `undefined` if it can. */
  const findFailure = (reference: string, kind: Kind): TrailblazeError | undefined => {
    const key = `${kind} ${reference}`;
    if (own.has(key)) return undefined;
    if (!failures.has(key)) {
      try {
        resolveReference(reference, { from, kind, packs, builtIns, manager });
        failures.set(key, undefined);
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        failures.set(key, error);
      }
    }
    return failures.get(key);
  };

  /** The actual kind of the item, if it differs from the required one. */
  const findOtherKind = ({ reference, kind }: WrittenReference): Kind | undefined => {
    const others = kinds.filter((one) => one !== kind);
    return (
      others.find((one) => isOwn(one, reference)) ??
      (builtIns.includes(reference) ? "tool" : undefined) ??
      others.find((one) => reference.includes("/") && findFailure(reference, one) === undefined)
    );
  };

  /** A short name that the pack does not declare may be a built-in. Suggests own tools first, then those of other packs. */
  const describeBuiltIn = (item: InspectedItem, { reference, path }: WrittenReference) => {
    const advertises = items.find(
      ({ shape, definition }) => shape === "tool" && definition?.name === reference,
    )?.declaration.name;
    const others = packs.flatMap(({ tools }) => tools.filter((tool) => tool.name === reference));
    const similar = () => [
      ...findNearestNames(
        reference,
        extension.tools.map((tool) => tool.name),
      ),
      ...new Set(others.map(({ qualifiedName }) => qualifiedName)),
    ];
    const nearest = advertises === undefined ? similar() : [advertises];
    return findInItem(item, "UnknownBuiltIn", { reference, nearest, advertises }, path);
  };

  const describeFailure = (
    item: InspectedItem,
    written: WrittenReference,
    error: TrailblazeError,
  ): Finding => {
    const { reference, path } = written;
    if (error.code === "PackVersionMismatch") return { item, problem: { ...error.problem, path } };
    let { message, hint } = error.problem;
    if (error.code === "PackNotInstalled") {
      const { packageName: name } = parseQualifiedName(reference);
      // An installed package that is not a pack.
      const isPack = packs.some((one) => one.name === name);
      const location = isPack ? undefined : resolveFrom(port, from.location, name);
      if (location === undefined) {
        const nearest = findNearestNames(
          name,
          packs.map((one) => one.name),
        );
        const args = { name, nearest, isDeclared: pack.dependencies().has(name), manager };
        return findInItem(item, "PackNotInstalled", args, path);
      }
      ({ message, hint } = found?.broken.get(location) ?? failure("ExtensionNotFound", { name }).problem);
    }
    const otherKind = findOtherKind(written);
    if (otherKind !== undefined) hint = hintForOtherKind(item, otherKind);
    return findInItem(item, "InvalidReference", { reference, reason: message, hint }, path);
  };

  for (const item of items) {
    for (const written of findReferences(item)) {
      const { reference, kind } = written;
      const mayBeBuiltIn =
        kind === "tool" &&
        !kinds.some((one) => isOwn(one, reference)) &&
        explainInvalidItemName(reference) === undefined;
      if (mayBeBuiltIn) {
        if (!builtIns.includes(reference)) yield describeBuiltIn(item, written);
        continue;
      }
      const error = findFailure(reference, kind);
      if (error !== undefined) yield describeFailure(item, written, error);
    }
    yield* checkBundles(pack, item);
    yield* checkRepeatedBundles(pack, item);
  }
};

/** Limit on the names of a cycle in a message; longer cycles are abbreviated. */
const longestWay = 20;

function abbreviate(names: readonly string[]): readonly string[] {
  const others = names.length - longestWay;
  if (others <= 0) return names;
  const half = longestWay / 2;
  return [...names.slice(0, half), `(${others} others)`, ...names.slice(-half)];
}

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
        const args = { cycle: [...abbreviate(cycle), next.toolset.declaration.name] };
        yield findInItem(item, "ReferenceCycle", args, next.path);
      } else if (!done.has(next.toolset)) {
        way.push(next.toolset);
        left.set(next.toolset, pack.listedToolsets(next.toolset).values());
      }
    }
  }
};
