// Provisions people as a directory does, and has everything that the platform answers judged by SCIMMY, which holds it against the schemas of
// RFC 7643. What a patch makes of a user is compared with what scim-patch makes of it. Prints one line for each check.
import assert from 'node:assert/strict'
import { scimPatch } from 'scim-patch'
import SCIMMY from 'scimmy'

const { Schemas, Messages, Types } = SCIMMY
const [url, token] = process.argv.slice(2)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json', accept: 'application/scim+json' }

async function ask(method, path, body, want = 200) {
  const response = await fetch(`${url}/scim/v2${path}`, { method, headers, body: body && JSON.stringify(body) })
  const text = await response.text()
  assert.equal(response.status, want, `${method} ${path}: ${response.status} ${text}`)
  if (text === '') return undefined
  assert.equal(response.headers.get('content-type'), 'application/scim+json')
  return JSON.parse(text)
}

const user = (given) => {
  const read = new Schemas.User(given, 'out')
  for (const name of ['id', 'userName', 'active']) assert.deepEqual(read[name], given[name])
  assert.equal(read.name.formatted, given.name.formatted)
  assert.equal(read.meta.resourceType, 'User')
  assert.ok(read.meta.location.endsWith(`/Users/${read.id}`))
  return read
}

const list = (given, of) => {
  const read = new Messages.ListResponse(given)
  assert.equal(read.Resources.length, given.itemsPerPage)
  assert.equal(read.totalResults, given.totalResults)
  read.Resources.forEach((each) => new of(each, 'out'))
  return read
}

const config = new Schemas.ServiceProviderConfig(await ask('GET', '/ServiceProviderConfig'), 'out')
assert.equal(config.patch.supported, true)
assert.equal(config.filter.maxResults, 200)
for (const each of list(await ask('GET', '/ResourceTypes'), Schemas.ResourceType).Resources) {
  assert.equal(new Schemas.ResourceType(each, 'out').endpoint, `/${each.name}s`)
}
console.log('ok configuration and types')

// Each attribute that is declared is one of the RFC, and is not less than it is there.
for (const schema of (await ask('GET', '/Schemas')).Resources) {
  const rfc = JSON.parse(JSON.stringify(Schemas[schema.name].definition.describe()))
  assert.equal(schema.id, rfc.id)
  for (const attribute of schema.attributes) {
    const there = rfc.attributes.concat([{ name: 'externalId', type: 'string', multiValued: false }]).find((a) => a.name === attribute.name)
    assert.ok(there, `${schema.name}.${attribute.name}`)
    assert.deepEqual([attribute.type, attribute.multiValued], [there.type, there.multiValued ?? false], attribute.name)
    for (const part of attribute.subAttributes ?? []) {
      assert.equal(there.subAttributes.find((s) => s.name === part.name)?.type, part.type, `${attribute.name}.${part.name}`)
    }
  }
}
console.log('ok schemas')

// The minimal and the full user of RFC 7643, section 8, with an address as its userName.
const minimal = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'min@alpine.example' }
user(await ask('POST', '/Users', new Schemas.User(minimal, 'in'), 201))
const full = {
  ...minimal, externalId: '701984', userName: 'bjensen@alpine.example',
  name: { formatted: 'Ms. Barbara J Jensen, III', familyName: 'Jensen', givenName: 'Barbara', middleName: 'Jane', honorificPrefix: 'Ms.', honorificSuffix: 'III' },
  displayName: 'Babs Jensen', nickName: 'Babs', profileUrl: 'https://login.example.com/bjensen',
  emails: [{ value: 'bjensen@alpine.example', type: 'work', primary: true }, { value: 'babs@jensen.example', type: 'home' }],
  phoneNumbers: [{ value: '555-555-5555', type: 'work' }], userType: 'Employee', title: 'Tour Guide', preferredLanguage: 'en-US', locale: 'en-US',
  timezone: 'America/Los_Angeles', active: true,
}
let babs = user(await ask('POST', '/Users', new Schemas.User(full, 'in'), 201))
assert.equal(babs.externalId, '701984')
console.log('ok users are added')

for (const operations of [
  [{ op: 'replace', path: 'name.familyName', value: 'Jonas' }],
  [{ op: 'replace', value: { 'name.givenName': 'Babs', externalId: '8' } }],
  [{ op: 'add', path: 'externalId', value: '9' }, { op: 'replace', path: 'active', value: false }],
  [{ op: 'replace', path: 'active', value: true }, { op: 'remove', path: 'externalId' }],
]) {
  const patch = { schemas: [Messages.PatchOp.id], Operations: operations }
  new Messages.PatchOp(patch) // which throws for what is no patch
  const before = await ask('GET', `/Users/${babs.id}`)
  const want = scimPatch(structuredClone(before), structuredClone(operations))
  const got = await ask('PATCH', `/Users/${babs.id}`, patch)
  user(got)
  for (const name of ['externalId', 'active']) assert.deepEqual(got[name], want[name], JSON.stringify(operations))
  assert.deepEqual([got.name.givenName, got.name.familyName], [want.name.givenName, want.name.familyName])
}
console.log('ok users are patched')

// SCIMMY tells capital letters from small ones, which RFC 7643 does in externalId alone: the filters have them as they are.
const all = list(await ask('GET', '/Users?count=200'), Schemas.User)
for (const filter of [
  'userName eq "bjensen@alpine.example"', 'userName sw "b"', 'name.familyName co "n"', 'active eq true and not (name.givenName eq "Babs")',
  'emails[type eq "work" and value co "@alpine.example"]', 'externalId pr or userName ew ".example"', 'meta.created gt "2011-05-13T04:42:34Z"',
]) {
  const want = new Types.Filter(filter).match(all.Resources).map((each) => each.id)
  const got = list(await ask('GET', `/Users?count=200&filter=${encodeURIComponent(filter)}`), Schemas.User).Resources.map((each) => each.id)
  assert.deepEqual(got.sort(), want.sort(), filter)
}
console.log('ok filters')

const group = list(await ask('GET', `/Groups?filter=${encodeURIComponent('displayName eq "tenant: Viewer"')}`), Schemas.Group).Resources[0]
const members = async () => (new Schemas.Group(await ask('GET', `/Groups/${group.id}`), 'out').members ?? []).map((m) => m.value)
await ask('PATCH', `/Groups/${group.id}`, { schemas: [Messages.PatchOp.id], Operations: [{ op: 'add', path: 'members', value: [{ value: babs.id }] }] }, 204)
assert.ok((await members()).includes(babs.id))
await ask('PATCH', `/Groups/${group.id}`, { schemas: [Messages.PatchOp.id], Operations: [{ op: 'remove', path: `members[value eq "${babs.id}"]` }] }, 204)
assert.ok(!(await members()).includes(babs.id))
console.log('ok groups')

for (const [method, path, body, status, kind] of [
  ['GET', '/Users/0', undefined, 404], ['POST', '/Users', minimal, 409, 'uniqueness'], ['GET', '/Users?filter=a', undefined, 400, 'invalidFilter'],
]) {
  const given = await ask(method, path, body, status)
  // SCIMMY throws the errors that come from elsewhere.
  assert.throws(() => new Messages.ErrorResponse(given), (e) => e instanceof Types.Error && e.message === given.detail && String(e.status) === String(status) && e.scimType === kind)
}
await ask('DELETE', `/Users/${babs.id}`, undefined, 204)
await ask('GET', `/Users/${babs.id}`, undefined, 404)
console.log('ok errors, and users are taken out')
