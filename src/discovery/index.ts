export { discoverPacks } from "./discover-packs.ts";
export type { DiscoveryOptions } from "./find-packs.ts";
export type { DiscoveredItem, DiscoveredPack, Discovery, Origin } from "./types.ts";
