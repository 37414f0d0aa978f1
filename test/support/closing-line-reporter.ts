import type { Reporter, TestModule } from "vitest/node";

/**
 * Prints `N passed, N failed` alone on a line when a run ends, for scripts that read the outcome. What was skipped, and
 * what passed only when it was tried again, stands above it.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const flaky: string[] = [];
    // A file that fails to load has no tests; it and errors outside any test count as failures all the same.
    counts.failed += unhandledErrors.length;
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== "pending") counts[state]++;
        if (test.diagnostic()?.flaky) flaky.push(`${module.relativeModuleId}: ${test.fullName}`);
      }
    }
    const notes = flaky.map((name) => `Passed when tried again: ${name}`);
    notes.push(`${counts.skipped} skipped`, `${counts.passed} passed, ${counts.failed} failed`);
    process.stdout.write(`\n${notes.join("\n")}\n`);
  }
}
