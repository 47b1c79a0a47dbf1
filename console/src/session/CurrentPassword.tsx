import { Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { sentence } from "../ui/Problem";
import type { Submit } from "../ui/useSubmit";
import { useMe } from "./rights";
import { HasPassword } from "./session.gql";
import { wayIn } from "./session";

/** What changes of how one signs in ask for: the password or, of who has none, a sign-in at the identity provider a moment ago. */
export function CurrentPassword({ of, value, set, focus }: { of: Submit; value: string; set: (value: string) => void; focus?: boolean }) {
  const { text } = useText();
  const { data } = useAsk(HasPassword, {});
  if (data && !data.me.hasPassword) return <SignInAnew of={of} />;
  return (
    <PasswordInput
      label={text.session.currentPassword} autoComplete="current-password" required withAsterisk={false} data-autofocus={focus || undefined} error={of.fault("password")}
      visibilityToggleButtonProps={{ "aria-label": text.session.show, tabIndex: 0 }} value={value} onChange={(event) => set(event.currentTarget.value)}
    />
  );
}

function SignInAnew({ of }: { of: Submit }) {
  const { text } = useText();
  const { email } = useMe();
  const [refused, setRefused] = useState<string>();
  const go = async () => {
    const { way, why = "sso_unknown" } = await wayIn(email, "/profile", { fresh: true });
    if (way === "password") setRefused(text.session.sso[why] ?? text.session.ssoFailed);
  };
  return (
    <Stack gap="xs">
      <Text size="sm">{text.session.noPassword}</Text>
      {of.error?.reason === "sign_in_again" && <Button variant="default" w="fit-content" onClick={go}>{text.session.signInAnew}</Button>}
      {refused && <Text size="sm" role="alert">{sentence(refused)}</Text>}
    </Stack>
  );
}
