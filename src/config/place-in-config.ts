import type { Problem } from "../problems/index.ts";
import type { SessionConfig } from "./session-config.ts";

/** Problems whose path is from the config's top, with its file and their position there where it has one. */
export async function placeInConfig(
  problems: readonly Problem[],
  { text }: Pick<SessionConfig, "text">,
): Promise<Problem[]> {
  if (text === undefined || problems.length === 0) return [...problems];
  const locate = await text.createLocator();
  return problems.map((problem) => ({ ...problem, file: text.file, ...locate(problem.path ?? []) }));
}
