import type { Kind } from "../../kinds.ts";
import { failure } from "../../problems/index.ts";
import { type RemoteSearch, searchPacks } from "../../remote.ts";
import { type CommandAnswer, type CommandInput, defineCommand, type TextStyle } from "../command.ts";
import { countItems, formatTable } from "../layout.ts";
import { remoteOptions } from "../options.ts";

export const command = defineCommand({
  summary: "Search the npm registry for packs",
  usage: "[text...]",
  options: remoteOptions,
  run,
});

/** Answers `list --remote`. */
export function listRemote(
  kind: Kind | undefined,
  input: CommandInput<typeof remoteOptions>,
): Promise<CommandAnswer> {
  if (kind !== undefined)
    throw failure("InvalidArguments", { reason: "--remote lists only packs", hint: "Omit the kind." });
  return searchFor("", input);
}

async function searchFor(
  text: string,
  { options, cwd }: CommandInput<typeof remoteOptions>,
): Promise<CommandAnswer> {
  const { refresh, offline } = options;
  const found = await searchPacks(text, { cwd, refresh, offline });
  const { problems } = found;
  return { json: found, formatText: (style) => formatRemotePacks(found, style), problems };
}

async function run(input: CommandInput<typeof remoteOptions>): Promise<CommandAnswer> {
  return await searchFor(input.positionals.join(" "), input);
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
