import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { counting, graph, made } from "./made.js";
import { accessible, ada, greta, jonas, open, signIn, url } from "./visit.js";

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
  await create.getByLabel("Find in documents").check();
  await create.getByText("There is no context to search yet").waitFor();
  await create.getByLabel("An empty diagram").check();
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
  await page.getByRole("region", { name: "Changes" }).locator("ins").first().waitFor();
  assert.equal(await page.getByRole("region", { name: "Changes" }).locator("del").count(), 0);
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
  await page.getByRole("link", { name: "Its runs" }).click();
  await page.getByRole("listbox", { name: "Runs" }).getByRole("option", { name: /Doubler.*finished/ }).nth(1).waitFor();
  await accessible(page, "runs");
});

test("everything by keyboard: add, move, copy, remove and take back; JSON beside it", async (t) => {
  const page = await open(t);
  const { databaseId } = await made(ada, "By keyboard", counting);
  await signIn(page, ada, `/console/agents/${databaseId}`);
  const steps = page.getByRole("region", { name: "Steps" });
  await steps.getByRole("button", { name: "first set" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.matches('[aria-label="Step"] input')); // its form is not many keys away
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

test("the drawing and the JSON beside each other edit one draft, and the address says what is shown", async (t) => {
  const page = await open(t);
  const { databaseId } = await made(ada, "Beside", counting);
  await signIn(page, ada, `/console/agents/${databaseId}?view=both&step=2`);
  const step = page.getByRole("region", { name: "Step", exact: true });
  await step.getByRole("heading", { name: "second" }).waitFor();
  const json = page.getByLabel("The diagram as JSON");
  const drawn = (name: string) => page.locator(".react-flow__node", { hasText: name });
  // By the form: the JSON follows. By the JSON: the drawing and the form follow.
  await step.getByLabel("Id").fill("again");
  await drawn("again").waitFor();
  assert.match(await json.inputValue(), /"id": "again"/);
  await json.fill((await json.inputValue()).replace('"again"', '"third"'));
  await drawn("third").waitFor();
  await step.getByRole("heading", { name: "third" }).waitFor();
  assert.ok((await json.boundingBox())!.x > (await page.locator(".drawing").boundingBox())!.x + 100, "they stand beside each other");
  // What is no JSON says so; the drawing stays, and can't be changed meanwhile.
  const before = await json.inputValue();
  await json.fill(`${before},`);
  await page.getByText("This is not JSON yet").waitFor();
  await drawn("third").waitFor();
  assert.equal(await step.getByLabel("Id").isEditable(), false);
  await accessible(page, "agent-beside");
  await json.fill(before);
  await page.getByText("This is not JSON yet").waitFor({ state: "detached" });
  // To choose is no way out of what is not saved: nobody is asked.
  await page.getByRole("region", { name: "Steps" }).getByRole("button", { name: "Output" }).click();
  await page.waitForURL(/step=output/);
  await page.getByRole("region", { name: "Output" }).waitFor();
  await save(page);
  await page.reload();
  await page.getByRole("region", { name: "Output" }).waitFor();
  await json.waitFor();
  await page.getByText("Drawing", { exact: true }).click();
  await json.waitFor({ state: "detached" });
  await page.waitForURL((at) => !at.search.includes("view"));
  // Where there is no room for both they take turns.
  await page.goto(`${url}/console/agents/${databaseId}?view=both`);
  await json.waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await json.waitFor({ state: "detached" });
  await page.locator(".drawing").waitFor();
  await page.getByRole("radiogroup", { name: "How the diagram is shown" }).getByText("JSON", { exact: true }).click();
  await json.waitFor();
  await page.locator(".drawing").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await accessible(page, "agent-json-narrow");
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
  const dropped = page.getByRole("alert").filter({ hasText: "What was not saved is dropped" });
  await dropped.getByRole("button", { name: "Undo" }).click();
  await page.locator(".drawing .feeds").first().waitFor({ state: "attached" });
  await page.getByText("Not saved").waitFor();
  await page.getByRole("button", { name: "Drop the changes" }).click();
  await dropped.waitFor();
  await page.getByRole("link", { name: "Changes" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  await dropped.waitFor({ state: "detached" }); // there is nothing left to put it into
});

test("no line of the drawing runs behind a part that it has nothing to do with", async (t) => {
  const page = await open(t);
  const { databaseId } = await made(greta, "Past others", {
    steps: [{ id: "first", type: "set", values: { n: "{{ input.n }}" } }, { id: "second", type: "set", values: { n: "{{ steps.first.n }}", m: "{{ input.m }}" } }],
    output: { first: "{{ steps.first.n }}", second: "{{ steps.second.n }}" },
  });
  await signIn(page, greta, `/console/agents/${databaseId}`);
  await page.locator(".drawing .feeds").nth(4).waitFor({ state: "attached" });
  const crossed = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".drawing .feeds")].flatMap((line) => {
    const [from, to] = line.dataset.id!.split("-");
    const path = line.querySelector("path")!;
    const parts = [...document.querySelectorAll<HTMLElement>(".drawing .react-flow__node")].filter(({ dataset: { id } }) => id !== from && id !== to).map((part) => part.getBoundingClientRect());
    return Array.from({ length: 200 }, (_, at) => path.getPointAtLength((path.getTotalLength() * at) / 200).matrixTransform(path.getScreenCTM()!))
      .filter(({ x, y }) => parts.some(({ left, right, top, bottom }) => x > left && x < right && y > top && y < bottom)).map(() => line.dataset.id);
  }));
  assert.deepEqual(crossed, []);
  await accessible(page, "agent-lines");
});

test("what keeps an agent from being published leads to the step where it is", async (t) => {
  const page = await open(t);
  const steps = [{ id: "ok", type: "set", values: {} }, { id: "stop", type: "fail", message: "Not today", when: "steps.ok" }];
  const { databaseId } = await made(greta, "With a fault", { steps, output: {} }, false);
  await signIn(page, greta, `/console/agents/${databaseId}/changes`);
  await page.getByRole("listitem").filter({ hasText: "must be true or false" }).getByRole("link", { name: "stop" }).click();
  await page.getByRole("region", { name: "Step", exact: true }).getByRole("heading", { name: "stop" }).waitFor();
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
  // It is said without a click; what is not saved stays, to be copied, and can't be changed.
  const lost = page.getByRole("alert").filter({ hasText: "You may no longer save this" });
  await lost.getByText("agent.write").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).waitFor({ state: "detached" });
  assert.equal(await value.inputValue(), "{{ input.n + 1 }}");
  assert.equal(await value.isEditable(), false);
  await page.getByRole("button", { name: "Copy what is not saved, as JSON" }).waitFor();
  await page.getByText("JSON", { exact: true }).first().click();
  assert.match(await page.getByLabel("The diagram as JSON").inputValue(), /input\.n \+ 1/);
  await page.getByText("Drawing", { exact: true }).first().click();
  await accessible(page, "agent-forbidden");
  await suspended(false);
  await lost.waitFor({ state: "detached" });
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

test("a session that ends elsewhere leaves what is not saved on the screen, and goes on once one has signed in again", async (t) => {
  const page = await open(t, { complaints: /status of 401/ });
  const { databaseId } = await made(jonas, "Kept", counting);
  await signIn(page, jonas, `/console/agents/${databaseId}`);
  const value = page.getByRole("region", { name: "Step", exact: true }).getByLabel("Value of n");
  await value.fill("{{ input.n + 7 }}");
  const other = await open(t);
  await signIn(other, jonas, "/console/profile");
  await other.getByRole("button", { name: "End all others" }).click();
  const ended = page.getByRole("alert").filter({ hasText: "Your session has ended" });
  await ended.waitFor(); // without a click
  assert.equal(await value.inputValue(), "{{ input.n + 7 }}");
  await ended.getByRole("button", { name: "Go on here" }).click();
  await ended.getByText(/has not signed in again/).waitFor();
  await accessible(page, "agent-session-ended");
  const [beside] = await Promise.all([page.context().waitForEvent("page"), ended.getByRole("link", { name: "Sign in in another tab" }).click()]);
  await signIn(beside, jonas);
  await ended.getByRole("button", { name: "Go on here" }).click();
  await ended.waitFor({ state: "detached" });
  assert.equal(await value.inputValue(), "{{ input.n + 7 }}");
  await save(page);
});

test("rename, disable, take back and delete; in German", async (t) => {
  const page = await open(t, { language: "de-DE" });
  const { databaseId } = await made(ada, "Vergänglich", counting);
  await page.goto(`${url}/console/agents/${databaseId}`);
  await page.getByLabel("E-Mail").fill(ada.email);
  await page.getByRole("button", { name: "Weiter" }).click();
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
  await page.getByText("Vergangen ist gelöscht").waitFor();
  await page.getByRole("option", { name: /Vergangen/ }).waitFor({ state: "detached" });
  await accessible(page, "agent-deleted");
  await page.getByRole("alert").filter({ hasText: "ist gelöscht" }).getByRole("button", { name: "Rückgängig" }).click();
  await page.getByRole("option", { name: /Vergangen/ }).waitFor();
});
