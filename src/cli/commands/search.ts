import { searchPacks } from "../../remote.ts";
import { type CommandAnswer, type CommandInput, defineCommand, type TextStyle } from "../command.ts";
import { countItems, formatTable } from "../layout.ts";
import { remoteOptions } from "../options.ts";

export const command = defineCommand({
  summary: "Search the npm registry for packs",
  usage: "[text...]",
  options: remoteOptions,
  run: (input) => searchFor(input.positionals.join(" "), input),
});

export async function searchFor(
  text: string,
  { options, cwd }: CommandInput<typeof remoteOptions>,
): Promise<CommandAnswer> {
  const { refresh, offline } = options;
  const found = await searchPacks(text, { cwd, refresh, offline });
  const rows = found.packs.map((pack) => [
    pack.name,
    pack.version ?? "-",
    pack.installed ? "yes" : "no",
    countItems(pack),
    pack.description ?? "",
  ]);
  const headings = ["PACK", "VERSION", "INSTALLED", "PROVIDES", "DESCRIPTION"];
  const formatText = (style: TextStyle) =>
    rows.length === 0 ? "No packs found." : formatTable(headings, rows, style);
  return { json: found, formatText };
}
