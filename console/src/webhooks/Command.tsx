import { Code, Group, Text } from "@mantine/core";
import { CopyText } from "../ui/CopyText";

/** A line for a shell, and what it does. */
export function Command({ what, line }: { what: string; line: string }) {
  return (
    <>
      <Text size="sm">{what}</Text>
      <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{line}</Code>
      <Group><CopyText value={line} /></Group>
    </>
  );
}
