import type { Text } from "./en";

/** Numbers and times as the person's language writes them. */
export interface Format {
  /** The language, as the browser's own country writes it. */
  locale: string;
  number: (n: number) => string;
  bytes: (n: number) => string;
  exact: (at: string) => string;
  date: (at: string) => string;
  relative: (at: string) => string;
}

const spans: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3600], ["minute", 60],
];
const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

export function formatOf(language: string, text: Text): Format {
  const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
  const number = new Intl.NumberFormat(locale);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long" });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  return {
    locale,
    number: (n) => number.format(n),
    bytes: (n) => {
      const power = Math.min(byteUnits.length - 1, Math.floor(Math.log(Math.max(n, 1)) / Math.log(1000)));
      const options = { style: "unit", unit: byteUnits[power]!, maximumFractionDigits: power === 0 ? 0 : 1, unitDisplay: power === 0 ? "long" : "short" } as const;
      return new Intl.NumberFormat(locale, options).format(n / 1000 ** power);
    },
    exact: (at) => exact.format(new Date(at)),
    date: (at) => date.format(new Date(at)),
    relative: (at) => {
      const seconds = (new Date(at).getTime() - Date.now()) / 1000;
      const [unit, length] = spans.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 0];
      return length === 0 ? text.ui.justNow : relative.format(Math.round(seconds / length), unit);
    },
  };
}
