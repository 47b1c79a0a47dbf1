package db

import (
	"context"
	"slices"
)

// pseudonym is what stands for the address of the user of an id who was erased. It is no address, so nobody can have it.
func pseudonym(id string) string { return `('erased:' || ` + id + `)` }

// ofPersons are the details of audit events that tell something of a person.
const ofPersons = `'{email,firstName,lastName,name,address,userAgent}'::text[]`

// scrubbed gives the details of audit events with a pseudonym in place of each text that tells something of user $1. Events
// from before details had an old and a new value have the bare text.
func scrubbed(details string) string {
	return `(SELECT COALESCE(jsonb_object_agg(d.name, CASE
			WHEN d.name <> ALL (` + ofPersons + `) THEN d.value
			WHEN jsonb_typeof(d.value) = 'object' THEN (SELECT COALESCE(jsonb_object_agg(v.key, CASE jsonb_typeof(v.value)
				WHEN 'string' THEN to_jsonb(` + pseudonym("$1::bigint") + `) ELSE v.value END), '{}') FROM jsonb_each(d.value) v)
			WHEN jsonb_typeof(d.value) = 'string' THEN to_jsonb(` + pseudonym("$1::bigint") + `)
			ELSE d.value END), '{}') FROM jsonb_each(` + details + `) d(name, value))`
}

var (
	qEraseUser = prepare(`
		UPDATE users SET email = ` + pseudonym("id") + `, first_name = '', last_name = '', password_hash = NULL,
			password_changed_at = GREATEST(date_trunc('second', clock_timestamp()), password_changed_at) + interval '1 second',
			otp_method = 'none', otp_secret = NULL, otp_last_step = 0, erased_at = now()
		WHERE id = $1 AND erased_at IS NULL`)
	qScrubObjects = prepare(`
		UPDATE audit_events e SET details = ` + scrubbed("e.details") + ` WHERE e.object_type = 'User' AND e.object_id = $1`)
	qScrubKeys = prepare(`
		UPDATE audit_events e SET details = ` + scrubbed("e.details") + `
		WHERE e.object_id = ANY (ARRAY(SELECT id FROM api_keys WHERE user_id = $1)) AND e.object_type = 'ApiKey'`)
	qScrubActor = prepare(`
		UPDATE audit_events e SET details = ` + scrubbed("e.details") + ` WHERE e.actor_user_id = $1 AND e.details ?| '{address,userAgent}'::text[]`)
	// What was told of the user, or of what it has done, keeps its envelope. Receivers may have answered with what they were sent.
	qScrubDeliveries = prepare(`
		UPDATE webhook_deliveries d SET payload = convert_to(jsonb_set(told.envelope, '{data,details}', '{}')::text, 'UTF8'),
			log = (SELECT COALESCE(jsonb_agg(a.attempt - 'response' ORDER BY a.n), '[]') FROM jsonb_array_elements(d.log) WITH ORDINALITY a(attempt, n))
		FROM (SELECT w.id, convert_from(w.payload, 'UTF8')::jsonb AS envelope FROM webhook_deliveries w
			WHERE w.customer_id = ANY (ARRAY(SELECT customer_id FROM audit_events WHERE object_type = 'User' AND object_id = $1
				UNION SELECT customer_id FROM audit_events WHERE actor_user_id = $1)) AND ` + ofAudit("w.type") + ` AND w.payload <> '' OFFSET 0) told
		WHERE d.id = told.id AND (told.envelope #>> '{data,actorId}' = $1::bigint::text
			OR told.envelope #>> '{data,objectId}' = $1::bigint::text AND told.envelope #>> '{data,objectType}' = 'User'
			OR told.envelope #>> '{data,objectType}' = 'ApiKey' AND (told.envelope #>> '{data,objectId}')::bigint = ANY (ARRAY(SELECT id FROM api_keys WHERE user_id = $1)))`)
	qDropSessionsOf = prepare(`DELETE FROM sessions WHERE user_id = $1`)
	qDropKeysOf     = prepare(`DELETE FROM api_keys WHERE user_id = $1`)
	qDropLinksOf    = prepare(`DELETE FROM link_tokens WHERE user_id = $1`)
	qDropMailsOf    = prepare(`DELETE FROM mail_outbox WHERE user_id = $1`)
	qDropNetworksOf = prepare(`DELETE FROM login_networks WHERE user_id = $1`)
)

// tracesOf take away what tells of a user beside the directory, and what only the home has.
var tracesOf = []query{qScrubDeliveries, qScrubObjects, qScrubKeys, qScrubActor, qDropMailsOf, qDropQueriesOf}

// EraseUser takes away whatever tells who a user is, in whichever table; what is left is a number, by which what the user has
// done stays that of one and the same. The user is to have left all companies. ErrNoRows: there is no such user, or no longer.
func (s *Store) EraseUser(ctx context.Context, id int64) error {
	return s.withoutTimeout(ctx, func(tx *Store) error {
		if err := tx.must(ctx, qEraseUser, id); err != nil {
			return err
		}
		for _, q := range slices.Concat(tracesOf, []query{
			qDropIdleOf, qDropSessionsOf, qDropKeysOf, qDropLinksOf, qDropRecoveryCodes, qDropNetworksOf, qDropEmailChange, qDropInvitationsTo, qDropIdentitiesOf, qDropPasskeysOf,
		}) {
			if _, err := tx.exec(ctx, q, id); err != nil {
				return err
			}
		}
		return nil
	})
}
