/** Resolves with the work, or after `limitMs` without it. Never rejects. Holds the process until then. */
export async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(limitMs, 2 ** 31 - 1));
  });
  await Promise.race([work.catch(() => {}), limit]);
  clearTimeout(timer);
}
