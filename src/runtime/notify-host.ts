/** Calls a callback of the host; what it throws reaches neither the caller nor the tool. */
export function notifyHost(notify: () => void): void {
  try {
    notify();
  } catch {
    // The host's own error.
  }
}
