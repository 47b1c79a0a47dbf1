import { Button, List, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { Company, MoveCompany, PlacesToMove, type PlacesToMoveResult } from "./companies.gql";

type Place = PlacesToMoveResult["customers"]["nodes"][number];

/** Puts a company below another, after what that changes was shown. */
export function Move() {
  const { text } = useText();
  const { companyId } = useParams({ from: "/inside/companies/$companyId/move" });
  const navigate = useNavigate();
  const { offer } = useNotices();
  const { data, error, again } = useAsk(Company, { id: companyId });
  const [place, setPlace] = useState<Place>();
  const move = useChange(MoveCompany);
  const close = () => navigate({ to: "/companies/$companyId", params: { companyId }, search: true });
  const company = data?.customer;
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
          <Problem error={error ?? submit.error} again={error && again} />
          {!company && !error && <Skeleton height={200} />}
          {company && (
            <>
              <Text size="sm">{text.companies.moveHint}</Text>
              <Picker chosen={place} choose={setPlace} not={company.path} />
              {place && (
                <div>
                  <Text size="sm" fw={600}>{text.companies.moveChange}</Text>
                  <List size="sm">
                    <List.Item>{text.companies.movePath} {place.path}/{company.name}</List.Item>
                    <List.Item>{text.companies.moveReach}</List.Item>
                    <List.Item>{text.companies.moveLimits}</List.Item>
                    {company.canAddCustomers && <List.Item>{text.companies.moveFlags}</List.Item>}
                  </List>
                </div>
              )}
              <Foot>
                <Button type="submit" disabled={!place} loading={submit.busy}>{text.companies.moveDo}</Button>
                <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
              </Foot>
            </>
          )}
        </Stack>
      </form>
    </SidePanel>
  );
}

/** Finds a company by its name; none that is the one to move, or below it. */
function Picker({ chosen, choose, not }: { chosen: Place | undefined; choose: (place: Place) => void; not: string }) {
  const { text } = useText();
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words.trim(), 200);
  return (
    <>
      <TextInput label={text.companies.moveFind} value={words} autoComplete="off" onChange={(event) => setWords(event.currentTarget.value)} />
      {search !== "" && <Places search={search} not={not} chosen={chosen} choose={choose} />}
      {chosen && <Text size="sm">{text.companies.moveBelow(chosen.name)}</Text>}
    </>
  );
}

function Places({ search, not, chosen, choose }: { search: string; not: string; chosen: Place | undefined; choose: (place: Place) => void }) {
  const { text } = useText();
  const pages = usePages(PlacesToMove, { search }, ({ customers }) => customers);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  const rows = pages.rows.filter(({ path }) => path !== not && !path.startsWith(`${not}/`));
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && rows.length === 0) return <Text size="sm" c="dimmed">{text.companies.noneFound(search)}</Text>;
  return (
    <div style={{ height: 220, display: "flex" }}>
      <Rows
        label={text.companies.found} count={rows.length} more={pages.more} height={40} onShow={onShow} keyOf={(index) => rows[index]!.id}
        onOpen={(index) => choose(rows[index]!)} isOpen={(index) => rows[index]!.id === chosen?.id}
        render={(index) => <><span className="cell">{rows[index]!.name}</span><span className="cell spare quiet">{rows[index]!.path}</span></>}
      />
    </div>
  );
}
