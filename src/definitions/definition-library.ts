import type { FoundPack } from "../discovery/types.ts";
import type { Confinement } from "../io/evaluation-port.ts";
import type { InspectionPort } from "../io/inspection-port.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";
import { type LoadOptions, loadDefinitions } from "./load-definitions.ts";
import { placeInSources } from "./place-problems.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

/** Loads definitions of single items on demand, each once, however many places refer to it. */
export class DefinitionLibrary {
  readonly #port: InspectionPort;
  readonly #packs: readonly FoundPack[];
  readonly #options: LoadOptions;
  readonly #items = new Map<string, InspectedItem | undefined>();
  readonly #sources = new Map<InspectedItem, InspectedPack>();
  readonly problems: Problem[] = [];
  /** What the last evaluation of code was confined by; `data` as long as there was none. */
  confinement: Confinement = "data";

  constructor(port: InspectionPort, packs: readonly FoundPack[], options: LoadOptions) {
    this.#port = port;
    this.#packs = packs;
    this.#options = options;
  }

  /** The definitions of some items of one kind, by qualified name, in the order asked for. */
  async load(kind: Kind, qualifiedNames: readonly string[]): Promise<InspectedItem[]> {
    const keyOf = (name: string) => `${kind} ${name}`;
    const asked = new Set(qualifiedNames);
    for (const found of this.#packs) {
      const wanted = found.extension[keyOfKind[kind]].filter(({ name }) => {
        const qualifiedName = `${found.pack.qualifiedName}/${name}`;
        return asked.has(qualifiedName) && !this.#items.has(keyOf(qualifiedName));
      });
      if (wanted.length === 0 || found.pack.shadowed) continue;
      const loaded = await loadDefinitions(this.#port, found, { ...this.#options, only: wanted });
      for (const problem of loaded.problems) this.problems.push(problem);
      for (const item of loaded.items) this.#sources.set(item, loaded);
      if (loaded.confinement !== "data") this.confinement = loaded.confinement;
      for (const item of loaded.items) this.#items.set(keyOf(item.qualifiedName), item);
    }
    return qualifiedNames.flatMap((name) => this.#items.get(keyOf(name)) ?? []);
  }

  /** What the definition of an item, which `load` returned, was read with. */
  sourceOf(item: InspectedItem): InspectedPack | undefined {
    return this.#sources.get(item);
  }

  /** Adds problems found in an item's definition, which `load` returned, with their place. */
  async report(item: InspectedItem, problems: readonly Problem[]): Promise<void> {
    const owner = this.#sources.get(item);
    if (owner === undefined) return;
    const findings = problems.map((problem) => ({ item, problem }));
    for (const placed of await placeInSources(owner.pack.name, owner.texts, findings))
      this.problems.push(placed);
  }
}
