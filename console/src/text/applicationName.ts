import type { Text } from ".";

/** What an application is called in the person's language; one that no language knows has the name that the platform gives it. */
export function applicationName(text: Text, { code, name }: { code: string; name: string }): string {
  return text.app.applications[code as keyof Text["app"]["applications"]] ?? name;
}
