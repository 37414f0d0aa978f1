const mostReports = 100;

/** Passes messages on up to a limit, because a pack's timer can throw any number of times. */
export function limitReports(
  report: ((message: string) => void) | undefined,
): (createMessage: () => string) => void {
  let count = 0;
  return (createMessage) => {
    count++;
    if (report === undefined || count > mostReports) return;
    report(count === mostReports ? "Further errors of this kind are not reported." : createMessage());
  };
}

/** Calls a callback of the host; what it throws reaches neither the caller nor the tool. */
export function notifyHost(notify: () => void): void {
  try {
    notify();
  } catch {
    // The host's own error.
  }
}
