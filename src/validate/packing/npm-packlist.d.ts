/** The parts of npm-packlist 10 that are used here; it ships no types. */
declare module "npm-packlist" {
  import type { EventEmitter } from "node:events";

  /** The part of arborist's tree that it reads. */
  export interface PackingTree {
    path: string;
    package: Record<string, unknown>;
    isProjectRoot: true;
    edgesOut: Map<string, never>;
  }

  class Walker extends EventEmitter {
    /** Absolute, with `/`. */
    readonly path: string;
    readonly root: string;
    readonly tree: PackingTree;
    constructor(tree: PackingTree, options: Record<string, unknown>);
    ignoreRules: Record<string, unknown[] | null>;
    start(): this;
    sort(a: string, b: string): number;
    onReaddir(entries: string[]): void;
    isIgnoreFile(name: string): boolean;
    addIgnoreFile(file: string, done: () => void): void;
    onReadIgnoreFile(file: string, text: string, done: () => void): void;
    walkerOpt(entry: string, options: object): Record<string, unknown>;
    walker(entry: string, options: object, done: () => void): void;
  }

  const packlist: { Walker: typeof Walker };
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default packlist;
}
