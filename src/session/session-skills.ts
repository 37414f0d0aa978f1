// The skills of a session: how they are shown, and what is in their files.
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { inspectionPort } from "../files/node-inspection-port.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { makeSafeName } from "../qualified-names/advertised-names.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { unknownName } from "../qualified-names/nearest-names.ts";
import { underPrefix } from "../runtime/apps.ts";
import type { ReadAnswer, ResourceContents } from "../runtime/tool-result.ts";
import { digestOf } from "../skills/read-skill.ts";
import { filesOf, hasFile, pathOf, rootOf, type SkillEntry } from "../skills/skill-entry.ts";
import type { SessionItem, SkillItem } from "./items.ts";
import { formatSource, fullNameOf } from "./names.ts";
import type { ServerSource } from "./server-source.ts";

/** A skill of a server, whose URIs begin with its label as in a prefix. */
export function describeServerSkill(from: ServerSource, entry: SkillEntry): SkillItem {
  const { label, pack, source } = from.plan;
  const { uri, frontmatter, resources } = entry;
  const { name, description } = frontmatter;
  const prefix = makeSafeName(pack === undefined ? label : pack.slice(pack.lastIndexOf("/") + 1));
  const rename = (own: string) => underPrefix(`skill://${prefix}/`, own);
  const renamed =
    resources === "dynamic"
      ? resources
      : resources.map(({ uri, digest, size }) => ({ uri: rename(uri), digest, size }));
  return {
    kind: "skill",
    shown: { name, qualifiedName: null, description, source, files: filesOf(entry) },
    listing: { uri: rename(uri), frontmatter, resources: renamed },
    route: { by: "server", from, id: uri },
  };
}

/** Leaves out all but the first of skills with one URI, and says so. */
export function selectFirst(items: readonly SessionItem[]): { items: SessionItem[]; problems: Problem[] } {
  const firsts = new Map<string, SkillItem>();
  const problems: Problem[] = [];
  const selected = items.filter((item) => {
    if (item.kind !== "skill") return true;
    const name = item.listing.uri;
    const first = firsts.get(name) ?? item;
    firsts.set(name, first);
    if (first === item) return true;
    const sources = [first, item].map(({ shown }) => formatSource(shown.source));
    problems.push(createProblem("NameCollision", { collisions: [{ name, sources }], kind: "skill" }));
    return false;
  });
  return { items: selected, problems };
}

/** The URI of a file of a skill, by its path. Throws `SkillNotFound`. */
export function findSkillFile(skill: SkillItem, path: string): string {
  const { listing, shown } = skill;
  const uris =
    listing.resources === "dynamic"
      ? // A lone surrogate cannot be encoded.
        [rootOf(listing) + encodeURI(Buffer.from(path).toString())]
      : listing.resources.map(({ uri }) => uri);
  const uri = uris.find((one) => hasFile(listing, one) && pathOf(listing, one) === path);
  if (uri !== undefined) return uri;
  const known = shown.files.map((file) => file.path);
  throw unknownName("SkillNotFound", path, known, { name: `${fullNameOf(skill)}/${path}` });
}

/** The bytes of a file of a pack; `undefined` for a link, for what is below one, and for what is larger. */
function readPackFile(root: string, path: string, size: number | undefined): Uint8Array | undefined {
  const read = inspectionPort.readFile(root, path, size);
  return read.state === "read" && read.realPath === join(root, path) ? read.bytes : undefined;
}

/** `answer`: of its server. Throws `NotApproved` for another content than its entry says. */
export function readSkill(
  skill: SkillItem,
  uri: string,
  answer?: { contents: readonly Partial<ResourceContents>[] },
): ReadAnswer {
  const { listing, route, shown } = skill;
  const path = pathOf(listing, uri);
  const isStatic = listing.resources !== "dynamic";
  const { text, blob = "" } = answer?.contents[0] ?? {};
  const file = shown.files.find((one) => one.path === path);
  const bytes =
    route.by === "code"
      ? readPackFile(route.owner.root, `${route.code.folder}/${path}`, file?.size)
      : Buffer.from(text ?? blob, text === undefined ? "base64" : "utf8");
  if (bytes === undefined || (isStatic && file?.digest !== digestOf(bytes))) {
    const name = fullNameOf(skill);
    const { pack, server = name } = shown.source;
    const entry = pack === undefined ? server : qualifyPackageName(pack);
    throw failure("NotApproved", { name, state: "changed", differences: [path], entry });
  }
  const type = /\.md$/i.test(path) ? { mimeType: "text/markdown" } : {};
  const content = Buffer.from(bytes);
  const shownAs = isUtf8(content) ? { text: content.toString() } : { blob: content.toString("base64") };
  return { contents: [{ uri, ...type, ...shownAs }], isStatic };
}
