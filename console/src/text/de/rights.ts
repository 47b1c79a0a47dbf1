import type { Text } from "../en";

export const rights: Text["rights"] = {
  "company.read": "Unternehmen sehen",
  "company.write": "Unternehmen ändern",
  "company.create": "Unternehmen anlegen",
  "billing.read": "Rechnungsdaten sehen",
  "billing.write": "Rechnungsdaten ändern",
  "user.read": "Personen sehen",
  "user.write": "Personen einladen und ändern",
  "permission.read": "Sehen, wer was darf",
  "permission.write": "Berechtigungen geben und nehmen",
  "context.read": "Dokumente suchen und lesen",
  "context.write": "Kontexte und Dokumente ändern",
  "agent.read": "Agenten und Läufe sehen",
  "agent.write": "Agenten ändern",
  "agent.run": "Agenten ausführen",
  "webhook.read": "Webhooks sehen",
  "webhook.write": "Webhooks ändern",
  "key.read": "API-Schlüssel sehen",
  "key.write": "API-Schlüssel anlegen und beenden",
  "audit.read": "Das Protokoll lesen",
};
