import leven from "leven";
import { failure, type ProblemArguments, type TrailblazeError } from "../problems/index.ts";

const maximumSuggestions = 3;

/** A pack may have tens of thousands of items, and as many names that are missing. */
const maximumCandidates = 1000;

/** The most similar ones to `name` of the first thousand candidates, best first, at most three. */
export function findNearestNames(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  const tolerance = Math.max(2, Math.floor(wanted.length / 3));
  const near = new Map<string, number>();
  for (const candidate of candidates.slice(0, maximumCandidates)) {
    const distance = leven(wanted, candidate.toLowerCase(), { maxDistance: tolerance + 1 });
    if (distance <= tolerance) near.set(candidate, distance);
  }
  return [...near]
    .sort(([one, near], [other, far]) => near - far || (one < other ? -1 : 1))
    .slice(0, maximumSuggestions)
    .map(([candidate]) => candidate);
}

/** The error of a name that is not known, with similar names. `more`: what else it says. */
export const unknownName = (
  code: "ServerNotFound" | "ToolNotFound" | "ToolsetNotFound" | "SkillNotFound",
  name: string,
  known: readonly string[],
  more: Partial<ProblemArguments["ServerNotFound"]> = {},
): TrailblazeError => failure(code, { name, nearest: findNearestNames(name, known), ...more });
