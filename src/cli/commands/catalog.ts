import { join, resolve } from "node:path";
import { buildCatalog } from "../../catalog/build-catalog.ts";
import { openInBrowser } from "../../catalog/open-in-browser.ts";
import { writeSite } from "../../catalog/write-site.ts";
import { failure, printable } from "../../problems/index.ts";
import { formatCount } from "../../problems/text.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { inspectionOptions, readInspectionOptions } from "../inspection-options.ts";
import { flag, text, textOf } from "../options.ts";

export const command: Command = {
  summary: "Write a static site of the installed packs, without running them",
  usage: "",
  options: {
    out: text("DIR", "Write to this folder (required)"),
    title: text("TEXT", "Title of the site"),
    open: flag("Open the site in the browser"),
    ...inspectionOptions,
  },
  run,
};

/** Writes a static site of everything installed. Runs nothing of it. */
async function run(input: CommandInput): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const out = textOf(options.out) ?? "";
  const title = textOf(options.title);
  if (out === "")
    throw failure("InvalidArguments", {
      reason: "`catalog` requires a folder",
      hint: "Run `trailblaze catalog --out site`.",
    });
  const folder = resolve(cwd, out);
  const built = await buildCatalog({
    ...readInspectionOptions(input),
    title: title?.trim() === "" ? undefined : title,
  });
  const files = writeSite(folder, built.files);
  const written = files.filter((file) => file.changed).length;
  const changed = written > 0;
  const index = join(folder, "index.html");
  const isOpened = options.open === true ? await openInBrowser(index) : undefined;
  const { packs, problems } = built;
  const formatText = () => {
    const count = `${formatCount(packs)} pack${packs === 1 ? "" : "s"}`;
    const isNew = changed ? "now shows" : "already shows";
    const lines = [`${join(out, "index.html")} ${isNew} ${count}`];
    if (changed) lines.push(`${written} file${written === 1 ? "" : "s"} written`);
    if (isOpened === false) lines.push("No program opened it. Open the file in a browser.");
    return lines.map(printable).join("\n");
  };
  return {
    json: {
      folder,
      index,
      changed,
      files,
      packs,
      opened: isOpened,
      problems,
    },
    formatText,
    problems,
  };
}
