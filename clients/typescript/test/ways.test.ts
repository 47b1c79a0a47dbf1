// How people get in besides by a password: what a program can do of it. The rest takes a page, and is tried in a browser.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { type CanopyError, knowsPasskeys, providerPath, trialOf } from "../dist/index.js";
import * as doc from "./operations.gql.js";
import { asked, login, own, person, program, url, weather } from "./platform.js";

afterEach(() => weather());

test("an owner sets an identity provider up, and nobody is led to it before it is turned on", async () => {
  const { session, canopy } = login();
  await session.signIn(person);
  // It is never asked: a provider that is off leads nowhere.
  const settings = { name: "Login", issuer: "https://93.184.216.34", clientId: "canopy", clientSecret: "a secret of the registration", domains: ["login.example.com"], enabled: false };
  await assert.rejects(canopy.request(doc.CreateProvider, { input: { ...settings, issuer: "http://93.184.216.34" } }), (error: CanopyError) =>
    error.code === "BAD_REQUEST" && error.faults.some(({ location }) => location.endsWith("issuer")));
  const { createIdentityProvider } = await canopy.request(doc.CreateProvider, { input: settings });
  const made = createIdentityProvider!.identityProvider;
  const { name, enabled, required, redirectUri, claims } = made;
  assert.deepEqual({ name, enabled, required }, { name: "Login", enabled: false, required: false });
  assert.match(redirectUri, /\/auth\/sso\/callback$/);
  assert.deepEqual(claims.map(({ domain, status, recordName }) => [domain, status, recordName]), [["login.example.com", "PENDING", "_canopy-challenge.login.example.com"]]);

  // Who is above gives the domain: from then on the address would lead there, if the provider were turned on.
  const given = await program("tenant").request(doc.UpdateProvider, { input: { id: made.id, domains: settings.domains, ifVersion: made.version } });
  assert.equal(given.updateIdentityProvider!.identityProvider.claims[0]!.status, "GRANTED");
  assert.equal(await session.wayIn({ email: "ida@login.example.com" }), "password");
  await assert.rejects(session.leadToProvider({ provider: made.databaseId }), (error: CanopyError) => error.reason === "sso_unknown" && error.status === 404);
  await assert.rejects(canopy.request(doc.UpdateProvider, { input: { id: made.id, name: "Late", ifVersion: made.version } }), (error: CanopyError) => error.reason === "changed");

  const { customer } = await canopy.request(doc.Providers, { id: own });
  assert.deepEqual(customer!.identityProviders.map((one) => one.id), [made.id]);
  assert.equal((await canopy.request(doc.DeleteProvider, { input: { id: made.id } })).deleteIdentityProvider!.deletedId, made.id);
});

test("an address whose way in can’t be had is not taken for one with a password", async () => {
  const { session } = login({ retries: 1 });
  await weather({ refused: "/auth/sso", times: 9, status: 503, seconds: 0 });
  await assert.rejects(session.wayIn({ email: "ida@login.example.com" }), (error: CanopyError) => error.status === 503);
  await weather({ refused: "/auth/sso", times: 1, status: 429, seconds: 0 });
  assert.equal(await session.wayIn({ email: "ida@login.example.com" }), "password");
  assert.equal(await asked("/auth/sso"), 2);
});

test("an owner makes a token for a directory, sees its last sync, and ends it", async () => {
  const { session, canopy } = login();
  await session.signIn(person);
  const { createScimToken } = await canopy.request(doc.CreateDirectory, { input: { name: "Personnel" } });
  const { scimToken, token } = createScimToken!;
  const listed = async () => (await canopy.request(doc.Directories)).me.customer.scimTokens.find((one) => one.databaseId === scimToken!.databaseId);
  const sync = () => fetch(`${url}/scim/v2/Users`, {
    method: "POST", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/scim+json" }, body: JSON.stringify({ userName: "pia@alpine.example", name: { givenName: "Pia", familyName: "New" } }),
  });
  assert.deepEqual(await listed(), { databaseId: scimToken!.databaseId, name: "Personnel", lastUsedAt: null, lastChangedAt: null });
  assert.equal((await sync()).status, 201);
  const after = await listed();
  assert.ok(after?.lastUsedAt && after.lastChangedAt);
  await canopy.request(doc.DeleteDirectory, { input: { id: scimToken!.id } });
  assert.equal(await listed(), undefined);
  assert.equal((await sync()).status, 401);
});

test("the page that leads to a provider, and what a try has come back with", () => {
  assert.equal(providerPath({ email: "a+b@corp.example" }), "/auth/sso?email=a%2Bb%40corp.example");
  assert.equal(providerPath({ provider: 7, try: true, return: "/page?x=1", fresh: false, customerId: undefined }), "/auth/sso?provider=7&try=true&return=%2Fpage%3Fx%3D1");
  const trial = { subject: "ida", email: "ida@corp.example", emailVerified: true, name: "Ída ÿ", domainHolds: false };
  const told = (what: object) => `trial=${Buffer.from(JSON.stringify(what)).toString("base64url")}`;
  assert.deepEqual(trialOf(`#${told(trial)}`), trial);
  assert.deepEqual(trialOf(`#x=1&${told({ refused: "sso_refused", detail: "No." })}`), { refused: "sso_refused", detail: "No." });
  assert.equal(trialOf("#other=1"), undefined);
  assert.equal(knowsPasskeys(), false);
});

test("a page goes on where a provider has let somebody in, and hears why not", async () => {
  const { session } = login();
  assert.equal(await session.arrived("?x=1"), false);
  assert.equal(await session.arrived("?sso=in"), false); // nobody has signed in
  await assert.rejects(session.arrived("?sso=sso_domain"), (error: CanopyError) => error.code === "FORBIDDEN" && error.reason === "sso_domain");
});
