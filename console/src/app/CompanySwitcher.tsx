import { Button, Menu, Text } from "@mantine/core";
import { IconBuilding, IconCheck, IconChevronDown, IconMail } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { session } from "../session/session";
import { Places } from "../session/session.gql";
import { useText } from "../text";
import { useNotices } from "../ui/useNotices";

/** The company that one acts for, and the others that one belongs to, those below indented. */
export function CompanySwitcher() {
  const { text } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const { attempt } = useNotices();
  const [opened, setOpened] = useState(false);
  const { data } = useAsk(Places, {}, { pause: !opened });
  const invited = data?.me.invitations.length ?? 0;
  const levels = new Map(data?.me.user.customers.nodes.map(({ databaseId, level }) => [databaseId, level - me.customer.level]));
  const go = (customerId: number) => attempt(async () => {
    await session.switchTo(customerId);
    await navigate({ to: "/" });
  });
  return (
    <Menu opened={opened} onChange={setOpened} position="bottom-start" width={280} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          variant="subtle" color="gray" miw={0} leftSection={<IconBuilding size={16} aria-hidden />} rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={text.app.company(me.customer.name)} c="var(--mantine-color-text)"
        >
          <Text truncate maw="14rem" size="sm">{me.customer.name}</Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="70dvh" style={{ overflow: "auto" }} aria-label={text.app.companies}>
        {session.companies.map(({ customerId, displayName, roleName }) => (
          <Menu.Item
            key={customerId} pl={`${0.75 + Math.max(0, levels.get(customerId) ?? 0)}rem`} onClick={() => go(customerId)} disabled={customerId === me.customer.databaseId}
            rightSection={customerId === me.customer.databaseId ? <IconCheck size={16} aria-label="✓" /> : null}
          >
            {displayName} <Text span size="xs" c="dimmed">{roleName}</Text>
          </Menu.Item>
        ))}
        {invited > 0 && <Menu.Item leftSection={<IconMail size={16} aria-hidden />} onClick={() => navigate({ to: "/profile" })}>{text.session.invited(invited)}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
