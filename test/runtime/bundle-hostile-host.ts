// A process that is handed hostile calls of bundle entries and plain ones in turn. Prints how many were answered, and
// for how long at most nothing else could run, in milliseconds of its own work: other processes may be busy, too.

import { createCelEngine } from "../../src/expressions/cel-engine.ts";
import { compileBundle, runBundleEntry } from "../../src/runtime/bundle.ts";
import { describeReturned } from "../../src/runtime/returned-value.mjs";
import type { Outcome } from "../../src/runtime/tool-code.ts";

const inputs = [
  "${{ request.arguments.text.matches('^(a+)+$') || request.arguments.text.matches('^(a|aa)*(a*)*c') }}",
  "${{ request.arguments.text.matches(request.arguments.pattern) }}",
  "${{ request.arguments.list.all(x, request.arguments.list.all(y, x + y <= 18.0)) }}",
  "${{ 'fine' }}",
];
const { entries } = compileBundle(
  { entries: inputs.map((x, index) => ({ name: `e${index}`, handler: "h", inputs: { x } })) },
  { engine: createCelEngine() },
);

const request = {
  name: "e",
  arguments: {
    text: `${"a".repeat(1_000_000)}!`,
    pattern: "(a?){40}(a*)*b",
    list: Array.from({ length: 2000 }, (_, index) => index % 10),
  },
  meta: {},
  session: { id: "s", clientInfo: {}, capabilities: {} },
};
let longestPause = 0;
const worked = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let last = worked();
const timer = setInterval(() => {
  longestPause = Math.max(longestPause, worked() - last);
  last = worked();
}, 1);

const invoke = async (): Promise<Outcome> => ({ returned: describeReturned("answer") });
let answered = 0;
let errors = 0;
for (const entry of entries) {
  await new Promise((resolve) => setTimeout(resolve, 1));
  const outcome = await runBundleEntry(entry, request, invoke);
  if ("result" in outcome && outcome.result.isError !== true) answered++;
  else errors++;
}
clearInterval(timer);
process.stdout.write(JSON.stringify({ answered, errors, longestPause }));
