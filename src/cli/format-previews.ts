import { needsKeys } from "../extension-schema/index.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { PackPreview } from "../npm/preview-packs.ts";
import { printable, shorten } from "../problems/index.ts";
import { wrap } from "./layout.ts";

/** Limit on the listed commands and problems. */
const maximumLines = 40;

/** Users do not read more names before they answer a prompt. */
const maximumNames = 40;

/** Names in one line, cut after the first forty. */
function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, maximumNames).join(", ");
  return names.length > maximumNames ? `${shown} and ${names.length - maximumNames} more` : shown;
}

function formatPreview(preview: PackPreview): string[] {
  const { pack, commands, lifecycleScripts, deprecated, warnings, serverBins = [] } = preview;
  const lines: string[] = [
    `${pack.name} ${pack.version ?? ""}`,
    `  ${pack.description ?? "(no description)"}`,
  ];
  for (const kind of kinds) {
    const names = pack[keyOfKind[kind]].map(({ name }) => name);
    if (names.length > 0) lines.push(`  ${keyOfKind[kind].padEnd(9)} ${formatNames(names)}`);
  }
  for (const { server, command } of commands.slice(0, maximumLines)) {
    if (command === null) continue;
    const what = command === undefined ? "defined in code (not run)" : command;
    lines.push(`  command   ${server}: ${what}`);
  }
  if (serverBins.length > 0) lines.push(`  commands  ${formatNames(serverBins)}`);
  for (const key of pack.needs === undefined ? [] : needsKeys) {
    const needed = pack.needs?.[key];
    const words = needed === undefined ? "not declared" : formatNames(needed) || "none";
    lines.push(`  needs     ${key}: ${words}`);
  }
  for (const { name, command } of lifecycleScripts) lines.push(`  not run   ${name}: ${command}`);
  if (deprecated !== undefined) lines.push(`  deprecated: ${deprecated}`);
  for (const { code, message } of pack.problems.slice(0, maximumLines)) lines.push(`  ${code}: ${message}`);
  for (const { code, message } of warnings) lines.push(`  warning ${code}: ${message}`);
  return lines.map((line) => printable(shorten(line)));
}

/** Describes what packs provide, for the prompt of `add`. */
export function formatPreviews(previews: readonly PackPreview[], width?: number): string {
  return previews
    .flatMap(formatPreview)
    .map((line) => wrap(line, width, 4))
    .join("\n");
}
