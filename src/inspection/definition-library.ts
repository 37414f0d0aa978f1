import type { FoundPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import type { PackageManager, Problem } from "../problems/index.ts";
import { DefinitionReader, type ReadOptions } from "./load-definitions.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

/** Loads definitions of single items on demand, each once. */
export class DefinitionLibrary {
  readonly found: FoundPacks;
  readonly problems: Problem[] = [];
  readonly #port: InspectionPort;
  readonly #options: ReadOptions;
  readonly #check: (loaded: InspectedPack) => Promise<InspectedPack>;
  readonly #packs = new Map<FoundPack, { reader: DefinitionReader; declared: Map<string, Declaration> }>();
  readonly #items = new Map<string, InspectedItem>();
  #manager: PackageManager | undefined;

  /** `check` may replace the items of a pack before they are used. */
  constructor(
    port: InspectionPort,
    found: FoundPacks,
    options: ReadOptions,
    check: (loaded: InspectedPack) => Promise<InspectedPack> = async (loaded) => loaded,
  ) {
    this.#check = check;
    this.#port = port;
    this.found = found;
    this.#options = options;
  }

  get manager(): PackageManager {
    this.#manager ??= managerIn(this.#port, this.found.workspace);
    return this.#manager;
  }

  /** The declarations of a pack by kind and qualified name, of which a server may need thousands one by one. */
  #open(found: FoundPack) {
    const { extension, pack } = found;
    const declarations = kinds.flatMap((kind) => extension[keyOfKind[kind]]);
    const declared = new Map(
      declarations.map((one) => [`${one.kind} ${pack.qualifiedName}/${one.name}`, one]),
    );
    const opened = { reader: new DefinitionReader(this.#port, found, this.#options), declared };
    this.#packs.set(found, opened);
    return opened;
  }

  lookUp(references: readonly string[], from: DiscoveredPack | "user"): Promise<void> {
    return lookUpReferences(this.#port, this.found, references, from);
  }

  /** Loads the definitions of some items of one kind, in the order of their qualified names. */
  async load(kind: Kind, qualifiedNames: readonly string[]): Promise<InspectedItem[]> {
    const keys = [...new Set(qualifiedNames)].map((name) => `${kind} ${name}`);
    const missing = keys.filter((key) => !this.#items.has(key));
    for (const found of missing.length === 0 ? [] : this.found.packs) {
      if (found.pack.shadowed) continue;
      const { reader, declared } = this.#packs.get(found) ?? this.#open(found);
      const only = missing.flatMap((key) => declared.get(key) ?? []);
      if (only.length === 0) continue;
      const loaded = await this.#check(await reader.load(only));
      this.problems.push(...loaded.problems);
      this.add(loaded);
    }
    return qualifiedNames.flatMap((name) => this.#items.get(`${kind} ${name}`) ?? []);
  }

  /** Adds definitions that were loaded elsewhere; their problems are not reported again. */
  add(loaded: InspectedPack): void {
    for (const item of loaded.items) this.#items.set(`${item.declaration.kind} ${item.qualifiedName}`, item);
  }
}
