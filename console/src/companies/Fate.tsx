import { Alert, Button, Group, List, Stack, Text, TextInput } from "@mantine/core";
import { IconArrowsMove, IconPlayerPause, IconPlayerPlay, IconRestore, IconTrash } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { usePolled } from "../graph/usePolled";
import { useText } from "../text";
import { Dialog } from "../ui/Dialog";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { DeleteCompany, RestoreCompany, ResumeCompany, SuspendCompany, WhatIsBelow, type WhatIsBelowResult } from "./companies.gql";
import type { Whole } from "./company";
import { stock } from "./place";

/** What can be done to a company from above: suspend, move, delete, and each of it back. */
export function Fate({ company }: { company: Whole }) {
  const { text, format } = useText();
  const { say, attempt } = useNotices();
  const [open, setOpen] = useState<"suspend" | "delete">();
  const resume = useChange(ResumeCompany);
  const restore = useChange(RestoreCompany);
  const { id, name, status, eraseAt } = company;
  const close = () => setOpen(undefined);
  if (status === "DELETED") {
    return eraseAt && Date.parse(eraseAt) <= Date.now() ? <Erased id={id} /> : (
      <Alert color="red">
        <Stack gap="xs" align="start">
          {eraseAt && <Text size="sm">{text.companies.eraseAt(format.relative(eraseAt))}</Text>}
          <Button
            variant="default" leftSection={<IconRestore size={16} aria-hidden />}
            onClick={async () => (await attempt(() => restore({ input: { id } }))) && say(text.companies.restored(name))}
          >
            {text.companies.restore}
          </Button>
        </Stack>
      </Alert>
    );
  }
  return (
    <Group gap="xs">
      {status === "SUSPENDED" ? (
        <Button
          variant="default" leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={async () => (await attempt(() => resume({ input: { id } }))) && say(text.companies.resumed(name))}
        >
          {text.companies.resume}
        </Button>
      ) : (
        <Button variant="default" leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => setOpen("suspend")}>{text.companies.suspend}</Button>
      )}
      <Button component={Link} to={`/companies/${company.databaseId}/move`} variant="default" leftSection={<IconArrowsMove size={16} aria-hidden />}>{text.companies.move}</Button>
      <Button variant="default" c="var(--mantine-color-error)" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setOpen("delete")}>{text.companies.delete}</Button>
      {open === "suspend" && <Suspend company={company} close={close} />}
      {open === "delete" && <Delete company={company} close={close} />}
    </Group>
  );
}

/** Tells what is left of a company that is being erased, which can take long. */
function Erased({ id }: { id: string }) {
  const { text } = useText();
  const { data, error, again } = usePolled(WhatIsBelow, { id });
  if (data && !data.customer) return <Alert color="red">{text.companies.erased}</Alert>;
  return (
    <Alert color="red">
      <Stack gap="xs" role="status">
        <Text size="sm">{text.companies.erasing}</Text>
        <Problem error={error} again={again} />
        <Stock usage={data?.customer?.usage} />
      </Stack>
    </Alert>
  );
}

/** What a company has, with everything below it, that is not counted by the day. */
function Stock({ usage }: { usage: NonNullable<WhatIsBelowResult["customer"]>["usage"] | undefined }) {
  const { text, format } = useText();
  const has = usage?.filter(({ name, used }) => used > 0 && stock(name));
  return (
    <>
      {has?.length === 0 && <Text size="sm">{text.companies.deleteNothing}</Text>}
      <List size="sm">
        {has?.map(({ name, used }) => (
          <List.Item key={name}>{text.companies.limits[name]}: {name === "STORAGE_BYTES" ? format.bytes(used) : format.number(used)}</List.Item>
        ))}
      </List>
    </>
  );
}

interface Asked {
  company: Whole;
  close: () => void;
}

function Suspend({ company: { id, name }, close }: Asked) {
  const { text } = useText();
  const { offer } = useNotices();
  const suspend = useChange(SuspendCompany);
  const resume = useChange(ResumeCompany);
  const submit = useSubmit(async () => {
    await suspend({ input: { id } });
    offer(text.companies.suspended(name), () => resume({ input: { id } }));
    close();
  });
  return (
    <Dialog title={text.companies.suspendTitle(name)} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm">{text.companies.suspendHint}</Text>
          <Problem error={submit.error} />
          <Group>
            <Button type="submit" loading={submit.busy}>{text.companies.suspend}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Says what will be lost, and asks for the name, as everything below goes along. */
function Delete({ company: { id, name }, close }: Asked) {
  const { text } = useText();
  const { offer } = useNotices();
  const { data, error, again } = useAsk(WhatIsBelow, { id });
  const remove = useChange(DeleteCompany);
  const restore = useChange(RestoreCompany);
  const [typed, setTyped] = useState("");
  const submit = useSubmit(async () => {
    await remove({ input: { id } });
    close();
    offer(text.companies.deleted(name), () => restore({ input: { id } }));
  });
  return (
    <Dialog title={text.companies.deleteTitle(name)} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm">{text.companies.deleteHint}</Text>
          <Problem error={error ?? submit.error} again={error && again} />
          <Text size="sm" fw={600}>{text.companies.deleteLost}</Text>
          <Stock usage={data?.customer?.usage} />
          <TextInput label={text.companies.deleteType(name)} value={typed} autoComplete="off" data-autofocus onChange={(event) => setTyped(event.currentTarget.value)} />
          <Group>
            <Button type="submit" color="red.9" loading={submit.busy} disabled={typed.trim() !== name}>{text.companies.delete}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
