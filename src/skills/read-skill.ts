import { createHash } from "node:crypto";
import { join } from "node:path";
import { type InspectionPort, maximumFileBytes } from "../files/inspection-port.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { formatCount } from "../problems/text.ts";
import type { FoundSkill } from "./find-skills.ts";
import { instructionsFile } from "./skill-folders.ts";

/** A file of a skill. */
export interface SkillFile {
  /** Relative to the skill's folder, with `/`. */
  path: string;
  size: number;
  /** `sha256-` and the base64 of the hash of its bytes. */
  digest: string;
}

/** A valid skill. Its texts are not trusted. */
export interface Skill extends FoundSkill {
  description: string;
  /** As JSON. */
  frontmatter: Readonly<Record<string, unknown>>;
  /** All of them, in the order of their paths. */
  files: readonly SkillFile[];
  /** Of SKILL.md. */
  text: string;
}

/** What clients accept; files of nested skills count. */
const limits = { files: 512, bytes: 16 << 20 } as const;

const hashBytes = (bytes: Uint8Array) => `sha256-${createHash("sha256").update(bytes).digest("base64")}`;

/** Why a skill is invalid. */
class SkillFault extends Error {
  readonly file: string;
  readonly hint: string | undefined;
  readonly line: number | undefined;

  constructor(file: string, reason: string, { hint, line }: { hint?: string; line?: number } = {}) {
    super(reason);
    this.file = file;
    this.hint = hint;
    this.line = line;
  }
}

function refuseSize(): never {
  const reason = `it has more than ${limits.files} files or ${formatCount(limits.bytes)} bytes`;
  throw new SkillFault(instructionsFile, reason, { hint: "Remove files that its instructions do not need." });
}

/** The paths of a skill's files, also of those in nested skills. */
function listFiles(port: InspectionPort, root: string): string[] {
  const paths: string[] = [];
  let folders = 0;
  const visit = (folder: string) => {
    folders += 1;
    const entries = port.listDirectory(join(root, folder));
    if (entries === undefined) throw new SkillFault(folder || instructionsFile, "its folder cannot be read");
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else paths.push(path);
      if (paths.length > limits.files || folders > limits.files) refuseSize();
    }
  };
  visit("");
  return paths.sort();
}

/** Reads a regular file that no link leads to. */
function readFile(
  port: InspectionPort,
  location: string,
  { folder }: FoundSkill,
  path: string,
  limit: number,
) {
  const file = `${folder}/${path}`;
  const read = port.readFile(location, file, limit);
  if (read.state === "tooLarge") {
    if (path !== instructionsFile) refuseSize();
    throw new SkillFault(path, `it has more than ${formatCount(limit)} bytes`);
  }
  if (read.state === "unusable") throw new SkillFault(path, read.reason);
  if (read.state === "absent") throw new SkillFault(path, "it does not exist");
  if (read.state === "outside" || read.realPath !== join(location, file))
    throw new SkillFault(path, "it is a link, or below one", {
      hint: "Replace the link with a copy: npm publishes no links.",
    });
  return read.bytes;
}

/** Checks what clients check, with the code that they have. */
async function readFrontmatter(name: string, text: Uint8Array, paths: readonly string[]) {
  const { skillEntry, SkillCatalogError } = await import("@modelcontextprotocol/server/ext/skills");
  const none = new Uint8Array();
  const files = Object.fromEntries(paths.map((path) => [path, path === instructionsFile ? text : none]));
  try {
    return (await skillEntry(name, files, { baseUri: "skill://skills" })).frontmatter;
  } catch (error) {
    const messages =
      error instanceof SkillCatalogError
        ? error.problems.map(({ message }) => message)
        : [`a name of a file cannot be written in a URI (${(error as Error).message})`];
    const [, line, reason] = /^SKILL\.md frontmatter: (?:line (\d+): )?(.*)$/s.exec(messages[0] ?? "") ?? [];
    throw new SkillFault(
      instructionsFile,
      reason ?? messages.join("; "),
      line === undefined ? {} : { line: Number(line) },
    );
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
    let text: Uint8Array | undefined;
    let total = 0;
    const files = listFiles(port, join(location, found.folder)).map((path): SkillFile => {
      const isInstructions = path === instructionsFile;
      const bytes = readFile(
        port,
        location,
        found,
        path,
        isInstructions ? maximumFileBytes : limits.bytes - total,
      );
      total += bytes.length;
      if (isInstructions) text = bytes;
      return { path, size: bytes.length, digest: hashBytes(bytes) };
    });
    if (text === undefined) throw new SkillFault(instructionsFile, "it does not exist");
    const frontmatter = await readFrontmatter(
      found.name,
      text,
      files.map(({ path }) => path),
    );
    const { description } = frontmatter;
    return { skill: { ...found, description, frontmatter, files, text: Buffer.from(text).toString() } };
  } catch (error) {
    if (!(error instanceof SkillFault)) throw error;
    const { file: path, message: reason, hint, line } = error;
    const file = `${found.folder}/${path}`;
    const place = {
      pack,
      kind: "skill",
      item: found.name,
      file,
      ...(line !== undefined && { line }),
    } as const;
    return { problem: createProblem("InvalidSkill", { reason, hint }, place, context) };
  }
}

/** The bytes of a file of a skill; `undefined` if they are not those that were read before, or are not there. */
export function readSkillFile(
  port: InspectionPort,
  location: string,
  skill: Skill,
  path: string,
): Uint8Array | undefined {
  const file = skill.files.find((one) => one.path === path);
  if (file === undefined) return undefined;
  try {
    const bytes = readFile(port, location, skill, path, file.size);
    return hashBytes(bytes) === file.digest ? bytes : undefined;
  } catch (error) {
    if (error instanceof SkillFault) return undefined;
    throw error;
  }
}
