const greetings = { en: "Hello", fr: "Bonjour", de: "Guten Tag" };

export function greet({ name, language = "en" }) {
  return `${greetings[language]}, ${name}!`;
}
