import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { CanopyError } from "../dist/index.js";
import * as doc from "./operations.gql.js";
import { asked, login, other, own, person, program, weather } from "./platform.js";

afterEach(() => weather());

test("a person signs in, and hears why not", async () => {
  const { session, canopy } = login();
  assert.equal(await session.resume(), false);
  await assert.rejects(canopy.request(doc.Me), (error: CanopyError) => error.code === "UNAUTHENTICATED");
  await assert.rejects(session.signIn({ ...person, password: "not the password" }), (error: CanopyError) => error.status === 401 && error.code === "UNAUTHENTICATED");
  await session.signIn(person);
  const { me } = await canopy.request(doc.Me);
  assert.deepEqual(me, { email: person.email, customerId: own });
  assert.equal(session.customerId, own);
  assert.deepEqual(session.companies.map((one) => one.customerId).toSorted(), [own, other].toSorted());
});

test("all that wait for a token wait for one renewal", async () => {
  for (const key of [false, true]) {
    const { session, canopy } = key ? { session: undefined, canopy: program("tenant") } : login();
    await weather({ life: "1s" });
    await session?.signIn(person);
    await canopy.request(doc.Me);
    await new Promise((done) => setTimeout(done, 1100));
    await weather();
    await Promise.all(Array.from({ length: 10 }, () => canopy.request(doc.Me)));
    assert.equal(await asked(key ? "/connect/token" : "/auth/session/refresh"), 1);
    assert.equal(await asked("/graphql"), 10);
  }
});

test("a renewal whose answer was lost is asked for again, and the session goes on", async () => {
  const { session, canopy } = login();
  await weather({ life: "1s" });
  await session.signIn(person);
  await new Promise((done) => setTimeout(done, 1100));
  await weather({ lost: "/auth/session/refresh" });
  await canopy.request(doc.Me);
  assert.equal(await asked("/auth/session/refresh"), 2);
});

test("a program keeps the refresh token, and goes on with it", async () => {
  let kept: string | undefined;
  const keep = (token: string | undefined) => void (kept = token);
  await login({ program: { keep } }).session.signIn(person);
  const first = kept;
  const again = login({ program: { refreshToken: kept, keep } });
  assert.equal(await again.session.resume(), true);
  assert.equal((await again.canopy.request(doc.Me)).me.email, person.email);
  assert.notEqual(kept, first);
  await again.session.signOut();
  assert.equal(kept, undefined);
  await assert.rejects(again.canopy.request(doc.Me), (error: CanopyError) => error.reason === "session_ended");
  assert.equal(await login({ program: { refreshToken: first } }).session.resume(), false);
});

test("a person goes on in another company without the password", async () => {
  const { session, canopy } = login();
  await session.signIn(person);
  await session.switchTo(other);
  assert.equal((await canopy.request(doc.Me)).me.customerId, other);
  await assert.rejects(session.switchTo(1), (error: CanopyError) => error.code === "FORBIDDEN");
  assert.equal((await canopy.request(doc.Me)).me.customerId, other);
});

test("who signs out while the token is renewed stays signed out", async () => {
  const { session, canopy } = login();
  await weather({ life: "1s" });
  await session.signIn(person);
  await new Promise((done) => setTimeout(done, 1100));
  await weather();
  await Promise.allSettled([canopy.request(doc.Me), session.signOut()]);
  const before = await asked("/graphql");
  await assert.rejects(canopy.request(doc.Me), (error: CanopyError) => error.reason === "session_ended");
  assert.equal(await asked("/graphql"), before);
  assert.equal(session.customerId, undefined);
});

test("who signs out while the platform is away is signed out here, and there by another call", async () => {
  let kept: string | undefined;
  const keep = (token: string | undefined) => void (kept = token);
  const { session, canopy } = login({ program: { keep }, retries: 0 });
  await session.signIn(person);
  const token = kept;
  await weather({ refused: "/auth/session/sign-out", times: 1, status: 503 });
  await assert.rejects(session.signOut(), (error: CanopyError) => error.code === "UNAVAILABLE");
  assert.deepEqual([kept, session.customerId], [token, undefined]);
  await assert.rejects(canopy.request(doc.Me), (error: CanopyError) => error.reason === "session_ended");
  assert.equal(await asked("/auth/session/refresh"), 0);
  await session.signOut();
  assert.deepEqual([kept, await asked("/auth/session/sign-out")], [undefined, 2]);
  assert.equal(await login({ program: { refreshToken: token } }).session.resume(), false);
});

test("who was signed out elsewhere is told once", async () => {
  const ends: CanopyError[] = [];
  const { session, canopy } = login({ onEnd: (why) => ends.push(why) });
  const elsewhere = login();
  await session.signIn(person);
  await elsewhere.session.signIn(person);
  await elsewhere.canopy.request(doc.EndSessions, { input: {} });
  const outcomes = await Promise.allSettled([canopy.request(doc.Me), canopy.request(doc.Me)]);
  assert.ok(outcomes.every((one) => one.status === "rejected" && one.reason instanceof CanopyError && one.reason.reason === "session_ended"));
  assert.equal(ends.length, 1);
  await session.signIn(person);
  assert.equal((await canopy.request(doc.Me)).me.email, person.email);
});
