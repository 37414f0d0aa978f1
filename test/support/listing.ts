import type { DiscoveredPack } from "../../src/index.ts";

const kinds = ["servers", "tools", "toolsets", "prompts", "resources", "skills"] as const;

/** A pack on one line: name, version, origin, what is special about it, and its items by kind. */
function describePack(pack: DiscoveredPack): string {
  const { name, version, origin, enabled, shadowed } = pack;
  const head = [
    `${name}@${version}`,
    origin,
    enabled === "onDemand"
      ? "on demand"
      : enabled === "approval"
        ? enabled
        : enabled
          ? "enabled"
          : "disabled",
    ...(shadowed ? ["shadowed"] : []),
  ];
  const items = kinds
    .filter((kind) => pack[kind].length > 0)
    .map((kind) => `${kind}: ${pack[kind].map((item) => item.name).join(", ")}`);
  return [head.join(" "), ...items].join(" | ");
}

/** What discovery found, in its order, without the places on this machine. */
export const describePacks = (packs: readonly DiscoveredPack[]): string[] => packs.map(describePack);

/** The same without items, for tests that are about something else. */
export const describeOrigins = (packs: readonly DiscoveredPack[]): string[] =>
  packs.map((pack) => describePack(pack).split(" | ")[0] ?? "");
