#!/usr/bin/env bash
# A tour of the API with curl and jq: tokens, the tree of companies, people and what they may, documents
# and search, agents and runs, and the log of all that. Start the platform with `make run`, and then this
# from the folder that holds .data: examples/tour/tour.sh
#
# Elsewhere set CANOPY_URL, CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET, to a key that may add companies.
# The tour removes what it made, but for a company and a user, which stay.
set -euo pipefail
cd "$(dirname "$0")/../.."

dev=${CANOPY_DEV_FILE:-.data/dev.json}
url=${CANOPY_URL:-$(jq -r .url "$dev")}
id=${CANOPY_CLIENT_ID:-$(jq -r .clientId "$dev")}
secret=${CANOPY_CLIENT_SECRET:-$(jq -r .clientSecret "$dev")}

say() { printf '\n== %s\n' "$*"; }

# Each application has tokens of its own; they live for 15 minutes.
token() { # application
    curl -sS --fail-with-body "$url/connect/token" -d grant_type=client_credentials \
        --data-urlencode "client_id=$id" --data-urlencode "client_secret=$secret" -d target_app="$1" | jq -er .access_token
}

rest() { # token method path [body]
    curl -sS --fail-with-body -X "$2" "$url$3" -H "Authorization: Bearer $1" ${4:+-H 'Content-Type: application/json' -d "$4"}
}

# GraphQL answers 200 with errors beside what it has: jq ends the tour where there are any.
graphql() { # token query [variables]
    jq -n --arg query "$2" --argjson variables "${3:-null}" '{$query, $variables}' |
        curl -sS --fail-with-body "$url/graphql" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' -d @- |
        jq -e 'if .errors then error(.errors[0].message) else .data end'
}

say "tokens"
tenant=$(token tenant) assistant=$(token assistant) builder=$(token builder)
echo "three tokens, one for each application"

say "who am I, by REST and by GraphQL"
rest "$tenant" GET /tenant | jq -c '{company: .customer.name, email: .identity.email}'
graphql "$tenant" '{ me { user { name } grants { application roleName } } customer { name path level } }' | jq -c .

say "the companies below, in the order of the tree"
graphql "$tenant" '{ customer { descendants(first: 5) { totalCount nodes { path } pageInfo { hasNextPage endCursor } } } }' |
    jq -r '.customer.descendants | "\(.totalCount) companies; the first are", (.nodes[] | "  " + .path)'

say "a new company in a region that takes new companies"
region=$(rest "$tenant" GET /region/available | jq -e '.[0].id')
company=$(rest "$tenant" POST /tenant/customer "$(jq -n --argjson r "$region" \
    '{name: "Tour Ltd", regionId: $r, email: "owner@tour.example", firstName: "Toni"}')" | jq -e .id)
rest "$tenant" GET "/tenant/$company" | jq -c '{name: .customer.name, region: .customer.region.name, ancestors: [.ancestors[].name]}'

say "a permission for somebody who is new: the choices lead to it, one by one"
choose() { rest "$tenant" GET "/permission/options$1?cid=$company"; }
application=$(choose "" | jq -e '.applications[0].value')
place=$(choose "/$application" | jq -e '.regions[0].value')
account=$(choose "/$application/$place" | jq -e '.accounts[0].value')
role=$(choose "/$application/$place/$account" | jq -e '.roles[] | select(.title == "Viewer").value')
grant=$(jq -n --argjson a "$account" --argjson r "$role" '{appAccountId: $a, appRoleId: $r, email: "vera@tour.example", name: "Vera View"}')
permission=$(rest "$tenant" POST /permission "$grant" | jq -e .id)
graphql "$tenant" 'query($id: ID!) { customer(id: $id) { users { nodes { email name permissions { nodes { role { name } application { name } } } } } } }' \
    "{\"id\": $company}" | jq -c '.customer.users.nodes[] | select(.email == "vera@tour.example")'

say "the same once more is refused, in a sentence"
(rest "$tenant" POST /permission "$grant" 2>/dev/null || true) | jq -c '{status, detail}'
rest "$tenant" DELETE "/permission/$permission"

say "a context with a document"
context=$(rest "$assistant" POST /context '{"name": "Tour", "description": "Answer from the parts list.", "caption": "Spare parts", "toolsJson": "[]"}' | jq -e .id)
curl -sS --fail-with-body "$url/context/upload/$context" -H "Authorization: Bearer $assistant" -F file=@docs/samples/spare-parts.csv | jq -c '{document: .}'
tries=0
until rest "$assistant" GET "/context/documents/$context" | jq -e 'all(.status == "ready")' >/dev/null; do
    [ $((tries += 1)) -le 60 ] || { echo "the document is not ready after a minute: is a worker running?" >&2; exit 1; }
    sleep 1
done
rest "$assistant" GET "/context/documents/$context" | jq -c '.[] | {originalName, status, chunks}'

say "what is closest to a question"
rest "$assistant" POST "/context/relevant-docs/$context" '{"prompt": "Who supplies the vibration sensors?"}' |
    jq -r '.[0].content' | grep Vibration

say "an agent that asks the context, as a job"
agent=$(graphql "$builder" 'mutation($in: CreateAgentInput!) { createAgent(input: $in) { agent { databaseId } } }' '{"in": {"name": "Tour guide", "diagram": {
    "steps": [{"id": "hits", "type": "search", "contextId": "{{ input.context }}", "prompt": "{{ input.question }}", "topN": 1}],
    "output": {"answer": "{{ steps.hits[0].content }}"}}}}' | jq -e .createAgent.agent.databaseId)
graphql "$builder" 'mutation($id: ID!) { publishAgent(input: {id: $id}) { agent { name runnable } } }' "{\"id\": $agent}" | jq -c .publishAgent.agent
job=$(rest "$builder" POST "/CognitiveDiagram/$agent/ExecuteAsJob" "{\"context\": $context, \"question\": \"vibration sensors\"}" | jq -er .jobKey)
tries=0
while run=$(rest "$builder" GET "/job/$job") && jq -e '.status == "running"' <<<"$run" >/dev/null; do
    [ $((tries += 1)) -le 60 ] || { echo "the run has not ended after a minute: is a worker running?" >&2; exit 1; }
    sleep 1
done
jq -r '.status, .outputData.answer' <<<"$run" | grep -E 'finished|Vibration'

say "the events that a webhook would have brought"
rest "$builder" GET /v1/outbound-webhooks/catalog | jq -c '[.events[].type]'

say "all of it is in the log"
graphql "$tenant" '{ auditEvents(first: 4) { nodes { action objectType objectId } } }' | jq -c '.auditEvents.nodes[]'

say "tidying up"
graphql "$builder" 'mutation($id: ID!) { deleteAgent(input: {id: $id}) { deletedId } }' "{\"id\": $agent}" >/dev/null
rest "$assistant" DELETE "/context/$context" | jq -c .
