import assert from "node:assert/strict";
import test from "node:test";
import { added, graph } from "./made.js";
import { accessible, ada, greta, linkFor, mira, open, signIn, url } from "./visit.js";

test("whom a company has invited: by whom, sent again, taken back, and what became of each", async (t) => {
  const page = await open(t, { complaints: /status of 400/ });
  for (const email of ["ilse@alpine.example", "otto@alpine.example"]) await added(greta, email, ["Alpine Energy"]);
  await linkFor("ilse@alpine.example");
  await signIn(page, greta, "/console/people");
  await page.getByRole("link", { name: "Invitations" }).click();
  const panel = page.getByRole("region", { name: "Invitations" });
  const ilse = panel.getByRole("article", { name: "ilse@alpine.example" });
  await ilse.getByText(/invited .*by Greta Huber.*expires/).waitFor();
  await accessible(page, "invitations");
  await ilse.getByRole("button", { name: "Send again" }).click();
  await page.getByText("The invitation is on its way again.").waitFor();
  // A day takes five of them.
  for (let sent = 2; sent < 5; sent++) {
    const answer = page.waitForResponse((response) => response.request().postData()?.includes("resendInvitation") ?? false);
    await ilse.getByRole("button", { name: "Send again" }).click();
    await answer;
  }
  await ilse.getByRole("button", { name: "Send again" }).click();
  await page.getByText("None was sent").waitFor();

  await panel.getByRole("article", { name: "otto@alpine.example" }).getByRole("button", { name: "Withdraw" }).click();
  const dialog = page.getByRole("dialog", { name: "Withdraw the invitation of otto@alpine.example?" });
  await accessible(page, "withdraw");
  await dialog.getByRole("button", { name: "Withdraw" }).click();
  await panel.getByRole("article", { name: "otto@alpine.example" }).waitFor({ state: "detached" });
  await panel.getByText("All", { exact: true }).click();
  await panel.getByRole("article", { name: "otto@alpine.example" }).getByText("withdrawn").waitFor();
  assert.match(page.url(), /all=true/);
  await accessible(page, "invitations-all");

  // Somebody else has taken it back meanwhile.
  await ilse.getByRole("button", { name: "Withdraw" }).click();
  const { customer } = await graph<{ customer: { invitations: { id: string; email: string }[] } }>(greta, "{ customer { invitations { id email } } }", {});
  await graph(greta, "mutation($id: ID!) { withdrawInvitation(input: { id: $id }) { invitation { id } } }", { id: customer.invitations.find(({ email }) => email === "ilse@alpine.example")!.id });
  await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("dialog").getByText(/no longer open/).waitFor();
});

test("who may only look sees the invitations, in German on a telephone", async (t) => {
  await added(greta, "pia@alpine.example", ["Alpine Energy"]);
  const page = await open(t, { width: 390, language: "de-DE" });
  await page.goto(`${url}/console/people/invitations`);
  await page.getByLabel("E-Mail").fill(mira.email);
  await page.getByRole("button", { name: "Weiter" }).click();
  await page.getByLabel("Passwort", { exact: true }).fill(mira.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  const pia = page.getByRole("article", { name: "pia@alpine.example" });
  await pia.getByText(/eingeladen .*von Greta Huber.*gilt bis/).waitFor();
  assert.equal(await pia.getByRole("button").count(), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the screen");
  await accessible(page, "invitations-telephone");
});

test("invitations to me: accepted, the company is there to go on in; declined, it is not", async (t) => {
  for (const company of ["Brightwater Health", "Dune Retail"]) await added(ada, greta.email, [company]);
  const page = await open(t);
  await signIn(page, greta);
  await page.getByRole("button", { name: "Company: Alpine Energy" }).click();
  await page.getByRole("button", { name: "2 invitations" }).click();
  const mine = page.getByRole("region", { name: "Invitations" });
  await mine.getByText("Brightwater Health has invited you").waitFor();
  await accessible(page, "invited-me");
  await mine.getByRole("button", { name: "Decline: Dune Retail" }).click();
  await mine.getByText("Dune Retail has invited you").waitFor({ state: "detached" });
  await mine.getByRole("button", { name: "Accept: Brightwater Health" }).click();
  await mine.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Company: Alpine Energy" }).click();
  await page.getByRole("treeitem", { name: /Brightwater Health/ }).waitFor();
  await page.getByRole("treeitem", { name: /Dune Retail/ }).waitFor({ state: "detached" });
  await page.getByRole("treeitem", { name: /Brightwater Health/ }).click();
  await page.getByRole("button", { name: "Company: Brightwater Health" }).waitFor();
});
