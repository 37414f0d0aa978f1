import { type Kind, keyOfKind, kinds } from "../../kinds.ts";
import type { RemoteSearch } from "../../remote.ts";
import type { TextStyle } from "../command.ts";
import { formatTable } from "../layout.ts";

/** Counts the items of a pack by kind: `1 server, 3 tools`. */
export function countItems(pack: Readonly<Record<(typeof keyOfKind)[Kind], readonly unknown[]>>): string {
  const counts = kinds
    .map((kind) => ({ kind, count: pack[keyOfKind[kind]].length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${count === 1 ? kind : keyOfKind[kind]}`);
  return counts.join(", ") || "nothing";
}

export function formatRemotePacks({ packs }: RemoteSearch, style: TextStyle): string {
  if (packs.length === 0) return "No packs found.";
  const rows = packs.map((pack) => [
    pack.name,
    pack.version ?? "-",
    pack.installed ? "yes" : "no",
    countItems(pack),
    pack.description ?? "",
  ]);
  const headings = ["PACK", "VERSION", "INSTALLED", "PROVIDES", "DESCRIPTION"];
  return formatTable(headings, rows, style);
}
