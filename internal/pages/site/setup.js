'use strict';

const byId = (id) => document.getElementById(id);

// What the link of a mail is for: a password, which the console's screens set, or a change of the address, which it confirms or stops.
// Its token is best in the fragment, which never leaves the browser; the query is taken too. Either way the address bar forgets it at once.
function takeLink() {
  for (const part of [location.hash, location.search]) {
    const given = new URLSearchParams(part.slice(1));
    const kind = ['token', 'email', 'stop'].find((name) => given.get(name));
    if (kind) {
      history.replaceState(null, '', location.pathname);
      return { token: given.get(kind), kind, given };
    }
  }
  return { token: '', kind: '' };
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
    return 'This link is not known, was used already, or has expired.';
  }
  return problem.detail ? sentence(problem.detail) : 'Something went wrong on the server. Please try again later.';
}

function sentence(text) {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
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
    byId('address-error').textContent = '';
    let waits = false;
    const refused = await busy(form, () => post('auth/email', { token }, (status) => { waits = status === 202; }));
    if (refused) {
      byId('address-error').textContent = refused;
      return;
    }
    form.hidden = true;
    byId('address-done').textContent = stops ? 'Your address stays as it is.'
      : waits ? 'Confirmed. The new address is yours once the other one has confirmed it, too.' : 'The new address is yours now.';
    byId('renew').hidden = !stops;
  });
}

const link = takeLink();
if (link.kind === 'email' || link.kind === 'stop') {
  settle(link);
  byId('address').hidden = false;
} else {
  location.replace(link.token ? `console/set-password#${link.given}` : 'console/reset');
}
