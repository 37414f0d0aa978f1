import { type RemoteSearch, searchPacks } from "../../remote.ts";
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
  return { json: found, formatText: (style) => formatRemotePacks(found, style) };
}

function formatRemotePacks({ packs }: RemoteSearch, style: TextStyle): string {
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
