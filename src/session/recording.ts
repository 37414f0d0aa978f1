/** A call of a recording: the advertised name, and the arguments it was given. */
export type RecordedCall = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** As YAML that `trailblaze run` replays: a list, so that recordings can be appended to each other. */
export async function formatRecording(calls: readonly RecordedCall[]): Promise<string> {
  if (calls.length === 0) return "";
  const { stringify } = await import("yaml");
  return stringify(calls, { lineWidth: 0, aliasDuplicateObjects: false });
}
