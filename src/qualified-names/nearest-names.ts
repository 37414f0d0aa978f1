import leven from "leven";

const maximumSuggestions = 3;

/** The candidates that a person may have meant by `name`, best first, at most three. */
export function findNearestNames(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  const tolerance = Math.max(2, Math.floor(wanted.length / 3));
  return [...new Set(candidates)]
    .map((candidate) => ({
      candidate,
      distance: leven(wanted, candidate.toLowerCase(), { maxDistance: tolerance + 1 }),
    }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, maximumSuggestions)
    .map(({ candidate }) => candidate);
}
