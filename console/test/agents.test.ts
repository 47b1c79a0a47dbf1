import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { counting, graph, made } from "./made.js";
import { accessible, ada, greta, jonas, mira, open, receivers, signIn, sofia, url } from "./visit.js";

async function save(page: Page) {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("All saved").waitFor();
}

test("the first agent: steps by forms that are checked, publish, test it and run it again", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/agents");
  await page.getByRole("heading", { name: "No agent yet" }).waitFor();
  await accessible(page, "agents-none");
  await page.getByRole("link", { name: "New agent" }).first().click();
  const create = page.getByRole("region", { name: "New agent" });
  await create.getByLabel("Name").fill("Doubler");
  await accessible(page, "agent-create");
  await create.getByRole("button", { name: "Create" }).click();

  const step = page.getByRole("region", { name: "Step", exact: true });
  await step.getByText("Add the first step").waitFor();
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByRole("menuitem", { name: "Set values" }).click();
  await step.getByLabel("Id").fill("twice");
  await step.getByRole("button", { name: "Add", exact: true }).click();
  const value = step.getByLabel(/^Value of/);
  await value.fill("{{ input.n * }}");
  await step.getByText(/input\.n \*/).nth(1).waitFor(); // what the platform says of it
  await page.getByText("One thing keeps it from being published").waitFor();
  await accessible(page, "agent-faulty");
  await value.fill("{{ input.n * 2 }}");
  await page.getByText("One thing keeps it from being published").waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Steps" }).getByRole("button", { name: "Output" }).click();
  const output = page.getByRole("region", { name: "Output" });
  await output.getByRole("button", { name: "Add", exact: true }).click();
  await output.getByLabel(/^Value of/).fill("{{ steps.twice.value1 }}");
  await page.locator(".drawing .feeds").nth(1).waitFor({ state: "attached" }); // of the input to the step, and of that to the output
  await save(page);
  await accessible(page, "agent-diagram");

  await page.getByRole("link", { name: "Test", exact: true }).click();
  await page.getByRole("heading", { name: "Publish it to test it" }).waitFor();
  await page.getByRole("button", { name: "Publish, and test it" }).isEnabled();
  await accessible(page, "agent-unpublished");
  await page.getByRole("link", { name: "Revisions" }).click();
  await page.getByRole("heading", { name: "Nothing was published yet" }).waitFor();
  await page.getByRole("link", { name: "Changes" }).first().click();
  await page.getByText("It was never published.").waitFor();
  await accessible(page, "agent-changes");
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  await page.getByRole("link", { name: "Test", exact: true }).click();
  await page.getByText("The diagram reads n.").waitFor();
  await page.getByLabel("Input").fill("[1]");
  await page.getByRole("button", { name: "Run it" }).click();
  await page.getByText("It must be a JSON object").waitFor();
  await page.getByLabel("Input").fill('{"n": 21}');
  await page.getByRole("button", { name: "Run it" }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByRole("status").getByText("finished").waitFor();
  await run.getByRole("region", { name: "Output" }).getByText("42").first().waitFor();
  await run.getByText("What it gave").click();
  await accessible(page, "agent-run");
  const first = page.url();
  await run.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((at) => at.href !== first);
  await run.getByRole("status").getByText("finished").waitFor();
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("listbox", { name: "Runs" }).getByRole("option", { name: /Doubler.*finished/ }).nth(1).waitFor();
  await accessible(page, "runs");
});

