import assert from "node:assert/strict";
import test from "node:test";
import type { Locator, Page } from "playwright-core";
import { graph } from "./made.js";
import { accessible, ada, greta, mira, open, receivers, signIn, signInInGerman, url } from "./visit.js";

/** Adds a destination, keeps its secret, and gives its panel. */
async function add(page: Page, name: string, address: string) {
  await page.getByRole("link", { name: /^Add (a|the first) destination$/ }).first().click();
  const form = page.getByRole("region", { name: "Add a destination" });
  await form.getByLabel("Address").fill(address);
  await form.getByLabel("Name").fill(name);
  await form.getByRole("button", { name: "Add", exact: true }).click();
  const added = page.getByRole("region", { name: "The destination is there" });
  assert.match(await added.getByText(/^whsec_/).innerText(), /^whsec_[A-Za-z0-9+/]{43}=$/);
  // The receiver is on this machine: it learns the secret that it verifies by.
  const { port } = new URL(address);
  await added.getByText(new RegExp(`^WEBHOOK_SECRET='whsec_[^']+' bin/canopy webhook listen .* -listen 127\\.0\\.0\\.1:${port}$`)).waitFor();
  await added.getByRole("button", { name: "I have kept it" }).click();
  const panel = page.getByRole("region", { name, exact: true });
  await panel.getByRole("button", { name: "Send", exact: true }).waitFor();
  return panel;
}

test("add the first destination for chosen events, test it, and send the delivery again", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/webhooks");
  await page.getByRole("heading", { name: "Nobody is told yet" }).waitFor();
  await accessible(page, "webhooks-none");
  await page.getByRole("link", { name: "Add the first destination" }).click();
  const form = page.getByRole("region", { name: "Add a destination" });
  await form.getByLabel("Address").fill("https://10.0.0.1/");
  await form.getByLabel("Chosen ones").check();
  assert.equal(await form.getByRole("button", { name: "Add", exact: true }).isDisabled(), true);
  await form.getByLabel("Find an event").fill("published");
  await form.getByRole("checkbox", { name: "agent.published", exact: true }).check();
  await accessible(page, "webhooks-add");
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await form.locator("[aria-invalid=true]").waitFor(); // the address is not public
  await form.getByText("To receive on your own machine").waitFor();
  await form.getByText(`CANOPY_WEBHOOK_ALLOW=127.0.0.0/8 CANOPY_WEBHOOK_CA=.data/listener.pem CANOPY_LISTEN=127.0.0.1:${new URL(url).port} make run`).waitFor();
  await accessible(page, "webhooks-add-private");
  await form.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Add the first destination" }).click();
  await form.getByRole("button", { name: "Receive on your own machine" }).click(); // before anything was refused
  await form.getByText("bin/canopy webhook listen -ca .data/listener.pem -pretty").waitFor();
  assert.equal(await form.getByText("CANOPY_WEBHOOK_ALLOW").count(), 0); // as make run sends there
  await form.getByRole("button", { name: "Cancel" }).click();

  const panel = await add(page, "Billing", receivers.well);
  await panel.getByLabel("Event", { exact: true }).selectOption("agent.created");
  await panel.getByRole("button", { name: "Send", exact: true }).click();
  await panel.getByText(/^answered 204 in/).waitFor();
  await panel.getByText("All is well.").waitFor();
  await accessible(page, "webhooks-destination");
  await panel.getByRole("link", { name: "Show the delivery" }).click();
  const delivery = page.getByRole("region", { name: "agent.created", exact: true });
  await delivery.getByText("x-service-event: agent.created").waitFor();
  await delivery.getByText("x-canopy-test: true").waitFor();
  await delivery.getByText("As sent").click();
  await delivery.getByText('"data":{"agentId":42').waitFor();
  await accessible(page, "webhooks-delivery");
  await delivery.getByRole("button", { name: "Send again" }).click();
  const list = page.getByRole("listbox", { name: "Deliveries" });
  await list.getByRole("option", { name: /delivered/ }).nth(1).waitFor();
  await page.getByLabel("Status").selectOption("failed");
  await page.getByRole("heading", { name: "Nothing fits" }).waitFor();
  assert.match(page.url(), /status=failed/);
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await list.getByRole("option").nth(1).waitFor();

  // The day's deliveries are drawn, and their figures are a table.
  await page.goto(`${url}/console/webhooks`);
  await page.getByRole("option", { name: /Billing/ }).click();
  await panel.getByRole("img", { name: /How long the last attempts took: the newest 2 deliveries/ }).locator("canvas").waitFor();
  await panel.getByText("The figures as a table").click();
  await panel.getByRole("row", { name: /agent\.created .* delivered \d+ ms/ }).nth(1).waitFor();
  await accessible(page, "webhooks-drawn");
});

