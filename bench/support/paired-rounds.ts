export interface BenchmarkOptions {
  rounds: number;
  /** Compare user and system time instead of wall time. */
  cpu: boolean;
}

/** The measurements of one run. */
export type Sample<Metric extends string> = Readonly<Record<Metric, number>>;
export type Contestants<Metric extends string> = Readonly<
  Record<string, () => Sample<Metric> | Promise<Sample<Metric>>>
>;

/** A median with the middle half of the values around it. */
export interface Spread {
  median: number;
  lower: number;
  upper: number;
}

/** The samples of each contestant, those of one round at one index. */
export type Rounds<Metric extends string> = ReadonlyMap<string, readonly Sample<Metric>[]>;

/** Runs all contestants in turn, `rounds` times; each round begins with another one. */
export async function runRounds<Metric extends string>(
  contestants: Contestants<Metric>,
  rounds: number,
): Promise<Rounds<Metric>> {
  const names = Object.keys(contestants);
  const samples = new Map<string, Sample<Metric>[]>(names.map((name) => [name, []]));
  for (const [name, isCounted] of takeTurns(names, rounds)) {
    const sample = await contestants[name]?.();
    if (sample !== undefined && isCounted) samples.get(name)?.push(sample);
  }
  return samples;
}

/** The order of runs; the first run of each warms the caches and is not counted. */
function* takeTurns(names: readonly string[], rounds: number): Generator<[name: string, isCounted: boolean]> {
  for (const name of names) yield [name, false];
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) yield [names[(round + turn) % names.length] ?? "", true];
  }
}

/** Compares two contestants round by round, which cancels noise that lasts longer than a round. */
export function compareRounds<Metric extends string>(
  rounds: Rounds<Metric>,
  name: string,
  base: string,
  metric: Metric,
): Spread {
  const bases = rounds.get(base) ?? [];
  const ratios = (rounds.get(name) ?? []).map(
    (sample, round) => sample[metric] / (bases[round]?.[metric] ?? 0),
  );
  return spreadOf(ratios);
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => {
    const position = share * (sorted.length - 1);
    const below = sorted[Math.floor(position)] ?? Number.NaN;
    const above = sorted[Math.ceil(position)] ?? Number.NaN;
    return below + (above - below) * (position % 1);
  };
  return { median: at(0.5), lower: at(0.25), upper: at(0.75) };
}
