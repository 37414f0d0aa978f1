import type { Reporter, TestModule } from "vitest/node";

/**
 * Prints `N passed, N failed` alone on a line when a run ends, for scripts that read the outcome. The number of skipped
 * tests is in the line above it.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    // A file that fails to load has no tests; it and errors outside any test count as failures all the same.
    counts.failed += unhandledErrors.length;
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== "pending") counts[state]++;
      }
    }
    const { passed, failed, skipped } = counts;
    process.stdout.write(`\n${skipped} skipped\n${passed} passed, ${failed} failed\n`);
  }
}
