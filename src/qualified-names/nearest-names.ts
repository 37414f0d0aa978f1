import leven from "leven";

const maximumSuggestions = 3;

/** Limit on comparisons for all names of one task, such as the references of a pack. */
const maximumComparisons = 300_000;

/**
 * The remaining comparisons for suggestions. Once they are spent, missing names get no suggestions; it takes thousands
 * of missing names to spend them.
 */
export class SuggestionBudget {
  #comparisons: number;

  constructor(comparisons = maximumComparisons) {
    this.#comparisons = comparisons;
  }

  /** Whether one more name may be compared with this many candidates. */
  take(candidates: number): boolean {
    this.#comparisons -= candidates;
    return this.#comparisons >= 0;
  }
}

/** The candidates most similar to `name`, best first, at most three. */
export function findNearestNames(
  name: string,
  candidates: readonly string[],
  budget?: SuggestionBudget,
): string[] {
  if (budget?.take(candidates.length) === false) return [];
  const wanted = name.toLowerCase();
  const tolerance = Math.max(2, Math.floor(wanted.length / 3));
  const near = new Map<string, number>();
  for (const candidate of candidates) {
    const distance = leven(wanted, candidate.toLowerCase(), { maxDistance: tolerance + 1 });
    if (distance <= tolerance) near.set(candidate, distance);
  }
  return [...near]
    .sort(([one, near], [other, far]) => near - far || (one < other ? -1 : 1))
    .slice(0, maximumSuggestions)
    .map(([candidate]) => candidate);
}
