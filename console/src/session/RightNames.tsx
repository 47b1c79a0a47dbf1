import { Text } from "@mantine/core";
import { useText } from "../text";
import type { Right } from "./rights";

/** What a right allows, in words, with the name that programs know it by. */
export function RightName({ of: right }: { of: string }) {
  const { text } = useText();
  const name = text.rights[right as Right] as string | undefined;
  return <>{name && `${name} `}<Text span size="xs" c="dimmed" ff="monospace">{right}</Text></>;
}

/** Rights, one a line. */
export function RightNames({ of, label }: { of: readonly string[]; label?: string }) {
  return (
    <ul style={{ margin: 0, paddingInlineStart: "1.1rem", fontSize: "var(--mantine-font-size-sm)" }} {...(label ? { "aria-label": label } : {})}>
      {of.length === 0 ? <li>–</li> : of.map((right) => <li key={right}><RightName of={right} /></li>)}
    </ul>
  );
}
