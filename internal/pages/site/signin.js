'use strict';

// The sign-in box, and the token that it gets: window.CanopySession for the page's own script.
// The token lives in sessionStorage, so that it serves both pages of this tab; the secret or the
// password that bought it is not kept.
window.CanopySession = (() => {
  const slot = 'canopy.session';
  const listeners = [];
  const byId = (id) => document.getElementById(id);
  let timer = 0;

  function session() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(slot));
      return kept && kept.until > Date.now() ? kept : null;
    } catch {
      return null;
    }
  }

  function keep(value) {
    if (value) {
      sessionStorage.setItem(slot, JSON.stringify(value));
    } else {
      sessionStorage.removeItem(slot);
    }
    show();
    listeners.forEach((listener) => listener(authorization()));
  }

  // The value of the Authorization header; empty without a token that is still good.
  function authorization() {
    const now = session();
    return now ? `Bearer ${now.token}` : '';
  }

  function show() {
    const now = session();
    clearTimeout(timer);
    if (now) {
      timer = setTimeout(() => keep(null), now.until - Date.now());
    }
    const until = now && new Date(now.until).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
    byId('signin-state').textContent = now ? `Signed in until ${until}` : 'Sign in';
    byId('signin').classList.toggle('in', Boolean(now));
    byId('signout').hidden = !now;
  }

  function way() {
    return byId('signin-form').elements.way.value;
  }

  function showWay() {
    for (const part of document.querySelectorAll('[data-way]')) {
      part.hidden = part.dataset.way !== way();
    }
  }

  // The time at which a token ends, by its own word (RFC 7519, section 4.1.4).
  function expiry(token) {
    const claims = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(atob(claims)).exp * 1000;
  }

  async function exchangeKey(fields) {
    const { access_token: token, expires_in: seconds } = await ask('connect/token', new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: fields.client_id.value.trim(),
      client_secret: fields.client_secret.value.trim(),
      target_app: fields.target_app.value,
    }));
    return { token, until: Date.now() + seconds * 1000 };
  }

  async function logIn(fields) {
    const body = { email: fields.email.value.trim(), password: fields.password.value };
    if (fields.otp.value) {
      body.otp = fields.otp.value.trim();
    }
    const { token } = await ask('auth/token', JSON.stringify(body), { 'Content-Type': 'application/json' });
    return { token, until: expiry(token) };
  }

  async function ask(path, body, headers) {
    // Without credentials, a browser leaves a refusal to the page, and asks for no password by itself.
    const response = await fetch(path, { method: 'POST', body, headers, credentials: 'omit' });
    const answer = await response.json().catch(() => ({}));
    if (response.ok) {
      return answer;
    }
    if (answer.code === 'otp_required') {
      byId('otp-field').hidden = false;
      byId('otp').focus();
    }
    throw new Error(answer.error_description || answer.detail || `The server answered ${response.status}.`);
  }

  async function submit(event) {
    event.preventDefault();
    const form = event.target;
    const button = form.querySelector('button[type=submit]');
    byId('signin-error').textContent = '';
    button.disabled = true;
    try {
      keep(await (way() === 'key' ? exchangeKey : logIn)(form.elements));
      form.elements.client_secret.value = '';
      form.elements.password.value = '';
      form.elements.otp.value = '';
      close();
    } catch (error) {
      byId('signin-error').textContent = error.message;
    } finally {
      button.disabled = false;
    }
  }

  function close() {
    byId('signin').open = false;
    byId('signin').querySelector('summary').focus();
  }

  const form = byId('signin-form');
  form.addEventListener('submit', submit);
  form.addEventListener('change', showWay);
  byId('signout').addEventListener('click', () => {
    keep(null);
    close();
  });
  byId('signin').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
    }
  });
  document.addEventListener('pointerdown', (event) => {
    if (!byId('signin').contains(event.target)) {
      byId('signin').open = false;
    }
  });
  show();
  showWay();

  return { authorization, onChange: (listener) => listeners.push(listener) };
})();