test("a receiver that fails: since when, each attempt, and all of it recovered", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/webhooks");
  const panel = await add(page, "Shaky", receivers.failing);
  await panel.getByRole("button", { name: "Send", exact: true }).click();
  await panel.getByText("answered 503 in").waitFor();
  await panel.getByText("Nothing got through since").waitFor();
  await page.getByRole("option", { name: /Shaky.*1 failed in 24 h.*failing/ }).waitFor();
  await accessible(page, "webhooks-failing");
  await panel.getByRole("link", { name: "Show the last one" }).click();
  const delivery = page.getByRole("region", { name: "run.started", exact: true });
  await delivery.getByRole("listitem").nth(2).getByText("answered 503 in").waitFor();
  await accessible(page, "webhooks-delivery-failed");
  await delivery.getByRole("link", { name: "Shaky" }).click();
  await panel.getByRole("link", { name: "Recover" }).click();
  const recover = page.getByRole("region", { name: "Recover" });
  await recover.getByRole("button", { name: "Send them again" }).click();
  await recover.getByText("1 delivery is on its way").waitFor();
  await accessible(page, "webhooks-recover");
  await recover.getByRole("button", { name: "Close" }).last().click();
  await panel.getByText("All is well.").waitFor();
});

test("change a destination, rotate its secret, verify signatures, turn it off and delete it", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/webhooks");
  const panel = await add(page, "Zoë’s shop", receivers.well);
  await panel.getByRole("link", { name: "Edit" }).click();
  const form = page.getByRole("region", { name: /^Change/ });
  await form.getByLabel("Over the body and the time").check();
  await form.getByRole("button", { name: "Save" }).click();
  await panel.getByText("Over the body and the time").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await panel.getByText("Over the body", { exact: true }).waitFor();
  await panel.getByRole("link", { name: "Edit" }).click();
  await form.getByLabel("Over the body and the time").check();
  await form.getByRole("button", { name: "Save" }).click();
  await panel.getByText("Over the body and the time").waitFor();
  await panel.getByRole("link", { name: "Verify signatures" }).click();
  const verify = page.getByRole("region", { name: "Verify signatures" });
  for (const [language, line] of [["Go", "func verified"], ["TypeScript", "export function verified"], ["Python", "def verified"]] as const) {
    await verify.getByText(language, { exact: true }).click();
    const code = await verify.getByLabel(`Code in ${language}`).innerText();
    assert.ok(code.includes(line) && code.includes("webhook-signature") && code.includes("ZOE_S_SHOP_WEBHOOK_SECRET"), code);
  }
  await accessible(page, "webhooks-verify");
  await verify.getByRole("button", { name: "Close" }).click();
  await panel.getByRole("link", { name: "Rotate the secret" }).click();
  const rotate = page.getByRole("region", { name: "Rotate the secret" });
  await accessible(page, "webhooks-rotate");
  await rotate.getByRole("button", { name: "Make a new secret" }).click();
  await rotate.getByText("For 24 hours both secrets sign.").waitFor();
  await rotate.getByText(/^whsec_/).waitFor();
  await rotate.getByRole("button", { name: "I have kept it" }).click();
  const overlap = panel.getByRole("alert").filter({ hasText: "Two secrets sign" });
  await overlap.getByText(/It ends: (in 24 hours|in 23 hours|tomorrow|in 1 day)/).waitFor();
  await accessible(page, "webhooks-overlap");
  // Another one, at once, ends it.
  await panel.getByRole("link", { name: "Rotate the secret" }).click();
  await rotate.getByRole("radio").nth(1).check();
  await rotate.getByRole("button", { name: "Make a new secret" }).click();
  await rotate.getByText("The old secret signs nothing any more.").waitFor();
  await rotate.getByRole("button", { name: "I have kept it" }).click();
  await overlap.waitFor({ state: "detached" });
  await panel.getByRole("switch", { name: "Enabled" }).press(" ");
  await panel.getByText("Events that happen now are not kept for it.").waitFor();
  await panel.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Zoë’s shop?" });
  await accessible(page, "webhooks-delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("option", { name: /Zoë/ }).waitFor({ state: "detached" });
  await page.getByRole("alert").filter({ hasText: "is deleted" }).getByRole("button", { name: "Undo" }).click();
  await page.getByRole("option", { name: /Zoë/ }).waitFor();
  // Later it is among those that can be brought back.
  await page.getByRole("option", { name: /Zoë/ }).click();
  await panel.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("option", { name: /Zoë/ }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Recently deleted" }).click();
  await accessible(page, "webhooks-deleted");
  await page.getByRole("button", { name: "Bring back Zoë’s shop" }).click();
  await page.getByText("Zoë’s shop is back").waitFor();
  await page.getByRole("option", { name: /Zoë/ }).waitFor();
});

test("in German a failure says what kind it is, and below it what the platform says", async (t) => {
  const page = await open(t, { language: "de-DE" });
  const { createWebhookDestination: { destination } } = await graph<{ createWebhookDestination: { destination: { databaseId: number } } }>(
    ada, "mutation($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { destination { databaseId } } }", { input: { name: "Nirgends", url: `${receivers.well.replace(/:\d+.*/, "")}:1/` } });
  await signInInGerman(page, ada, `/console/webhooks/destinations/${destination.databaseId}`);
  const panel = page.getByRole("region", { name: "Nirgends", exact: true });
  await panel.getByRole("button", { name: "Senden", exact: true }).click();
  await panel.getByText("Die Verbindung kam nicht zustande oder brach ab.").first().waitFor();
  await panel.locator("[lang=en]").getByText(/^The connection failed: .*refused/).first().waitFor();
  await panel.getByRole("link", { name: "Zustellung ansehen" }).click();
  const tries = page.getByRole("region", { name: "Versuche" });
  await tries.getByText("Die Verbindung kam nicht zustande oder brach ab.").first().waitFor();
  await accessible(page, "webhooks-failed-german");
});

test("the catalogue, with an example and a schema; who may only look sees no way to change", async (t) => {
  const page = await open(t);
  await signIn(page, mira, "/console/webhooks/events");
  await page.getByRole("searchbox", { name: "Find an event" }).fill("run");
  await page.getByRole("option", { name: /run\.completed/ }).click();
  const event = page.getByRole("region", { name: "run.completed" });
  await event.getByText('"event_category": "run"').waitFor();
  await event.getByRole("cell", { name: "Whether the run succeeded." }).waitFor();
  await accessible(page, "webhooks-event");
  await page.getByRole("link", { name: "Destinations" }).click();
  await page.getByRole("option").or(page.getByRole("heading", { name: "Nobody is told yet" })).first().waitFor();
  assert.equal(await page.getByRole("link", { name: /^Add/ }).count(), 0);
});

/** A short token of Alpine Energy with some rights, as a tenant's server gets it. */
async function shortToken(...features: string[]): Promise<string> {
  const json = { "Content-Type": "application/json" };
  const ask = async (path: string, headers: Record<string, string>, body: string) => (await fetch(url + path, { method: "POST", headers, body })).json();
  const { token } = await ask("/auth/session", json, JSON.stringify(greta)) as { token: string };
  const query = "mutation($features: [String!]) { createApiKey(input: { name: \"portal\", features: $features }) { clientId clientSecret } }";
  const { data } = await ask("/graphql", { ...json, Authorization: `Bearer ${token}` }, JSON.stringify({ query, variables: { features } })) as
    { data: { createApiKey: { clientId: string; clientSecret: string } } };
  const form = new URLSearchParams({ grant_type: "client_credentials", target_app: "tenant", client_id: data.createApiKey.clientId, client_secret: data.createApiKey.clientSecret });
  const { access_token } = await ask("/connect/token", { "Content-Type": "application/x-www-form-urlencoded" }, form.toString()) as { access_token: string };
  return access_token;
}

test("the portal: a short token, which leaves the address, and the same screens", async (t) => {
  const page = await open(t);
  await page.goto(`${url}/console/portal#token=${await shortToken("webhook.read", "webhook.write")}`);
  const panel = await add(page, "Customer’s own", receivers.well);
  assert.match(page.url(), /\/console\/portal\/destinations\/\d+$/);
  await panel.getByRole("button", { name: "Send", exact: true }).click();
  await panel.getByText(/^answered 204 in/).waitFor();
  await accessible(page, "portal");
  assert.equal(await page.getByRole("link", { name: "Companies" }).count(), 0);
  await page.reload();
  await page.getByRole("heading", { name: "This page is opened from another" }).waitFor();
  await accessible(page, "portal-without-token");
});

test("a portal link that the console makes: for whom, what it may, until when, and its end", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/webhooks/destinations");
  await page.getByRole("link", { name: "Make a portal link" }).click();
  const panel = page.getByRole("region", { name: "Make a portal link" });
  await panel.getByText("sees the webhooks of Northwind Group").waitFor();
  await accessible(page, "portal-link");
  await panel.getByLabel("They may change something").uncheck();
  await panel.getByRole("button", { name: "Make the link" }).click();
  const made = panel.getByRole("status");
  assert.match(await made.innerText(), /ends\s+in (14|15) minutes/);
  await accessible(page, "portal-link-made");
  const link = (await made.locator("pre").innerText()).trim();
  const guest = await open(t, { complaints: /401/ });
  await guest.goto(link);
  await guest.getByRole("heading", { name: "Destinations" }).waitFor();
  assert.equal(await guest.getByRole("link", { name: /^Add/ }).count(), 0);
  await panel.getByRole("button", { name: "End it now" }).click();
  await page.getByText("The link opens nothing any more").waitFor();
  await guest.getByRole("link", { name: "Deliveries" }).click();
  await guest.getByRole("heading", { name: "Your access has ended" }).waitFor();

  // For another company it is somebody of that company who acts.
  const { customers } = await graph<{ customers: { nodes: { databaseId: number }[] } }>(ada, "{ customers(filter: { search: \"Alpine Energy\" }, first: 1) { nodes { databaseId } } }", {});
  await page.goto(`${url}/console/webhooks/destinations/portal-link?company=${customers.nodes[0]!.databaseId}`);
  await panel.getByText("sees the webhooks of Alpine Energy").waitFor();
  assert.equal(await panel.getByRole("button", { name: "Make the link" }).isDisabled(), true);
  await panel.getByRole("combobox", { name: "Acts as" }).fill("greta");
  await page.getByRole("option", { name: /greta@alpine/ }).click();
  await panel.getByRole("button", { name: "Make the link" }).click();
  await guest.goto("about:blank");
  await guest.goto((await made.locator("pre").innerText()).trim());
  await guest.getByRole("link", { name: /^Add/ }).first().waitFor();

  await signIn(guest, mira, "/console/webhooks/destinations");
  await guest.getByRole("heading", { name: "Destinations" }).waitFor();
  assert.equal(await guest.getByRole("link", { name: "Make a portal link" }).count(), 0);
});

