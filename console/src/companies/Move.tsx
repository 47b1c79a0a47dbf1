import { Alert, Button, Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { MoveCompany, Moving, Place as AskPlace } from "./companies.gql";
import { MoveChanges, useBounds } from "./MoveChanges";
import { MovePlace } from "./MovePlace";
import { type Mover, type Place, refusalOf } from "./place";
import { useReach } from "./reach";

/** Puts a company below another, after what that changes was shown. */
export function Move() {
  const { text } = useText();
  const { companyId } = useParams({ from: "/inside/companies/$companyId/move" });
  const { to, find } = useSearch({ from: "/inside/companies/$companyId/move" });
  const navigate = useNavigate();
  const { offer } = useNotices();
  const { data, error, again } = useAsk(Moving, { id: companyId });
  const there = useAsk(AskPlace, { id: String(to) }, { pause: to === undefined });
  const move = useChange(MoveCompany);
  const close = () => navigate({ to: "/companies/$companyId", params: { companyId }, search: { find } });
  const company = data?.customer;
  const found = there.data?.customer;
  const place = found?.databaseId === to ? found : undefined;
  const refusal = company && place && refusalOf(company, place);
  const submit = useSubmit(async () => {
    const { name, parent } = company!;
    await move({ input: { id: companyId, parentId: place!.id } });
    offer(text.companies.moved(name), () => move({ input: { id: companyId, parentId: parent!.id } }));
    await close();
  });
  return (
    <SidePanel title={company ? text.companies.moveTitle(company.name) : text.companies.move} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Problem error={error ?? there.error} again={error ? again : there.again} />
          {!company && !error && <Skeleton height={200} />}
          {company && (
            <>
              <Text size="sm">{text.companies.moveHint}</Text>
              <MovePlace at={to} choose={(to) => navigate({ to: ".", search: { find, to }, replace: true })} />
              {place && <Text size="sm" fw={600}>{text.companies.moveBelow(place.name)}</Text>}
              {place && refusal && <Alert color="yellow" role="status">{text.companies.moveNot[refusal](company.name, place.name)}</Alert>}
              {place && !refusal
                ? <Judged mover={company} place={place} submit={submit} close={close} />
                : <Foot><Button type="submit" disabled>{text.companies.moveDo}</Button><Button variant="default" onClick={close}>{text.ui.cancel}</Button></Foot>}
            </>
          )}
        </Stack>
      </form>
    </SidePanel>
  );
}

/** What a move changes, and why the platform would refuse it, where it would. */
function Judged({ mover, place, submit, close }: { mover: Mover; place: Place; submit: ReturnType<typeof useSubmit>; close: () => unknown }) {
  const { text } = useText();
  const reach = useReach(mover, place);
  const limits = useBounds(mover, place);
  const beyond = reach?.beyond;
  const full = limits.of.filter(({ over }) => over).map(({ name }) => text.companies.limits[name]);
  return (
    <>
      {beyond && <Alert color="yellow" role="status">{text.companies.moveBeyond(text.companies.reacher(beyond.user.name || beyond.user.email, beyond.role.name, beyond.account.customer.name))}</Alert>}
      {full.length > 0 && <Alert color="yellow" role="status">{text.companies.moveFull(place.name, full.join(", "))}</Alert>}
      <MoveChanges mover={mover} place={place} reach={reach} limits={limits} />
      <Problem error={submit.error} />
      <Foot>
        <Button type="submit" disabled={beyond !== undefined || full.length > 0} loading={submit.busy}>{text.companies.moveDo}</Button>
        <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
      </Foot>
    </>
  );
}
