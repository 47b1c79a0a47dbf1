import { ActionIcon, Anchor, Button, Divider, NativeSelect, Popover, SegmentedControl, Stack, Text, useMantineColorScheme } from "@mantine/core";
import { IconLogout, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "../session/rights";
import { signOut } from "../session/session";
import { type Language, languages, useText } from "../text";
import { unsaved } from "../ui/unsaved";

const themes = ["light", "dark", "auto"] as const;
const hasGraphiQL = document.querySelector('meta[name="graphiql"]') !== null;

/** The person's own: profile, theme, language, what is for developers, and the way out. */
export function AccountMenu() {
  const { text, language, speak } = useText();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { email } = useMe();
  const [open, setOpen] = useState(false);
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" width={280} trapFocus withRoles={false}>
      <Popover.Target>
        <ActionIcon variant="default" size="lg" radius="xl" aria-label={text.app.account} aria-expanded={open} aria-haspopup="dialog" onClick={() => setOpen(!open)}>
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={text.app.account}>
        <Stack gap="sm">
          <Text size="sm" c="dimmed" truncate>{text.app.signedInAs(email)}</Text>
          <Anchor component={Link} to="/profile" size="sm" onClick={() => setOpen(false)}>{text.app.profile}</Anchor>
          <Divider />
          <SegmentedControl
            aria-label={text.app.theme} size="xs" fullWidth value={colorScheme} data={themes.map((value) => ({ value, label: text.app.themes[value] }))}
            onChange={(value) => setColorScheme(value as (typeof themes)[number])}
          />
          <NativeSelect
            label={text.app.language} size="xs" value={language} data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
            onChange={(event) => speak(event.currentTarget.value as Language)}
          />
          <Divider />
          <Text size="xs" c="dimmed">{text.app.developers}</Text>
          <Anchor href="/docs" size="sm">{text.app.docs}</Anchor>
          {hasGraphiQL && <Anchor href="/graphiql" size="sm">{text.app.graphiql}</Anchor>}
          <Divider />
          <Button variant="default" leftSection={<IconLogout size={16} aria-hidden />} onClick={() => (!unsaved() || window.confirm(text.app.leave)) && void signOut()}>{text.app.signOut}</Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
