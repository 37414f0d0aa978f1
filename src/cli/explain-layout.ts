import { findPacks } from "../discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { isQualifiedName } from "../qualified-names/index.ts";

const isLayout = ({ code }: Problem) => code === "UnsupportedLayout";

/** The error for a name that is not found because of how packages are installed; otherwise the same error. */
export async function explainLayout(error: unknown, cwd: string): Promise<unknown> {
  if (!(error instanceof TrailblazeError)) return error;
  const { code, args } = error.problem;
  const isItem = code === "PromptNotFound" || code === "ToolsetNotFound";
  if (!isItem && code !== "PackNotInstalled") return error;
  const { packs, problems } = await findPacks(createNodeDiscoveryPort(), { cwd });
  const name = String(args.name).replace(/^@/, "");
  const owner = packs.find(({ pack }) =>
    kinds.some((kind) => pack[keyOfKind[kind]].some((item) => item.qualifiedName === name)),
  );
  // A short name is not one of a pack.
  const isOfPack = !isItem || isQualifiedName(name);
  const layout = owner?.pack.problems.find(isLayout) ?? (isOfPack ? problems.find(isLayout) : undefined);
  return layout === undefined ? error : new TrailblazeError({ ...layout, severity: "error" });
}

/** Throws `TrailblazeError` `UnsupportedLayout` for a pack in an archive, if it or one of its items is named. */
export function refuseArchived(names: readonly string[], problems: readonly Problem[]): void {
  const written = names.map((name) => `${name.replace(/^@/, "")}/`);
  const found = problems.find(
    (problem) =>
      isLayout(problem) && written.some((name) => name.startsWith(`${problem.pack?.replace(/^@/, "")}/`)),
  );
  if (found !== undefined) throw new TrailblazeError({ ...found, severity: "error" });
}
