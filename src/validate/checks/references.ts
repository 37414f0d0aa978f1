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
import type { OtherPacks, PackUnderTest } from "../pack-under-test.ts";

/** Resolves the references of one pack, each once. */
class ReferenceLookup {
  readonly #pack: PackUnderTest;
  readonly #others: OtherPacks;
  readonly #own: ReadonlySet<string>;
  readonly #failures = new Map<string, TrailblazeError | undefined>();

  constructor(pack: PackUnderTest, others: OtherPacks) {
    this.#pack = pack;
    this.#others = others;
    const { extension } = pack.inspected;
    this.#own = new Set(
      kinds.flatMap((kind) => extension[keyOfKind[kind]].map(({ name }) => `${kind} ${name}`)),
    );
  }

  /** True for a short name that the pack does not declare and that may be a built-in. */
  canBeBuiltIn({ reference, kind }: WrittenReference): boolean {
    const isOwn = kinds.some((one) => this.#own.has(`${one} ${reference}`));
    return kind === "tool" && !isOwn && explainInvalidItemName(reference) === undefined;
  }

  /** The error for a reference that cannot be resolved; `undefined` if it can. */
  findFailure({ reference, kind }: WrittenReference): TrailblazeError | undefined {
    const key = `${kind} ${reference}`;
    if (this.#own.has(key)) return undefined;
    if (!this.#failures.has(key)) this.#failures.set(key, this.#resolve(reference, kind));
    return this.#failures.get(key);
  }

  /** The actual kind of the item, if it differs from the required one. */
  findOtherKind({ reference, kind }: WrittenReference): Kind | undefined {
    const others = kinds.filter((one) => one !== kind);
    return (
      others.find((one) => this.#own.has(`${one} ${reference}`)) ??
      (this.#pack.builtIns.includes(reference) ? "tool" : undefined) ??
      others.find((one) => this.#leadsTo(reference, one))
    );
  }

  #leadsTo(reference: string, kind: Kind): boolean {
    return reference.includes("/") && this.#resolve(reference, kind) === undefined;
  }

  /** Suggestions for a short name: similar own items, then items of other packs with the same name. */
  suggest(name: string): string[] {
    const { inspected } = this.#pack;
    const { installed } = this.#others;
    const own = inspected.extension.tools.map((tool) => tool.name);
    const others = installed.flatMap(({ tools }) => tools.filter((tool) => tool.name === name));
    return [...findNearestNames(name, own), ...new Set(others.map(({ qualifiedName }) => qualifiedName))];
  }

  #resolve(reference: string, kind: Kind): TrailblazeError | undefined {
    const { inspected, builtIns } = this.#pack;
    const { installed: packs, manager } = this.#others;
    try {
      resolveReference(reference, { from: inspected.pack, kind, packs, builtIns, manager });
      return undefined;
    } catch (error) {
      if (error instanceof TrailblazeError) return error;
      throw error;
    }
  }
}

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

function describeFailure(
  item: InspectedItem,
  { reference, kind, path }: WrittenReference,
  { code, problem }: TrailblazeError,
  pack: PackUnderTest,
  others: OtherPacks,
  lookup: ReferenceLookup,
): Finding {
  if (code === "PackVersionMismatch") return { item, problem: { ...problem, path } };
  let { message, hint } = problem;
  if (code === "PackNotInstalled") {
    const { packageName: name } = parseQualifiedName(reference);
    if (!others.otherPackages.has(name)) {
      const nearest = findNearestNames(
        name,
        others.installed.map((one) => one.name),
      );
      const isDeclared = pack.dependencies().has(name);
      const args = { name, nearest, isDeclared, manager: others.manager };
      return findInItem(item, "PackNotInstalled", args, path);
    }
    ({ message, hint } = others.otherPackages.get(name) ?? failure("ExtensionNotFound", { name }).problem);
  }
  const otherKind = lookup.findOtherKind({ reference, kind, path });
  if (otherKind !== undefined) hint = hintForOtherKind(item, otherKind);
  return findInItem(item, "InvalidReference", { reference, reason: message, hint }, path);
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
  const others = await pack.others();
  const lookup = new ReferenceLookup(pack, others);
  for (const item of pack.inspected.items) {
    for (const written of findReferences(item)) {
      const { reference, path } = written;
      if (lookup.canBeBuiltIn(written)) {
        if (pack.builtIns.includes(reference)) continue;
        const advertises = others.advertised.get(reference);
        const nearest = advertises === undefined ? lookup.suggest(reference) : [advertises];
        yield findInItem(item, "UnknownBuiltIn", { reference, nearest, advertises }, path);
        continue;
      }
      const error = lookup.findFailure(written);
      if (error === undefined) continue;
      yield describeFailure(item, written, error, pack, others, lookup);
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
