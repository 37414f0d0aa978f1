import { join, resolve } from "node:path";
import { buildCatalog } from "../../catalog/build-catalog.ts";
import { openInBrowser } from "../../catalog/open-in-browser.ts";
import { writeSite } from "../../catalog/write-site.ts";
import { failure, printable } from "../../problems/index.ts";
import { formatCount } from "../../problems/text.ts";
import { type CommandAnswer, type CommandInput, readNames } from "../command.ts";

/** Writes a static site of everything installed. Runs nothing of it. */
export async function run({ options, cwd }: CommandInput): Promise<CommandAnswer> {
  const out = typeof options.out === "string" ? options.out : "";
  if (out === "")
    throw failure("InvalidArguments", {
      reason: "`catalog` requires a folder",
      hint: "Run `trailblaze catalog --out site`.",
    });
  const folder = resolve(cwd, out);
  const built = await buildCatalog({
    cwd,
    title: typeof options.title === "string" && options.title.trim() !== "" ? options.title : undefined,
    builtIns: readNames(options["built-ins"]),
    dataOnly: options["data-only"] === true,
    requireConfinement: options["require-confinement"] === true,
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