test("runs: filters, one that has failed, one that is cancelled, and the search box", async (t) => {
  const page = await open(t);
  const failing = await made(ada, "Always fails", { steps: [{ id: "no", type: "fail", message: "Not today", code: "closed" }], output: {} });
  await signIn(page, ada, `/console/agents/${failing.databaseId}/test`);
  await page.getByRole("button", { name: "Run it" }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByText("The run has failed at no").first().waitFor();
  await run.getByText("Not today.").first().waitFor();
  await accessible(page, "run-failed");
  await page.getByRole("link", { name: "Runs" }).click();
  await page.waitForURL(/agent=\d+/);
  const list = page.getByRole("listbox", { name: "Runs" });
  await list.getByRole("option", { name: /Always fails.*failed/ }).click();
  const panel = page.getByRole("region", { name: "Run of Always fails" });
  await panel.getByText("closed").first().waitFor();
  await accessible(page, "run-panel");
  await panel.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Status").selectOption("finished");
  await page.getByRole("heading", { name: "Nothing fits" }).waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await list.getByRole("option", { name: /Always fails/ }).click();
  await panel.getByText("closed").first().waitFor();
  const jobKey = page.url().match(/runs\/([0-9a-f-]{36})/)![1]!;
  await panel.getByRole("button", { name: "Close" }).click();

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill("always");
  await page.getByRole("dialog").getByRole("option", { name: /Always fails/ }).first().click();
  await page.getByRole("heading", { name: "Always fails", level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill(jobKey);
  await page.getByRole("dialog").getByRole("option", { name: /Always fails/ }).click();
  await panel.getByText("closed").first().waitFor();
});

test("a run under way is shown as it goes, and cancelled", async (t) => {
  const page = await open(t);
  const slow = await made(ada, "Takes long", { steps: [{ id: "now", type: "set", values: { a: 1 } }, { id: "wait", type: "http", url: receivers.slow }], output: {} });
  await signIn(page, ada, `/console/agents/${slow.databaseId}/test`);
  await page.getByRole("button", { name: "Run it" }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByText(/wait.*under way/).waitFor();
  await accessible(page, "run-under-way");
  await run.getByRole("button", { name: "Cancel" }).click();
  await run.getByText("The run was cancelled.").first().waitFor();
});

test("everything by keyboard: add, move, copy, remove and take back; JSON beside it", async (t) => {
  const page = await open(t);
  const { databaseId } = await made(ada, "By keyboard", counting);
  await signIn(page, ada, `/console/agents/${databaseId}`);
  const steps = page.getByRole("region", { name: "Steps" });
  await steps.getByRole("button", { name: "first set" }).focus();
  await page.keyboard.press("Enter");
  await steps.getByRole("button", { name: "Move first down" }).press("Enter");
  await page.getByText(/does not run before/).first().waitFor();
  await steps.getByRole("button", { name: "Move first up" }).press("Enter");
  await page.getByText(/does not run before/).first().waitFor({ state: "detached" });
  await steps.getByRole("button", { name: "Copy first" }).press("Enter");
  await steps.getByRole("button", { name: "first_copy set" }).waitFor();
  await steps.getByRole("button", { name: "Remove first_copy" }).press("Enter");
  await steps.getByRole("button", { name: "first_copy set" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).press("Enter");
  await steps.getByRole("button", { name: "first_copy set" }).waitFor();
  await page.locator(".react-flow__node", { hasText: "second" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Step", exact: true }).getByRole("heading", { name: "second" }).waitFor();
  await page.getByText("JSON", { exact: true }).first().click();
  const json = page.getByLabel("The diagram as JSON");
  assert.match(await json.inputValue(), /first_copy/);
  await json.fill("{ not json");
  await page.getByText("This is not JSON yet").waitFor();
  assert.equal(await page.getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
  await json.fill(JSON.stringify({ ...counting, output: { all: "{{ steps.first }}" } }));
  await accessible(page, "agent-json");
  await json.press("Control+s");
  await page.getByText("All saved").waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("region", { name: "Changes" }).locator("ins").first().waitFor();
  await page.getByRole("region", { name: "Changes" }).locator("del").first().waitFor();
  await accessible(page, "agent-diff");
});

test("connect two steps in the drawing; stay where something is not saved, or drop it", async (t) => {
  const page = await open(t);
  const { databaseId } = await made(ada, "Drawn", { steps: [{ id: "one", type: "set", values: { a: 1 } }, { id: "two", type: "set", values: { b: 2 } }], output: {} });
  await signIn(page, ada, `/console/agents/${databaseId}`);
  const part = (name: string) => page.locator(".react-flow__node", { hasText: name });
  await page.locator(".drawing .follows").first().waitFor({ state: "attached" });
  await part("one").locator(".react-flow__handle-bottom").dragTo(part("two").locator(".react-flow__handle-top"));
  await page.getByRole("region", { name: "Step", exact: true }).getByLabel("Value of one").waitFor();
  await page.locator(".drawing .feeds").first().waitFor({ state: "attached" });
  // What is not saved is not lost by a click elsewhere, unless that is wanted.
  page.once("dialog", (dialog) => void dialog.dismiss());
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("region", { name: "Step", exact: true }).getByLabel("Value of one").waitFor();
  await page.getByRole("button", { name: "Drop the changes" }).click();
  await page.locator(".drawing .feeds").first().waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
});

test("two people at once: who comes second is shown both, and chooses", async (t) => {
  const page = await open(t, { complaints: /status of 409/ });
  const agent = await made(ada, "Shared", counting);
  await signIn(page, ada, `/console/agents/${agent.databaseId}`);
  const step = page.getByRole("region", { name: "Step", exact: true });
  await step.getByLabel("Value of n").fill("{{ input.n + 5 }}");
  await graph(ada, "mutation($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { id } } }", { input: { id: agent.id, diagram: { ...counting, output: { theirs: true } } } });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Somebody else has changed this agent meanwhile").waitFor();
  await page.getByRole("region", { name: "Their draft against yours" }).locator("ins", { hasText: "input.n + 5" }).waitFor();
  await accessible(page, "agent-conflict");
  await page.getByRole("button", { name: "Keep mine" }).click();
  await save(page);
  const { agent: { draft } } = await graph<{ agent: { draft: { steps: { values: { n: string } }[] } } }>(ada, "query($id: ID!) { agent(id: $id) { draft } }", { id: agent.id });
  assert.equal(draft.steps[0]!.values.n, "{{ input.n + 5 }}");
});

test("who may look sees no way to change, and is told why", async (t) => {
  const { databaseId } = await made(jonas, "Looked at", counting);
  const page = await open(t, { width: 390 });
  await signIn(page, mira, `/console/agents/${databaseId}`);
  await page.getByText("You may look, and not change").waitFor();
  await page.getByRole("region", { name: "Step", exact: true }).getByLabel("Value of n").waitFor();
  for (const name of ["Add step", "Save", "More to do with the agent"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  assert.equal(await page.getByRole("link", { name: "Test", exact: true }).count(), 0);
  const fits = async (name: string) => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${name} is wider than the window`);
  await fits("the diagram");
  await accessible(page, "agent-narrow");
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  await fits("what has changed");
  await page.goto(`${url}/console/agents/runs`);
  await page.getByRole("listbox", { name: "Runs" }).or(page.getByRole("heading", { name: "Nothing has run yet" })).first().waitFor();
  await fits("the list of runs");
  await page.goto(`${url}/console/agents`);
  await page.getByRole("listbox", { name: "Agents" }).getByRole("option", { name: /Looked at/ }).waitFor();
  assert.equal(await page.getByRole("link", { name: "New agent" }).count(), 0);
  await page.goto(`${url}/console/agents/999999`);
  await page.getByRole("heading", { name: "This agent is not here" }).waitFor();
  await accessible(page, "agent-gone");
});

test("who may run, and not change, sees how to test and no more", async (t) => {
  const { me: { grants } } = await graph<{ me: { grants: { application: string; accountId: number }[] } }>(sofia, "{ me { grants { application accountId } } }", {});
  const { accountId } = grants.find(({ application }) => application === "builder")!;
  const { databaseId } = await made(ada, "To be run", counting, true, accountId);
  const page = await open(t);
  await signIn(page, sofia, `/console/agents/${databaseId}`);
  await page.getByText("You may look, and not change").waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Publish" }).count(), 0);
  await page.getByRole("link", { name: "Test", exact: true }).click();
  await page.getByLabel("Input").fill('{"n": 2}');
  await page.getByRole("button", { name: "Run it" }).click();
  await page.getByRole("region", { name: "Run", exact: true }).getByRole("status").getByText("finished").waitFor();
  await page.goto(`${url}/console/agents`);
  await page.getByRole("listbox", { name: "Agents" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Secrets" }).count(), 0);
});

/** Suspends what lets Jonas build agents, or gives it back. */
async function suspended(disabled: boolean) {
  const { permissions: { nodes } } = await graph<{ permissions: { nodes: { id: string; user: { email: string }; application: { code: string } }[] } }>(
    greta, "{ permissions(first: 200, subtree: false) { nodes { id user { email } application { code } } } }", {});
  for (const { id, user, application } of nodes) {
    if (user.email !== jonas.email || application.code !== "builder") continue;
    await graph(greta, "mutation($input: SetPermissionDisabledInput!) { setPermissionDisabled(input: $input) { permission { id } } }", { input: { id, disabled } });
  }
}

test("a right that was taken away, a slow platform and none at all", async (t) => {
  const page = await open(t, { complaints: /status of 403|ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket/ });
  const { databaseId } = await made(jonas, "Elsewhere", counting);
  await signIn(page, jonas, `/console/agents/${databaseId}`);
  const value = page.getByRole("region", { name: "Step", exact: true }).getByLabel("Value of n");
  await value.fill("{{ input.n + 1 }}");
  await suspended(true);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("You are not allowed to do this").waitFor();
  assert.equal(await value.inputValue(), "{{ input.n + 1 }}");
  await accessible(page, "agent-forbidden");
  await suspended(false);
  await page.route("**/graphql", async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue();
  });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator("button[data-loading]").waitFor();
  await page.getByText("All saved").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await page.context().setOffline(true);
  await value.fill("{{ input.n + 2 }}");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("The platform can’t be reached").waitFor();
  assert.equal(await value.inputValue(), "{{ input.n + 2 }}");
  await page.context().setOffline(false);
  await save(page);
});

test("rename, disable, take back and delete; in German", async (t) => {
  const page = await open(t, { language: "de-DE" });
  const { databaseId } = await made(ada, "Vergänglich", counting);
  await page.goto(`${url}/console/agents/${databaseId}`);
  await page.getByLabel("E-Mail").fill(ada.email);
  await page.getByLabel("Passwort", { exact: true }).fill(ada.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  const more = page.getByRole("button", { name: "Mehr zum Agenten" });
  await more.click();
  await page.getByRole("menuitem", { name: "Umbenennen" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Vergangen");
  await page.getByRole("dialog").getByRole("button", { name: "Speichern" }).click();
  await page.getByRole("heading", { name: "Vergangen", level: 1 }).waitFor();
  await more.click();
  await page.getByRole("menuitem", { name: "Ausschalten" }).click();
  await page.getByText("ausgeschaltet").waitFor();
  await more.click();
  await page.getByRole("menuitem", { name: "Löschen" }).click();
  const dialog = page.getByRole("dialog", { name: "Vergangen löschen?" });
  await accessible(page, "agent-delete");
  await dialog.getByRole("button", { name: "Löschen" }).click();
  await page.getByText("Vergangen ist gelöscht").waitFor();
  await page.getByRole("option", { name: /Vergangen/ }).waitFor({ state: "detached" });
});

test("a secret: kept, used by its name, replaced, written by two people, and removed", async (t) => {
  const page = await open(t, { complaints: /status of 4(00|09)/ });
  await signIn(page, greta, "/console/agents/secrets");
  await page.getByRole("heading", { name: "No secret yet" }).waitFor();
  await accessible(page, "secrets-none");
  await page.getByRole("link", { name: "New secret" }).first().click();
  const create = page.getByRole("region", { name: "New secret" });
  await create.getByLabel("Name").fill("not a name");
  await create.getByLabel("Value", { exact: true }).fill("s3cret-value");
  await create.getByRole("button", { name: "Keep it" }).click();
  await create.locator("[aria-invalid=true]").waitFor();
  await accessible(page, "secret-create");
  await create.getByLabel("Name").fill("CRM_TOKEN");
  await create.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("listbox", { name: "Secrets" }).getByRole("option", { name: /CRM_TOKEN/ }).click();
  const secret = page.getByRole("region", { name: "CRM_TOKEN" });
  await secret.getByText("{{ secrets.CRM_TOKEN }}").waitFor();
  assert.equal(await page.getByText("s3cret-value").count(), 0);
  await accessible(page, "secret");

  const { me: { customer: { secrets } } } = await graph<{ me: { customer: { secrets: { id: string }[] } } }>(greta, "{ me { customer { secrets { id } } } }", {});
  await graph(greta, "mutation($input: UpdateSecretInput!) { updateSecret(input: $input) { secret { id } } }", { input: { id: secrets[0]!.id, value: "another" } });
  await secret.getByLabel("New value").fill("mine");
  await secret.getByRole("button", { name: "Replace" }).click();
  await secret.getByText("Somebody else has written it meanwhile").waitFor();
  await accessible(page, "secret-conflict");
  await secret.getByRole("button", { name: "Keep mine" }).click();
  await secret.getByRole("button", { name: "Replace" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();

  const { databaseId } = await made(greta, "Sends", { steps: [{ id: "ask", type: "http", url: "https://example.com/" }], output: {} }, false);
  await page.goto(`${url}/console/agents/${databaseId}`);
  const step = page.getByRole("region", { name: "Step", exact: true });
  await step.getByRole("button", { name: "Add", exact: true }).click();
  await step.getByLabel(/^Value of/).fill("Bearer ");
  await step.getByRole("button", { name: "secrets.CRM_TOKEN" }).click();
  assert.equal(await step.getByLabel(/^Value of/).inputValue(), "Bearer {{ secrets.CRM_TOKEN }}");
  await save(page);
  await accessible(page, "agent-secret");

  await page.goto(`${url}/console/agents/secrets`);
  await page.getByRole("option", { name: /CRM_TOKEN/ }).click();
  await secret.getByRole("button", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove CRM_TOKEN?" });
  await accessible(page, "secret-remove");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No secret yet" }).waitFor();

  const other = await open(t);
  await signIn(other, mira, "/console/agents/secrets");
  await other.getByText("Secrets are for those who may change agents.").waitFor();
  await accessible(other, "secrets-forbidden");
});
