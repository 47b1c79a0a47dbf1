import type { Text } from "../en";

export const ui: Text["ui"] = {
  tryAgain: "Noch einmal versuchen",
  request: (id) => `Anfrage ${id}`,
  broken: "Die Konsole ist stehen geblieben",
  brokenHint: "In der Konsole ist etwas schiefgegangen. Nichts, was gespeichert ist, geht verloren.",
  reload: "Neu laden",
  never: "nie",
  justNow: "gerade eben",
  close: "Schließen",
  cancel: "Abbrechen",
  save: "Speichern",
  saved: "Gespeichert",
  edit: "Bearbeiten",
  copy: "Kopieren",
  copied: "Kopiert",
  loading: "Wird geladen …",
  optional: "freiwillig",
  noMatch: "Nichts passt",
  typeToConfirm: (name) => `Geben Sie „${name}“ ein, um fortzufahren`,
  yes: "Ja",
  no: "Nein",
  time: "Zeit",
  anyTime: "Jederzeit",
  times: { hour: "Letzte Stunde", day: "Letzte 24 Stunden", week: "Letzte 7 Tage" },
};

export const problems: Text["problems"] = {
  unreachable: "Die Plattform ist nicht erreichbar",
  unavailable: "Die Plattform ist gerade nicht verfügbar",
  rateLimited: (seconds) => (seconds ? `Zu viele Anfragen. In ${seconds} s geht es weiter.` : "Zu viele Anfragen. Gleich geht es weiter."),
  forbidden: "Das ist Ihnen nicht erlaubt",
  notFound: "Das gibt es hier nicht",
  unauthenticated: "Ihre Sitzung ist beendet",
  tooLarge: "Das ist zu groß",
  badRequest: "Das geht nicht",
  internal: "Auf der Plattform ist etwas schiefgegangen",
};
