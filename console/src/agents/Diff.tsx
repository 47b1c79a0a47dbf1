import { Text } from "@mantine/core";
import { useMemo } from "react";
import { useText } from "../text";
import { difference, type Line } from "./diff";

// Lines around a difference that are shown with it.
const around = 3;

/** Two texts beside each other: what is gone, what has come, and a few lines around. */
export function Diff({ label, before, after }: { label: string; before: string; after: string }) {
  const { text } = useText();
  const parts = useMemo(() => shortened(difference(before, after)), [before, after]);
  if (before === after) return <Text c="dimmed" size="sm">{text.agents.same}</Text>;
  return (
    <div className="diff" role="region" tabIndex={0} aria-label={label}>
      {parts.map((part, index) => {
        if (part === null) return <div key={index} className="left-out">…</div>;
        const Tag = part.sign === "-" ? "del" : part.sign === "+" ? "ins" : "span";
        return <Tag key={index} className="line"><span className="sign">{part.sign}</span>{part.text}</Tag>;
      })}
    </div>
  );
}

/** Leaves out what is alike and far from any difference; null stands for it. */
function shortened(lines: Line[]): (Line | null)[] {
  const near = lines.map((_, index) => lines.slice(Math.max(0, index - around), index + around + 1).some(({ sign }) => sign !== " "));
  return lines.flatMap((line, index) => (near[index] ? [line] : index === 0 || near[index - 1] ? [null] : []));
}
