import { ActionIcon, Group, Text, TextInput } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { type FormEvent, useId, useState } from "react";
import { useText } from "../text";

/** Goes to a page of a document: to the one before, the one behind, or to one by its number. */
export function PageBox({ page, go }: { page: number; go: (page: number) => void }) {
  const { text } = useText();
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    setTyped(undefined);
    const number = Number(typed ?? page);
    if (Number.isSafeInteger(number) && number > 0) go(number);
  };
  return (
    <form data-passing onSubmit={onSubmit}>
      <Group gap={4} wrap="nowrap">
        <ActionIcon variant="default" aria-label={text.contexts.pageBefore} disabled={page <= 1} onClick={() => go(page - 1)}><IconChevronLeft size={16} aria-hidden /></ActionIcon>
        <Text size="sm" c="dimmed" component="label" htmlFor={id}>{text.contexts.pageNumber}</Text>
        <TextInput
          id={id} size="xs" w="3.5rem" inputMode="numeric" value={typed ?? String(page)}
          onChange={({ currentTarget: { value } }) => setTyped(value)} onBlur={() => setTyped(undefined)}
        />
        <ActionIcon variant="default" aria-label={text.contexts.pageBehind} onClick={() => go(page + 1)}><IconChevronRight size={16} aria-hidden /></ActionIcon>
      </Group>
    </form>
  );
}
