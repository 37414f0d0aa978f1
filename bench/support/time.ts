/** Milliseconds of the work, without ending what it leaves behind. */
export async function time<Thing>(work: () => Promise<Thing>, end: (thing: Thing) => Promise<unknown>) {
  const begun = performance.now();
  const thing = await work();
  const elapsed = performance.now() - begun;
  await end(thing);
  return { time: elapsed };
}

/** Microseconds per call: sequentially, or `width` at a time. */
export async function timeCalls(call: () => Promise<unknown>, calls: number, width: number) {
  const begun = performance.now();
  const worker = async () => {
    for (let index = 0; index < calls / width; index++) await call();
  };
  await Promise.all(Array.from({ length: width }, worker));
  return { time: ((performance.now() - begun) * 1000) / calls };
}
