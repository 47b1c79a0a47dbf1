// What each system role is offered, the platform lets it do.
import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { added, setUp } from "./made.js";
import { ada, greta, jonas, mira, open, type Person, signIn, url } from "./visit.js";

for (const [role, who] of Object.entries({ Owner: greta, Admin: jonas, Viewer: mira, Member: undefined })) {
  test(`${role}: no page that is led to is refused, and no permission that can be turned off`, async (t) => {
    const page = await open(t);
    const person = who ?? await aMember();
    const refused = watch(page);
    await signIn(page, person);
    const seen = new Set<string>();
    const people = new Set<string>();
    const ahead = ["/console/"];
    for (let path = ahead.shift(); path !== undefined && seen.size < 60; path = ahead.shift()) {
      // One of each kind is enough.
      const kind = path.replace(/[?#].*/, "").replace(/\d+/g, "#");
      if (seen.has(kind)) continue;
      seen.add(kind);
      await page.goto(url + path);
      await page.getByRole("button", { name: "Account" }).waitFor();
      await loaded(page);
      assert.deepEqual(refused.splice(0), [], path);
      const main = page.getByRole("main");
      assert.equal(await main.getByText("You are not allowed to do this").count() + await main.getByText("None of your roles has the right").count(), 0, path);
      ahead.push(...(await page.locator("a[href^='/console/']").evaluateAll((links) => links.map((link) => link.getAttribute("href")!))).filter((href) => !/portal|sign-in/.test(href)));
    }
    assert.ok(seen.size > 10, [...seen].join());
    if (!seen.has("/console/people")) return;

    await page.goto(`${url}/console/people`);
    const list = page.getByRole("listbox", { name: "People" });
    await list.getByRole("option").first().waitFor();
    for (const option of await list.getByRole("option").all()) {
      if ((await option.textContent())!.includes(person.email)) continue; // oneself
      await option.click();
      const rights = page.getByRole("region", { name: await option.locator(".cell").first().innerText(), exact: true }).getByRole("region", { name: "What they may do, and why" });
      await rights.getByRole("link", { name: "As they see it" }).waitFor();
      await loaded(page);
      people.add(page.url());
      for (const name of await rights.getByRole("button", { name: /^Turn off/ }).evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")!))) {
        await rights.getByRole("button", { name, exact: true }).click();
        // It shows as turned on before the platform has done so, and a window that closes would take that back.
        const done = page.waitForResponse((response) => response.request().postData()?.includes('"disabled":false') ?? false);
        await rights.getByRole("button", { name: name.replace("Turn off", "Turn on"), exact: true }).click();
        await (await done).finished();
        await rights.getByRole("button", { name, exact: true }).waitFor();
      }
      assert.deepEqual(refused.splice(0), [], page.url());
    }
    assert.ok(people.size > 1);
  });
}

/** Waits until a page has its head and all of its content: a busy machine can be without requests before it shows what they gave. */
async function loaded(page: Page): Promise<void> {
  await page.getByRole("main").getByRole("heading").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator("main").locator(".mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true]").first().waitFor({ state: "hidden" });
}

/** Gives what the platform refuses from now on. */
function watch(page: Page): string[] {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (!response.url().endsWith("/graphql")) return;
    void response.text().then((body) => {
      if (body.includes('"FORBIDDEN"')) refused.push(`${response.request().postData()?.slice(0, 200)}: ${body.slice(0, 300)}`);
    }, () => undefined);
  });
  return refused;
}

/** Somebody with the role Member in each application. */
async function aMember(): Promise<Person> {
  const email = "mona@alpine.example";
  for (const application of ["tenant", "assistant", "builder"]) await added(ada, email, ["Alpine Energy"], { role: "Member", application });
  return setUp(email);
}
