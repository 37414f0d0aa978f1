import type { Confinement } from "../confinement/evaluate.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/index.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import type { PackageManager, Problem } from "../problems/index.ts";
import { type LoadOptions, loadDefinitions } from "./load-definitions.ts";
import { placeInItems } from "./place-problems.ts";
import { ReadOnce } from "./read-once.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

interface IndexedDeclaration {
  declaration: Declaration;
  /** Index among the declarations of its kind. */
  index: number;
}

/** Loads definitions of single items on demand, each once. */
export class DefinitionLibrary {
  readonly found: FoundPacks;
  readonly problems: Problem[] = [];
  /** The confinement of the last evaluation; `data` if no code was evaluated. */
  confinement: Confinement = "data";
  readonly #port: InspectionPort;
  readonly #options: LoadOptions;
  readonly #items = new Map<string, InspectedItem | undefined>();
  readonly #sources = new Map<InspectedItem, InspectedPack>();
  readonly #declared = new Map<FoundPack, Map<Kind, ReadonlyMap<string, readonly IndexedDeclaration[]>>>();
  #manager: PackageManager | undefined;
  readonly #approve: (loaded: InspectedPack) => InspectedPack;

  /** `approve` may replace the items of a pack before they are used. */
  constructor(
    port: InspectionPort,
    found: FoundPacks,
    options: LoadOptions,
    approve: (loaded: InspectedPack) => InspectedPack = (loaded) => loaded,
  ) {
    this.#approve = approve;
    this.#port = port;
    this.found = found;
    this.#options = { ...options, once: new ReadOnce() };
  }

  /** The package manager for commands in hints. */
  get manager(): PackageManager {
    this.#manager ??= managerIn(this.#port, this.found);
    return this.#manager;
  }

  /** The declarations of a kind by qualified name, of which a server may need thousands one by one. */
  #indexOf(found: FoundPack, kind: Kind): ReadonlyMap<string, readonly IndexedDeclaration[]> {
    const ofPack =
      this.#declared.get(found) ?? new Map<Kind, ReadonlyMap<string, readonly IndexedDeclaration[]>>();
    this.#declared.set(found, ofPack);
    const known = ofPack.get(kind);
    if (known !== undefined) return known;
    const index = new Map<string, IndexedDeclaration[]>();
    for (const [position, declaration] of found.extension[keyOfKind[kind]].entries()) {
      const name = `${found.pack.qualifiedName}/${declaration.name}`;
      index.set(name, [...(index.get(name) ?? []), { declaration, index: position }]);
    }
    ofPack.set(kind, index);
    return index;
  }

  /** Looks for the packs that references name and that were not read. */
  lookUp(references: readonly string[], from: DiscoveredPack | "user"): Promise<void> {
    return lookUpReferences(this.#port, this.found, references, from);
  }

  /** Loads the definitions of some items of one kind, in the order of their qualified names. */
  async load(kind: Kind, qualifiedNames: readonly string[]): Promise<InspectedItem[]> {
    const keyOf = (name: string) => `${kind} ${name}`;
    const missing = new Set(qualifiedNames.filter((name) => !this.#items.has(keyOf(name))));
    const packNames = new Set([...missing].map((name) => name.slice(0, name.lastIndexOf("/"))));
    for (const found of this.found.packs) {
      const { qualifiedName, shadowed } = found.pack;
      if (shadowed || !packNames.has(qualifiedName)) continue;
      const declared = this.#indexOf(found, kind);
      const only = [...missing]
        .flatMap((name) => declared.get(name) ?? [])
        .sort((one, other) => one.index - other.index)
        .map(({ declaration }) => declaration);
      if (only.length === 0) continue;
      const loaded = this.#approve(await loadDefinitions(this.#port, found, { ...this.#options, only }));
      for (const problem of loaded.problems) this.problems.push(problem);
      if (loaded.confinement !== "data") this.confinement = loaded.confinement;
      this.add(loaded);
    }
    return qualifiedNames.flatMap((name) => this.#items.get(keyOf(name)) ?? []);
  }

  /** Adds definitions that were loaded elsewhere; their problems are not reported again. */
  add(loaded: InspectedPack): void {
    for (const item of loaded.items) {
      this.#sources.set(item, loaded);
      this.#items.set(`${item.declaration.kind} ${item.qualifiedName}`, item);
    }
  }

  /** The inspected pack of an item that `load` returned. */
  sourceOf(item: InspectedItem): InspectedPack | undefined {
    return this.#sources.get(item);
  }

  /** Adds problems in the definition of an item that `load` returned, with their place. */
  async report(item: InspectedItem, problems: readonly Problem[]): Promise<void> {
    const owner = this.#sources.get(item);
    if (owner === undefined) return;
    const findings = problems.map((problem) => ({ item, problem }));
    for (const placed of await placeInItems(owner, findings)) this.problems.push(placed);
  }
}
