import { Stack } from "@mantine/core";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { Address } from "./Address";
import { Erase } from "./Erase";
import { Invitations } from "./Invitations";
import { Leave } from "./Leave";
import { Name } from "./Name";
import { Passkeys } from "./Passkeys";
import { Password } from "./Password";
import { SessionList } from "./SessionList";
import { TwoFactor } from "./TwoFactor";

/** One's own account. */
export function Profile() {
  const { text } = useText();
  return (
    <Stack maw="46rem" gap="xl">
      <PageHead title={text.session.profile} />
      <Invitations />
      <Name />
      <SessionList />
      <Passkeys />
      <TwoFactor />
      <Password />
      <Address />
      <Leave />
      <Erase />
    </Stack>
  );
}
