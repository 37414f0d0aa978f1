const mostReports = 100;

/** Passes messages on, up to a number: a pack's timer can throw for ever. */
export function limitReports(
  report: ((message: string) => void) | undefined,
): (createMessage: () => string) => void {
  let count = 0;
  return (createMessage) => {
    count++;
    if (report === undefined || count > mostReports) return;
    report(
      count === mostReports ? "There are more errors of this kind, which are not told." : createMessage(),
    );
  };
}

/** What the host does when it is told something must not come back to us, nor to the tool that it was told of. */
export function notifyHost(tell: () => void): void {
  try {
    tell();
  } catch {
    // Nothing here depends on it.
  }
}
