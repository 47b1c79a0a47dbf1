import type { Text } from ".";

/** What an event tells, in the person's language; one that no language knows is told as the platform tells it. */
export function meaningOf(text: Text, { type, description }: { type: string; description: string }): string {
  return text.events[type.replace(/^audit\./, "")] ?? description;
}
