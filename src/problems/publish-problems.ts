import { entry } from "./entry.ts";
import { quote } from "./text.ts";

/** Problems of what is written from a pack: its documentation and its exports. */
export const publishProblems = {
  DocsMarkersMissing: entry<{ file: string; opening: number; closing: number }>({
    title: "File has no section for the documentation",
    severity: "error",
    message: ({ file, opening, closing }) => {
      const start = `Cannot write the documentation into ${quote(file, 400)}: `;
      if (opening === 0 && closing === 0) return `${start}it has no markers.`;
      if (opening === 1 && closing === 1) return `${start}the closing marker comes first.`;
      return `${start}it has the opening marker ${countTimes(opening)} and the closing one ${countTimes(closing)}.`;
    },
    hint: () =>
      "Add the lines `<!-- trailblaze:docs -->` and `<!-- /trailblaze:docs -->`, once each and in this order.",
  }),
};

const countTimes = (count: number): string =>
  count === 0 ? "not at all" : count === 1 ? "once" : `${count} times`;
