import { createHash } from "node:crypto";
import { join } from "node:path";
import { type InspectionPort, maximumFileBytes } from "../files/inspection-port.ts";
import { failure } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { FoundSkill } from "./find-skills.ts";
import { filesOf, type SkillEntry, type SkillFile, skillLimits } from "./skill-entry.ts";
import { instructionsFile } from "./skill-folders.ts";

/** A valid skill. Its texts are not trusted. */
export interface Skill extends FoundSkill {
  /** What clients are listed, with the front matter as JSON. */
  entry: SkillEntry;
  /** All of them, in the order of their URIs. */
  files: readonly SkillFile[];
  /** Of SKILL.md. */
  text: string;
}

const refuse = (reason: string, file: string, hint?: string, line?: number) =>
  failure("InvalidSkill", { reason, hint }, { file, line });

/**
 * The bytes of the files of a skill by their paths, also of those in nested skills, but for hidden ones. `location` is a real path. Throws
 * `InvalidSkill` for links, what cannot be read, and more than clients take.
 */
export function readSkillFiles(
  port: InspectionPort,
  location: string,
  folder: string,
  isPassedOver = (path: string) => /(?:^|\/)\.[^/]*$/.test(path),
): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let [bytes, folders] = [0, 0];
  const refuseSize = () => {
    const reason = "it has more than 512 files or 16 MiB, or its SKILL.md has more than 1 MiB";
    return refuse(reason, `${folder}/${instructionsFile}`, "Remove what its instructions do not need.");
  };
  const visit = (parent: string) => {
    folders += 1;
    const entries = port.listDirectory(join(location, folder, parent));
    if (entries === undefined)
      throw refuse("its folder cannot be read", `${folder}/${parent || instructionsFile}`);
    for (const entry of entries) {
      const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
      if (isPassedOver(path)) continue;
      if (files.size === skillLimits.files || folders > skillLimits.files) throw refuseSize();
      if (entry.isDirectory()) {
        visit(path);
        continue;
      }
      const file = `${folder}/${path}`;
      const limit = path === instructionsFile ? maximumFileBytes : skillLimits.bytes - bytes;
      const read = port.readFile(location, file, limit);
      if (read.state === "tooLarge") throw refuseSize();
      if (read.state === "unusable") throw refuse(read.reason, file);
      const hint = "Replace the link with a copy: npm publishes no links.";
      if (read.state !== "read" || read.realPath !== join(location, file))
        throw refuse("it is a link, below one, or does not exist", file, hint);
      bytes += read.bytes.length;
      files.set(path, read.bytes);
    }
  };
  visit("");
  return files;
}

export const digestOf = (bytes: Uint8Array): string =>
  `sha256-${createHash("sha256").update(bytes).digest("base64")}`;

/**
 * Reads a skill: all of its files, of which only SKILL.md is kept. `location` is a real path. Throws `InvalidSkill` for whatever
 * clients would refuse, which is checked with the code that they have. Trust level: inspection.
 */
export async function readSkill(
  port: InspectionPort,
  { location, name: pack }: { location: string; name: string },
  found: FoundSkill,
): Promise<Skill> {
  const files = readSkillFiles(port, location, found.folder);
  const { skillEntry, SkillCatalogError } = await import("@modelcontextprotocol/server/ext/skills");
  const baseUri = `skill://${qualifyPackageName(pack).split("/").map(encodeURIComponent).join("/")}`;
  try {
    const entry = await skillEntry(found.path, Object.fromEntries(files), { baseUri });
    const text = Buffer.from(files.get(instructionsFile) ?? []).toString();
    return { ...found, entry, files: filesOf(entry), text };
  } catch (error) {
    const message =
      error instanceof SkillCatalogError
        ? error.problems.map((problem) => problem.message).join("; ")
        : `a name of a file cannot be written in a URI (${(error as Error).message})`;
    const [, line, reason] = /^SKILL\.md frontmatter: (?:line (\d+): )?(.*)$/s.exec(message) ?? [];
    const file = `${found.folder}/${instructionsFile}`;
    throw refuse(reason ?? message, file, undefined, line === undefined ? undefined : Number(line));
  }
}
