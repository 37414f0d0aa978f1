import type { Confinement } from "../confinement/evaluation-port.ts";
import type { FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/index.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";
import { type LoadOptions, loadDefinitions } from "./load-definitions.ts";
import { placeInItems } from "./place-problems.ts";
import { ReadOnce } from "./read-once.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

interface IndexedDeclaration {
  found: FoundPack;
  declaration: Declaration;
  /** Index among the declarations of its kind. */
  index: number;
}

/** Loads definitions of single items on demand, each once. */
export class DefinitionLibrary {
  readonly #port: InspectionPort;
  readonly #packs: readonly FoundPack[];
  readonly #options: LoadOptions;
  readonly #items = new Map<string, InspectedItem | undefined>();
  readonly #sources = new Map<InspectedItem, InspectedPack>();
  readonly #declared = new Map<Kind, ReadonlyMap<string, readonly IndexedDeclaration[]>>();
  readonly #approve: (loaded: InspectedPack) => InspectedPack;
  readonly problems: Problem[] = [];
  /** The confinement of the last evaluation; `data` if no code was evaluated. */
  confinement: Confinement = "data";

  /** `approve` may replace the items of a pack before they are used. */
  constructor(
    port: InspectionPort,
    packs: readonly FoundPack[],
    options: LoadOptions,
    approve: (loaded: InspectedPack) => InspectedPack = (loaded) => loaded,
  ) {
    this.#approve = approve;
    this.#port = port;
    this.#packs = packs;
    this.#options = { ...options, once: new ReadOnce() };
  }

  /** Loads the definitions of some items of one kind, in the order of their qualified names. */
  async load(kind: Kind, qualifiedNames: readonly string[]): Promise<InspectedItem[]> {
    const keyOf = (name: string) => `${kind} ${name}`;
    const declared = this.#indexOf(kind);
    const wanted = new Map<FoundPack, Map<number, Declaration>>();
    for (const name of qualifiedNames) {
      if (this.#items.has(keyOf(name))) continue;
      for (const { found, declaration, index } of declared.get(name) ?? []) {
        if (!wanted.has(found)) wanted.set(found, new Map());
        wanted.get(found)?.set(index, declaration);
      }
    }
    const inOrder = wanted.size > 1 ? this.#packs.filter((found) => wanted.has(found)) : wanted.keys();
    for (const found of inOrder) {
      const byIndex = [...(wanted.get(found) ?? [])].sort(([one], [other]) => one - other);
      const only = byIndex.map(([, declaration]) => declaration);
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

  /** The declarations of a kind by qualified name. */
  #indexOf(kind: Kind): ReadonlyMap<string, readonly IndexedDeclaration[]> {
    const known = this.#declared.get(kind);
    if (known !== undefined) return known;
    const index = new Map<string, IndexedDeclaration[]>();
    for (const found of this.#packs) {
      if (found.pack.shadowed) continue;
      for (const [position, declaration] of found.extension[keyOfKind[kind]].entries()) {
        const name = `${found.pack.qualifiedName}/${declaration.name}`;
        const one = { found, declaration, index: position };
        if (index.has(name)) index.get(name)?.push(one);
        else index.set(name, [one]);
      }
    }
    this.#declared.set(kind, index);
    return index;
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
