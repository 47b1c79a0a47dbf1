import { Stack, Text } from "@mantine/core";
import { RightNames } from "../session/RightNames";
import { has, rights, useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";

/** As what one acts, for which company, and what that allows. */
export function OwnRights() {
  const { text } = useText();
  const me = useMe();
  const roles = me.grants.map(({ application, roleName }) => text.people.roleIn(roleName, applicationName(text, { code: application, name: application })));
  return (
    <Stack gap={4}>
      <Text c="dimmed">{text.app.actsFor(me.customer.name)} {text.app.actsAs(new Intl.ListFormat(document.documentElement.lang).format(roles))}</Text>
      <details>
        <summary className="quiet"><Text span size="sm">{text.app.whatItAllows}</Text></summary>
        <Text size="sm" c="dimmed">{text.app.whatItAllowsHint(me.customer.name)}</Text>
        <RightNames of={rights.filter((right) => has(me, right))} label={text.app.whatItAllows} />
      </details>
    </Stack>
  );
}
