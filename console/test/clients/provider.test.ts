import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { openFor, setting } from "../browser.js";
import { graph } from "../made.js";
import { accessible, ada, greta, signIn, url } from "../visit.js";

const issuer = setting("ISSUER");

/** Fills in the pages of oidc-provider. */
async function atProvider(page: Page, login: string): Promise<void> {
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

test("a company’s own sign-in: set up, tried, used, and signed out of", async (t) => {
  const options = { complaints: /status of 404/, insecure: true };
  const page = await openFor(t, [url, issuer], options);
  await signIn(page, greta, "/console/identity/new");
  const create = page.getByRole("region", { name: "New provider" });
  await create.getByLabel("Name").fill("Corp login");
  await create.getByLabel("Issuer").fill(issuer);
  await create.getByLabel("Client id").fill("canopy");
  await create.getByLabel("Client secret", { exact: true }).fill("a secret of the registration");
  await create.getByLabel("Domains").fill("corp.example");
  await create.getByLabel("Role of new people").selectOption({ label: "Viewer in Tenant management" });
  await create.getByRole("button", { name: "Create" }).click();
  const one = page.getByRole("region", { name: "Corp login" });
  await one.getByRole("link", { name: "Sign in there" }).click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await one.getByRole("alert").getByText("Your company’s sign-in has not let you in.").waitFor(); // and one is where one was
  await one.getByRole("link", { name: "Sign in there" }).click();
  await atProvider(page, "ida");
  await one.getByText("Nobody could sign in like this").waitFor(); // as the domain is nobody's yet
  await accessible(page, "provider-tried");

  type Providers = { customer: { identityProviders: { id: string }[] } };
  const { me } = await graph<{ me: Providers }>(greta, "{ me { customer { identityProviders { id } } } }", {});
  await graph(ada, "mutation($input: UpdateIdentityProviderInput!) { updateIdentityProvider(input: $input) { identityProvider { id } } }",
    { input: { id: me.customer.identityProviders[0]!.id, domains: ["corp.example"] } }); // who is above, and gives it
  await one.getByRole("link", { name: "Sign in there" }).click();
  await one.getByText("People can sign in like this").waitFor();
  await one.getByText("ida@corp.example").waitFor();
  await one.getByText("People can sign in at it.").waitFor();
  await one.getByRole("switch", { name: "On" }).check({ force: true });
  await one.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();

  const ida = await openFor(t, [url, issuer], options);
  const toProvider = async () => {
    await ida.getByLabel("E-mail").fill("ida@corp.example");
    await ida.getByRole("button", { name: "Continue" }).click();
  };
  await ida.goto(`${url}/console/people`);
  await toProvider();
  await atProvider(ida, "ida");
  await ida.getByRole("heading", { name: "People" }).waitFor(); // where she wanted to go
  await ida.getByRole("button", { name: "Account" }).click();
  await ida.getByRole("button", { name: "Sign out" }).click();
  await ida.getByRole("button", { name: "Yes, sign me out" }).click();
  await ida.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.ok(ida.url().startsWith(url));
  await toProvider();
  await ida.locator("input[name=login]").waitFor(); // she is signed out there, too
});
