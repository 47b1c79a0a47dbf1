'use strict';

for (const place of document.querySelectorAll('[data-origin]')) {
  place.textContent = new URL('.', location.href).href.replace(/\/$/, '');
}

// The readiness of the server, beside its version.
async function showStatus() {
  const text = document.getElementById('status');
  const version = text.textContent;
  let good = false;
  try {
    good = (await fetch('readyz', { cache: 'no-store' })).ok;
  } catch {
    good = false;
  }
  text.textContent = [good ? 'Ready' : 'Not ready', version].filter(Boolean).join(' · ');
  document.getElementById('dot').classList.add(good ? 'good' : 'bad');
}

showStatus();
