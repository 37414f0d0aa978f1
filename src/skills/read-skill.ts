import { createHash } from "node:crypto";
import { join } from "node:path";
import { type InspectionPort, maximumFileBytes } from "../files/inspection-port.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { FoundSkill } from "./find-skills.ts";
import { filesOf, type SkillEntry, type SkillFile, skillLimits } from "./skill-entry.ts";
import { instructionsFile } from "./skill-folders.ts";

/** A valid skill. Its texts are not trusted. */
export interface Skill extends FoundSkill {
  description: string;
  /** What clients are listed, with the front matter as JSON. */
  entry: SkillEntry;
  /** All of them, in the order of their URIs. */
  files: readonly SkillFile[];
  /** Of SKILL.md. */
  text: string;
}

/** Why a skill is invalid. `file` is below its folder. */
export class SkillFault extends Error {
  readonly place: { file?: string; hint?: string; line?: number };

  constructor(reason: string, place: SkillFault["place"] = {}) {
    super(reason);
    this.place = place;
  }
}

const refuseSize = () =>
  new SkillFault("it has more than 512 files or 16 MiB, or its SKILL.md has more than 1 MiB", {
    hint: "Remove what its instructions do not need.",
  });

const isHidden = (path: string) => /(?:^|\/)\.[^/]*$/.test(path);

/**
 * The bytes of the files of a skill by their paths, also of those in nested skills. `location` is a real path. Throws `SkillFault`
 * for links, what cannot be read, and more than clients take.
 */
export function readSkillFiles(
  port: InspectionPort,
  location: string,
  folder: string,
  isPassedOver: (path: string) => boolean = isHidden,
): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let [bytes, folders] = [0, 0];
  const readFile = (path: string): Uint8Array => {
    const limit = path === instructionsFile ? maximumFileBytes : skillLimits.bytes - bytes;
    const read = port.readFile(location, `${folder}/${path}`, limit);
    if (read.state === "tooLarge") throw refuseSize();
    if (read.state === "unusable") throw new SkillFault(read.reason, { file: path });
    if (read.state === "read" && read.realPath === join(location, folder, path)) return read.bytes;
    const hint = "Replace the link with a copy: npm publishes no links.";
    throw new SkillFault("it is a link, below one, or does not exist", { file: path, hint });
  };
  const visit = (parent: string) => {
    folders += 1;
    const entries = port.listDirectory(join(location, folder, parent));
    if (entries === undefined) throw new SkillFault("its folder cannot be read", { file: parent });
    for (const entry of entries) {
      const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
      if (isPassedOver(path)) continue;
      if (files.size === skillLimits.files || folders > skillLimits.files) throw refuseSize();
      if (entry.isDirectory()) visit(path);
      else {
        const content = readFile(path);
        bytes += content.length;
        files.set(path, content);
      }
    }
  };
  visit("");
  return files;
}

/** A digest as the lock has it. */
export const digestOf = (bytes: Uint8Array): string =>
  `sha256-${createHash("sha256").update(bytes).digest("base64")}`;

/** Checks what clients check, with the code that they have. */
async function createEntry(pack: string, path: string, files: ReadonlyMap<string, Uint8Array>) {
  const { skillEntry, SkillCatalogError } = await import("@modelcontextprotocol/server/ext/skills");
  const baseUri = `skill://${qualifyPackageName(pack).split("/").map(encodeURIComponent).join("/")}`;
  try {
    return await skillEntry(path, Object.fromEntries(files), { baseUri });
  } catch (error) {
    const message =
      error instanceof SkillCatalogError
        ? error.problems.map((problem) => problem.message).join("; ")
        : `a name of a file cannot be written in a URI (${(error as Error).message})`;
    const [, line, reason] = /^SKILL\.md frontmatter: (?:line (\d+): )?(.*)$/s.exec(message) ?? [];
    throw new SkillFault(reason ?? message, line === undefined ? {} : { line: Number(line) });
  }
}

/**
 * Reads a skill: all of its files, of which only SKILL.md is kept. `location` is a real path. Whatever clients would refuse is the
 * problem `InvalidSkill`. Trust level: inspection.
 */
export async function readSkill(
  port: InspectionPort,
  { location, name: pack }: { location: string; name: string },
  found: FoundSkill,
  context: ProblemContext = "operation",
): Promise<{ skill: Skill } | { problem: Problem }> {
  try {
    const files = readSkillFiles(port, location, found.folder);
    const entry = await createEntry(pack, found.path, files);
    const text = Buffer.from(files.get(instructionsFile) ?? []).toString();
    const { description } = entry.frontmatter;
    return { skill: { ...found, description, entry, files: filesOf(entry), text } };
  } catch (error) {
    if (!(error instanceof SkillFault)) throw error;
    const { file: path, hint, ...line } = error.place;
    const file = `${found.folder}/${path || instructionsFile}`;
    const place = { pack, kind: "skill", item: found.name, file, ...line } as const;
    return { problem: createProblem("InvalidSkill", { reason: error.message, hint }, place, context) };
  }
}
