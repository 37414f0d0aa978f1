import { findPacks } from "../discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { isQualifiedName } from "../qualified-names/index.ts";

/** The error for a name that is not found because of how packages are installed; otherwise the same error. */
export async function explainLayout(error: unknown, cwd: string): Promise<unknown> {
  if (!(error instanceof TrailblazeError)) return error;
  const { code, args } = error.problem;
  const isItem = code === "PromptNotFound" || code === "ToolsetNotFound";
  if (!isItem && code !== "PackNotInstalled") return error;
  // A short name is not one of a pack.
  if (isItem && !isQualifiedName(String(args.name).replace(/^@/, ""))) return error;
  const { problems } = await findPacks(createNodeDiscoveryPort(), { cwd });
  const layout = problems.find((problem) => problem.code === "UnsupportedLayout");
  return layout === undefined ? error : new TrailblazeError({ ...layout, severity: "error" });
}
