import { findPacks } from "../discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";

/** The error for a pack that is not found because discovery cannot read what is installed in the project. */
export async function explainMissingPack(error: unknown, cwd: string): Promise<unknown> {
  if (!(error instanceof TrailblazeError) || error.code !== "PackNotInstalled") return error;
  const { problems } = await findPacks(createNodeDiscoveryPort(), { cwd });
  const layout = problems.find(({ code }) => code === "UnsupportedLayout");
  return layout === undefined ? error : new TrailblazeError(layout);
}
