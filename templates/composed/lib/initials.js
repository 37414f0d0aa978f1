export function initials({ name }) {
  const parts = name.split(/\s+/).filter((part) => part !== "");
  return parts.map((part) => part.charAt(0)).join("");
}
