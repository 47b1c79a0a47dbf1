const programs = /(Firefox|Edg|OPR|HeadlessChrome|Chrome|Safari|curl)\/(\d+)/;
const systems: [RegExp, string][] = [
  [/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/Windows/, "Windows"], [/Mac OS X/, "macOS"], [/Linux/, "Linux"],
];
const names: Record<string, string> = { Edg: "Edge", OPR: "Opera", HeadlessChrome: "Chrome" };

/** A browser by the name that people know: of Safari and Chrome, too, each says that it is several. */
export function programOf(userAgent: string): string {
  const edge = /(Edg|OPR)\/(\d+)/.exec(userAgent);
  const found = edge ?? programs.exec(userAgent);
  if (!found) return userAgent.slice(0, 60);
  const [, name = "", version = ""] = found;
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  return `${names[name] ?? name} ${version}${system ? ` · ${system}` : ""}`;
}
