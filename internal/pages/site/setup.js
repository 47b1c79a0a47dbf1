'use strict';

const minLength = 10;
const byId = (id) => document.getElementById(id);

// The token of the link, and what it is for: a password, as that of a reset or not, or a change of the address, which it confirms
// or stops. They are best in the fragment, which never leaves the browser; the query is taken too. Either way the address
// bar forgets them at once.
function takeLink() {
  for (const part of [location.hash, location.search]) {
    const given = new URLSearchParams(part.slice(1));
    const kind = ['token', 'email', 'stop'].find((name) => given.get(name));
    if (kind) {
      history.replaceState(null, '', location.pathname);
      return { token: given.get(kind), kind, reset: given.has('reset') };
    }
  }
  return { token: '', kind: '', reset: false };
}

// Posts JSON, and gives '' where that went well, or a sentence on what did not. What went well is told by its status.
async function post(path, body, tell = () => {}) {
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, application/problem+json' },
      body: JSON.stringify(body),
    });
  } catch {
    return 'The server can’t be reached. Please check your connection and try again.';
  }
  if (response.ok) {
    tell(response.status);
    return '';
  }
  if (response.status === 429) {
    return 'Too many tries. Please wait a minute and try again.';
  }
  const problem = await response.json().catch(() => ({}));
  return told(problem);
}

// What a problem (RFC 9457) says, in the words of this page where it is about one of its fields.
function told(problem) {
  const fault = (problem.errors || [])[0] || {};
  const field = (fault.location || '').split('.').pop();
  if (field === 'token') {
    return 'This link is not known, was used already, or has expired. Get a new one below.';
  }
  if (field === 'password' || field === 'email') {
    return sentence(`${field === 'email' ? 'The address' : 'The password'} ${fault.message}`);
  }
  return problem.detail ? sentence(problem.detail) : 'Something went wrong on the server. Please try again later.';
}

function sentence(text) {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

// Shows a fault and moves to the field that it is about.
function fault(box, text, field) {
  byId(box).textContent = text;
  for (const input of byId(box).closest('form').querySelectorAll('input')) {
    if (input === field) {
      input.setAttribute('aria-invalid', 'true');
      input.focus();
    } else {
      input.removeAttribute('aria-invalid');
    }
  }
}

// Runs while a form's button is off, so that nothing is sent twice.
async function busy(form, run) {
  const button = form.querySelector('button[type=submit]');
  button.disabled = true;
  try {
    return await run();
  } finally {
    button.disabled = false;
  }
}

function lengthOf(text) {
  return [...text].length;
}

function showStrength() {
  const length = lengthOf(byId('password').value);
  byId('password-meter').value = Math.min(length, 20);
  let text = '';
  if (length > 0 && length < minLength) {
    text = `Too short: ${minLength - length} more to go.`;
  } else if (length >= minLength) {
    text = length < 15 ? 'Long enough. Longer is better.' : 'A good length.';
  }
  byId('password-strength').textContent = text;
}

function passwordFault() {
  const password = byId('password');
  const again = byId('again');
  if (lengthOf(password.value) < minLength) {
    return [`The password needs at least ${minLength} characters.`, password];
  }
  if (password.value !== again.value) {
    return ['The two passwords are not the same.', again];
  }
  return null;
}

function setUp({ token, reset }) {
  const form = byId('setup-form');
  byId('revoke-field').hidden = !reset;
  byId('password').addEventListener('input', showStrength);
  byId('show').addEventListener('change', (event) => {
    for (const id of ['password', 'again']) {
      byId(id).type = event.target.checked ? 'text' : 'password';
    }
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const wrong = passwordFault();
    if (wrong) {
      fault('setup-error', ...wrong);
      return;
    }
    fault('setup-error', '', null);
    const choice = reset ? { revokeKeys: byId('revoke').checked } : {};
    const refused = await busy(form, () => post('auth/setup', { token, password: byId('password').value, ...choice }));
    if (refused) {
      fault('setup-error', refused, null);
      byId('renew').hidden = false;
      return;
    }
    form.reset();
    byId('choose').hidden = true;
    byId('renew').hidden = true;
    byId('done').hidden = false;
    byId('done-title').focus();
    document.title = 'Your password is set · Canopy';
  });
}

function renew() {
  const form = byId('reset-form');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const email = byId('email');
    byId('reset-done').textContent = '';
    if (!email.value.includes('@') || !email.checkValidity()) {
      fault('reset-error', 'Please enter the e-mail address of your account.', email);
      return;
    }
    fault('reset-error', '', null);
    const refused = await busy(form, () => post('auth/reset', { email: email.value }));
    if (refused) {
      fault('reset-error', refused, null);
      return;
    }
    byId('reset-done').textContent = 'If there is an account with this address, a link is on its way.';
    form.reset();
  });
}

// Confirms a new address, or keeps the one before it.
function settle({ token, kind }) {
  const stops = kind === 'stop';
  if (stops) {
    byId('address-title').textContent = 'Keep your address';
    byId('address-hint').textContent = 'Somebody who knows your password wants to put another in its place: set a new password, too.';
    byId('address-button').textContent = 'Keep my address';
  }
  document.title = `${byId('address-title').textContent} · Canopy`;
  const form = byId('address-form');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    fault('address-error', '', null);
    let waits = false;
    const refused = await busy(form, () => post('auth/email', { token }, (status) => { waits = status === 202; }));
    if (refused) {
      fault('address-error', refused.replace(' Get a new one below.', ''), null);
      return;
    }
    form.hidden = true;
    byId('address-done').textContent = stops ? 'Your address stays as it is.'
      : waits ? 'Confirmed. The new address is yours once the other one has confirmed it, too.' : 'The new address is yours now.';
    byId('renew').hidden = !stops;
  });
}

const link = takeLink();
const aboutAddress = link.kind === 'email' || link.kind === 'stop';
setUp(link);
renew();
if (aboutAddress) {
  settle(link);
}
byId('address').hidden = !aboutAddress;
byId('choose').hidden = !link.token || aboutAddress;
byId('renew').hidden = Boolean(link.token);
