// What the names of tools and prompts are, and what a name refers to, also that of a skill.
import type { SessionConfig } from "../config/session-config.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import {
  findCollisions,
  makeOwnName,
  makeServedName,
  type PrefixClaim,
  prefixNames,
} from "../qualified-names/advertised-names.ts";
import { isPackageName, qualifyPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames, unknownName } from "../qualified-names/nearest-names.ts";
import { isQualifiedName } from "../qualified-names/qualified-name.ts";
import { readBins } from "../qualified-names/reserved-commands.ts";
import { notFoundCode } from "../qualified-names/resolve-reference.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { ItemOf, SkillItem, Skipped } from "./items.ts";
import type { ProjectReading } from "./read-project.ts";

type Named = ItemOf<"tool" | "prompt">;
type NamedKind = Named["kind"] | "skill";

/** The name that no other skill has: qualified, or with the server's label. */
export const fullNameOf = ({ shown: { name, qualifiedName, source } }: SkillItem): string =>
  qualifiedName ?? `${source.server}/${name}`;

export function formatSource({ type, pack, version, server, file }: ToolSource): string {
  const ofProject = type === "config" ? "the config" : "a built-in";
  const owner = type === "pack" ? `${pack}@${version ?? "(no version)"}` : ofProject;
  const via = server === undefined ? "" : `, server ${server}`;
  return `${owner}${via}${file === undefined ? "" : ` (${file})`}`;
}

/** A claim to a name, with the prefix that the tool or prompt gets if others claim it: its pack's, or its server's. */
function describeClaim({ route, shown: { name, source } }: Named): PrefixClaim {
  const { type, pack, item, server } = source;
  const hasPrefix = route.by === "server" && route.from.plan.entry.choices?.prefix !== undefined;
  const prefix = pack === undefined ? server : pack.slice(pack.lastIndexOf("/") + 1);
  return {
    name,
    prefix: hasPrefix ? undefined : prefix,
    isBuiltIn: type === "builtIn",
    identity: JSON.stringify([type, pack ?? "", item ?? "", server ?? "", route.id]),
  };
}

/** Returns the error of names that several have, unless the config prefixes these. */
export function giveNames(
  items: readonly Named[],
  nameCollisions: SessionConfig["nameCollisions"],
  kind?: "prompt",
): TrailblazeError | undefined {
  const entries = items.map(({ shown }) => shown);
  if (nameCollisions !== "prefix") {
    const claims = entries.map(({ name, source }) => ({ name, source: formatSource(source) }));
    return findCollisions(claims, kind);
  }
  const names = prefixNames(items.map(describeClaim));
  for (const [index, entry] of entries.entries()) entry.name = names[index] ?? entry.name;
  return undefined;
}

/**
 * The names by which patterns of `calls` mean a tool, without a leading `@`. A name with a slash says whose tool it is: without
 * one, it is advertised or the author's own. An entry of a bundle also has the names of the tool whose code it runs.
 */
export function patternNames({ shown, listing, route }: ItemOf<"tool">): string[] {
  const { name, qualifiedName, source } = shown;
  const own = [name, (listing as { name?: string }).name ?? name];
  const owners = source.pack === undefined ? [] : [qualifyPackageName(source.pack)];
  if (route.by === "server") {
    own.push(route.id);
    owners.push(route.from.plan.label);
  }
  const short = [...own, makeServedName(name)].filter((one) => !one.includes("/"));
  const { names = [] } = route.by === "code" ? route.code : {};
  const long = owners.flatMap((owner) => own.map((one) => `${owner}/${one}`));
  const all = [...short, ...long, ...names, qualifiedName ?? name];
  return [...new Set(all.map((one) => one.replace(/^@/, "")))];
}

/** Splits `LABEL/NAME`. The name is the server's own, which may contain slashes; a label contains none. */
function splitReference(reference: string): { label: string; own: string } | undefined {
  const at = reference.indexOf("/");
  return at < 1 || at === reference.length - 1
    ? undefined
    : { label: reference.slice(0, at), own: reference.slice(at + 1) };
}

