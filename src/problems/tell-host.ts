/** What the host does when it is told something must not come back to us, nor to the tool that it was told of. */
export function tellHost(tell: () => void): void {
  try {
    tell();
  } catch {
    // Nothing here depends on it.
  }
}