test("the portal with a token that may look, with one that may not, and with one that has ended", async (t) => {
  const page = await open(t, { complaints: /401/ });
  await page.goto(`${url}/console/portal#token=${await shortToken("webhook.read")}`);
  await page.getByRole("heading", { name: "Destinations" }).waitFor();
  await page.getByRole("option").or(page.getByRole("heading", { name: "Nobody is told yet" })).first().waitFor();
  assert.equal(await page.getByRole("link", { name: /^Add/ }).count(), 0);
  await page.goto("about:blank");
  await page.goto(`${url}/console/portal#token=${await shortToken("user.read")}`);
  await page.getByRole("heading", { name: "You may not see webhooks" }).waitFor();
  await page.goto("about:blank");
  await page.goto(`${url}/console/portal/deliveries#token=worn.out`);
  await page.getByRole("heading", { name: "Your access has ended" }).waitFor();
  await accessible(page, "portal-ended");
});

test("beside its panel the list keeps its head in one line, and its place", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/webhooks/destinations/new");
  const main = page.getByRole("main");
  const more = main.getByRole("button", { name: "More", exact: true });
  await more.waitFor();
  const middle = async (of: Locator) => {
    const { y, height } = (await of.boundingBox())!;
    return y + height / 2;
  };
  const inLine = Math.abs(await middle(main.getByRole("link", { name: "Add a destination" })) - await middle(main.getByRole("heading", { level: 1 })));
  assert.ok(inLine < 4, "the button stands below the page's name");
  // A panel gives way before its list has no room.
  await page.setViewportSize({ width: 1024, height: 800 });
  const end = await main.locator(".list").evaluate((list) => Math.max(...[...list.querySelectorAll("a, button, p")].map((one) => one.getBoundingClientRect().right)));
  assert.ok(end <= (await main.getByRole("region", { name: "Add a destination" }).boundingBox())!.x, "something of the list is below the panel");
  await page.setViewportSize({ width: 1280, height: 800 });
  await more.click();
  await main.getByRole("menuitem", { name: "Recently deleted" }).click();
  await main.getByRole("heading", { name: "Recently deleted" }).and(page.locator(":focus")).waitFor();
  await accessible(page, "destinations-more");
});