/** The labels that calls of these tools need: `LABEL/TOOL` its own, a qualified name none; `undefined` for all servers. */
export function findNeededServers(
  calls: readonly string[],
  { subprocessServers }: SessionConfig,
): ReadonlySet<string> | undefined {
  if (calls.length === 0) return undefined;
  const needed = new Set<string>();
  for (const name of calls) {
    const { label } = splitReference(name) ?? {};
    if (label !== undefined && subprocessServers.some((server) => server.name === label)) needed.add(label);
    else if (!isQualifiedName(name)) return undefined;
  }
  return needed;
}

type NameContext = Pick<ProjectReading, "config" | "registry"> & { skipped: readonly Skipped[] };

/** What names refer to: the tools of a session, its prompts, or its skills. */
export class Names<One extends ItemOf<NamedKind>> {
  readonly #kind: NamedKind;
  readonly #context: NameContext;
  /** By the advertised name and the one that clients are served. */
  readonly #advertised = new Map<string, One[]>();
  /** Those of the config's servers by `LABEL/NAME`. */
  readonly #labeled = new Map<string, One[]>();
  readonly #qualified = new Map<string, One[]>();
  /** By a server's own name. */
  readonly #own = new Map<string, One[]>();

  constructor(kind: NamedKind, items: readonly One[], context: NameContext) {
    this.#kind = kind;
    this.#context = context;
    const add = (index: Map<string, One[]>, name: string, one: One) =>
      index.set(name, [...(index.get(name) ?? []), one]);
    for (const one of items) {
      const { route, shown } = one;
      const { name, qualifiedName, source } = shown;
      for (const served of new Set([name, makeServedName(name)])) add(this.#advertised, served, one);
      if (qualifiedName !== null) add(this.#qualified, qualifiedName, one);
      if (route.by !== "server") continue;
      if (one.kind === "skill") {
        add(this.#labeled, fullNameOf(one), one);
        continue;
      }
      add(this.#own, route.id, one);
      if (source.type === "config") add(this.#labeled, `${route.from.plan.label}/${route.id}`, one);
    }
  }

  /** All that a name refers to, for the one whose name counts most: advertised, labeled, qualified, a server's own. */
  find(name: string): readonly One[] {
    const exact = this.#advertised.get(name) ?? this.#labeled.get(name);
    return exact ?? this.#qualified.get(name) ?? this.#own.get(name) ?? [];
  }

  /**
   * What a name refers to for the host, or for code of a pack, whose own items come first by their short names. Throws
   * `TrailblazeError`: `ToolNotFound`, `PromptNotFound` or `SkillNotFound` with similar names, `NameCollision` for a name that several
   * have (for skills `AmbiguousName`), `AmbiguousName`, and for what is excluded its problem; for tools also `ServerNotFound`,
   * `PackNotInstalled`, `ExtensionNotFound` and others of references.
   */
  resolve(name: string, pack?: string): One {
    const isReference = name.includes("/");
    // What it means, which may be excluded.
    let qualified = pack === undefined || isReference ? undefined : `${pack}/${name}`;
    const [own] = (qualified && this.#qualified.get(qualified)) || [];
    const named = own ?? this.#findOne(name, pack);
    if (named !== undefined) return named;
    const isTool = this.#kind === "tool";
    let fault: TrailblazeError | undefined;
    try {
      if (isReference) qualified = this.#context.registry.resolve(name, { kind: this.#kind }).qualifiedName;
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      if (isTool) fault = error;
    }
    const [item] = isReference && qualified ? this.find(qualified) : [];
    if (item !== undefined) return item;
    const mayBeLabel = fault?.code === "PackNotInstalled" || fault?.code === "InvalidQualifiedName";
    if (fault !== undefined && !mayBeLabel) throw fault;
    // It is installed but excluded; the error says why.
    const skipped = this.#findSkipped(name, qualified);
    if (skipped?.problem !== undefined) throw new TrailblazeError(skipped.problem);
    if (fault !== undefined && skipped === undefined) throw this.explainLabel(name) ?? this.#explain(fault);
    throw failure(notFoundCode[this.#kind], {
      name,
      nearest: isTool && (isReference || skipped) ? [] : this.#findNearest(name),
      reason: skipped?.message,
      server: isTool ? undefined : this.#findServer(name)?.label,
    });
  }

  /** Throws `NameCollision` for a name that several have, and `AmbiguousName` if it is also that of a pack's item. */
  #findOne(name: string, pack: string | undefined): One | undefined {
    const found = this.find(name);
    const [one] = found;
    if (one?.kind === "skill" && found.length > 1) {
      const skills = found.flatMap((each) => (each.kind === "skill" ? fullNameOf(each) : []));
      throw failure("AmbiguousName", { name, kinds: ["skill"], skills });
    }
    if (found.length > 1) {
      const sources = found.map((one) => formatSource(one.shown.source));
      const kind = this.#kind === "tool" ? undefined : this.#kind;
      throw failure("NameCollision", { collisions: [{ name, sources }], isCalled: true, kind });
    }
    if (one === undefined || this.#labeled.get(name) !== found) return one;
    const { registry } = this.#context;
    if (!registry.items(this.#kind).some(({ qualifiedName }) => qualifiedName === name)) return one;
    // Packs do not know the user's servers.
    if (pack !== undefined) return this.#qualified.get(name)?.[0];
    const { server } = one.shown.source;
    throw failure("AmbiguousName", { name, kinds: [this.#kind], server });
  }

  /** The error of a reference to a pack: the package may be installed, and no pack or not declared. */
  #explain(fault: TrailblazeError): TrailblazeError {
    const { code, args } = fault.problem;
    if (code !== "PackNotInstalled" || !("name" in args)) return fault;
    const name = String(args.name);
    const read = readUsableManifest(port, resolveFrom(port, this.#context.config.project, name));
    if (read === undefined) return fault;
    return read.value.trailblaze === undefined
      ? failure("ExtensionNotFound", { name, mayBeServer: readBins(name, read.value).size > 0 })
      : failure("PackNotInstalled", { name, isUndeclared: true }, { pack: name });
  }

  /** The server of the config that `LABEL/NAME` names, and the name with its prefix. */
  #findServer(name: string): { label: string; offered: string } | undefined {
    const { label, own } = splitReference(name) ?? { own: "" };
    const server = this.#context.config.subprocessServers.find((one) => one.name === label);
    return server && { label: server.name, offered: makeOwnName(server.choices.prefix, own) };
  }

  #findSkipped(name: string, qualified: string | undefined): Skipped | undefined {
    const server = this.#findServer(name);
    return this.#context.skipped.find(({ kind, name: own, source }) => {
      const isServer = kind === "server" && this.#kind === "tool";
      if (kind !== this.#kind && !isServer) return false;
      const { type, pack, item } = source;
      const isItem = pack !== undefined && source.server === undefined;
      if (own === name || (isItem && qualified === `${qualifyPackageName(pack)}/${item}`)) return true;
      if (type !== "config" || server === undefined || source.server !== server.label) return false;
      return own === (isServer ? server.label : server.offered);
    });
  }

  #findNearest(name: string): string[] {
    const indexes = [this.#advertised, this.#labeled, this.#qualified, this.#own];
    const known = [...new Set(indexes.flatMap((index) => [...index.keys()]))];
    const endingInIt = known.filter((one) => one.endsWith(`/${name}`));
    return endingInIt.length > 0 ? endingInIt : findNearestNames(name, known);
  }

  /** The error for a `LABEL/NAME` that is in no pack either. `undefined` if the config has no servers, or for another form. */
  explainLabel(reference: string): TrailblazeError | undefined {
    const { labels } = this.#context.config;
    const { label, own } = splitReference(reference) ?? {};
    if (label === undefined || own === undefined) return undefined;
    if (this.#findServer(reference) !== undefined) {
      const names = [...this.#labeled.keys()].filter((name) => name.startsWith(`${label}/`));
      const nearest = findNearestNames(reference, names);
      return failure(notFoundCode[this.#kind], { name: reference, nearest, server: label });
    }
    if (labels.includes(label))
      return failure("ServerNotFound", { name: label, nearest: [], isDisabled: true });
    const isLabel = !label.startsWith("@") && (!own.includes("/") || !isPackageName(label));
    if (labels.length === 0 || !isLabel) return undefined;
    return unknownName("ServerNotFound", label, labels, { isLabel: true });
  }
}
