import { Button, Popover, Text } from "@mantine/core";
import { IconBuilding, IconChevronDown } from "@tabler/icons-react";
import { type ComponentType, useState } from "react";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Waiting } from "../ui/Waiting";

/** The company that one acts for, and the way to others. */
export function CompanySwitcher() {
  const { text } = useText();
  const me = useMe();
  const [opened, setOpened] = useState(false);
  // Asked for as soon as somebody comes near. A Suspense that has begun to wait shows nothing for 300 ms, however soon the rest is there.
  const [tree, setTree] = useState<{ CompanyTree?: ComponentType<{ close: () => void }>; error?: unknown }>({});
  const ahead = () => {
    if (!tree.CompanyTree) import("./CompanyTree").then(({ CompanyTree }) => setTree({ CompanyTree }), (error: unknown) => setTree({ error }));
  };
  if (opened && tree.error !== undefined) throw tree.error;
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width="min(24rem, calc(100vw - 1rem))" withinPortal={false} trapFocus={tree.CompanyTree !== undefined} withRoles={false}>
      <Popover.Target>
        <Button
          variant="subtle" color="gray" miw={0} leftSection={<IconBuilding size={16} aria-hidden />} rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={text.app.company(me.customer.name)} aria-expanded={opened} aria-haspopup="dialog" c="var(--mantine-color-text)" onPointerEnter={ahead} onFocus={ahead}
          onClick={() => {
            ahead();
            setOpened(!opened);
          }}
        >
          <Text truncate maw="14rem" size="sm">{me.customer.name}</Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={text.app.companies} p="xs">
        {tree.CompanyTree ? <tree.CompanyTree close={() => setOpened(false)} /> : <Waiting />}
      </Popover.Dropdown>
    </Popover>
  );
}
