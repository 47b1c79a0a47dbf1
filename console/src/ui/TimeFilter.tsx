import { NativeSelect, type NativeSelectProps } from "@mantine/core";
import { useText } from "../text";
import { type Time, timeOf, times } from "./since";

/** How far back a list goes. */
export function TimeFilter({ value, change, ...box }: { value: Time | undefined; change: (time: Time | undefined) => void } & Pick<NativeSelectProps, "flex" | "maw">) {
  const { text } = useText();
  return (
    <NativeSelect
      aria-label={text.ui.time} value={value ?? ""} {...box}
      data={[{ value: "", label: text.ui.anyTime }, ...(Object.keys(times) as Time[]).map((value) => ({ value, label: text.ui.times[value] }))]}
      onChange={({ currentTarget: { value } }) => change(timeOf(value))}
    />
  );
}
