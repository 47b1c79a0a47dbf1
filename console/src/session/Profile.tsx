import { Stack } from "@mantine/core";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { Address } from "./Address";
import { Invitations } from "./Invitations";
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
      <SessionList />
      <Passkeys />
      <TwoFactor />
      <Password />
      <Address />
    </Stack>
  );
}
