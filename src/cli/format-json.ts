/** DEL, C1 controls, invisible and bidirectional characters: legal in JSON, but they act on a terminal. */
const actingCharacters =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** One JSON document that no terminal acts on. */
export function formatJson(document: unknown): string {
  return JSON.stringify(document, null, 2).replace(actingCharacters, escapeUnits);
}
