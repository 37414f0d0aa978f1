import { findReferrers } from "../../inspection/find-referrers.ts";
import type { PackInspection } from "../../inspection/inspect.ts";
import { inspectSubject } from "../../inspection/inspect.ts";
import { createInspectionPorts } from "../../inspection/inspection-ports.ts";
import { keyOfKind, kinds } from "../../kinds.ts";
import { printable } from "../../problems/text.ts";
import { readKind } from "../../qualified-names/index.ts";
import type { CommandAnswer, CommandInput, TextStyle } from "../command.ts";
import { readNames } from "../command.ts";
import { formatItemPage } from "../format-item-page.ts";
import { abbreviateHome, formatTable, shortenForPeople, wrap } from "../layout.ts";

function formatPack(pack: PackInspection, style: TextStyle): string {
  const lines = [
    `${pack.name} ${pack.version ?? ""}`.trimEnd(),
    ...(pack.description === null ? [] : [pack.description]),
    `${pack.origin} in ${abbreviateHome(pack.location)}`,
  ].map((line) => wrap(printable(shortenForPeople(line)), style.width));
  const rows = kinds.flatMap((kind) =>
    pack[keyOfKind[kind]].map((item) => [
      kind,
      item.qualifiedName,
      item.file ?? "(no definition)",
      item.description ?? "",
    ]),
  );
  if (rows.length > 0)
    lines.push("", formatTable(["KIND", "NAME", "DEFINITION", "DESCRIPTION"], rows, style));
  return lines.join("\n");
}

export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [subject = ""] = positionals;
  const kind = readKind(typeof options.kind === "string" ? options.kind : undefined);
  const inspected = await inspectSubject(subject, {
    cwd,
    kind,
    builtIns: readNames(options["built-ins"]),
    dataOnly: options["data-only"] === true,
    requireConfinement: options["require-confinement"] === true,
  });
  if ("pack" in inspected) {
    const { pack } = inspected;
    return { json: pack, formatText: (style) => formatPack(pack, style), problems: pack.problems };
  }
  const { item, found, readMembers } = inspected;
  // Finding referrers reads the definitions of every pack, and JSON does not include them.
  const referrers = options.json ? [] : await findReferrers(createInspectionPorts(), found, item);
  const members = options.json ? undefined : await readMembers();
  return {
    json: item,
    formatText: (style) => formatItemPage(item, { referrers, members }, style),
    problems: item.problems,
  };
}
