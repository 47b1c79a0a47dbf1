'use strict';

const here = new URL('.', location.href).href;

// The session's token goes with what "Try it out" sends to this server, unless the reader has
// authorized in the reference itself.
function authorize(request) {
  const authorization = CanopySession.authorization();
  if (authorization && request.url.startsWith(here) && !request.headers.Authorization) {
    request.headers.Authorization = authorization;
  }
  return request;
}

window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#app',
  deepLinking: true,
  // Tags open one by one: the reference does not get through with all of their operations at once.
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  showExtensions: false,
  validatorUrl: null,
  requestInterceptor: authorize,
  syntaxHighlight: { activated: false },
});
