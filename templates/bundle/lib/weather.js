const stations = new Map([
  ["Lisbon", { celsius: 21, sky: "sunny" }],
  ["Bergen", { celsius: 9, sky: "rain" }],
]);

export function currentWeather({ place }) {
  const weather = stations.get(place);
  if (weather === undefined) {
    throw Object.assign(new Error(`Unknown city "${place}".`), { code: "UNKNOWN_CITY" });
  }
  return { place, ...weather };
}
