import { keyOfKind, kinds } from "../../kinds.ts";
import type { RemotePack, RemoteSearch } from "../../remote.ts";
import type { TextStyle } from "../command.ts";
import { formatTable } from "../format-table.ts";

/** How many items a pack brings, by kind, as `1 server, 3 tools`. */
export function countItems(pack: Pick<RemotePack, "servers" | "tools" | "toolsets" | "prompts">): string {
  const counts = kinds
    .map((kind) => ({ kind, count: pack[keyOfKind[kind]].length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${count === 1 ? kind : keyOfKind[kind]}`);
  return counts.join(", ") || "nothing";
}

/** Packs of registries as a table. */
export function formatRemotePacks({ packs }: RemoteSearch, style: TextStyle): string {
  if (packs.length === 0) return "No packs were found in the registry.";
  const rows = packs.map((pack) => [
    pack.name,
    pack.version ?? "-",
    pack.installed ? "yes" : "no",
    countItems(pack),
    pack.description ?? "",
  ]);
  return formatTable(["PACK", "VERSION", "INSTALLED", "BRINGS", "DESCRIPTION"], rows, style);
}
