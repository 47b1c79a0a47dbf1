import { TextInput, type TextInputProps } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { closeKeyboard } from "./keyboard";

/** Where one writes what a list is searched for. */
export function FindBox({ label, value, change, ...box }: { label: string; value: string | undefined; change: (words: string | undefined) => void } & Pick<TextInputProps, "flex" | "miw">) {
  return (
    <TextInput
      aria-label={label} placeholder={label} leftSection={<IconSearch size={16} aria-hidden />} type="search" {...box}
      value={value ?? ""} onChange={({ currentTarget: { value } }) => change(value || undefined)}
      onKeyDown={({ key }) => void (key === "Enter" && closeKeyboard())}
    />
  );
}
