import { Button, Group, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useText } from "../text";
import "./morelinks.css";

interface MoreLink {
  to: string;
  label: string;
  /** Whether it is drawn as a button; as a quiet word otherwise. */
  button?: boolean;
}

/**
 * What is done more rarely from a list, before the button in its head. Where the list is narrow, as beside a panel or on a telephone, it folds into a menu,
 * so that the head keeps one line.
 */
export function MoreLinks({ of: links }: { of: readonly MoreLink[] }) {
  const { text } = useText();
  // What an address says of the list stays. The routes of areas are not known here.
  const search = true as never;
  return links.length > 0 && (
    <>
      <Group gap="xs" className={`more-links count-${links.length}`}>
        {links.map(({ to, label, button }) => <Button key={to} component={Link} to={to} search={search} variant={button ? "default" : "subtle"}>{label}</Button>)}
      </Group>
      <Menu withinPortal={false} withInitialFocusPlaceholder={false} returnFocus={false} position="bottom-end">
        <Menu.Target><Button variant="default" px="xs" className="more-menu" aria-label={text.ui.more}><IconDots size={16} aria-hidden /></Button></Menu.Target>
        <Menu.Dropdown>
          {links.map(({ to, label }) => <Menu.Item key={to} component={Link} to={to} search={search}>{label}</Menu.Item>)}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
