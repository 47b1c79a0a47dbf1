package db

import (
	"slices"
	"strings"
)

// The kinds of places, as docs/decisions/cells.md has them.
const (
	directory = "directory"
	homeOnly  = "home"
	data      = "data"
	local     = "local"
)

// placeOfTable is where a table's rows are once regions have cells.
type placeOfTable struct {
	kind string
	// by is the column that leads to the company of a row of data: to the directory, or to other data of the same company.
	by string
	// home are the columns of a table of the directory that no cell gets.
	home []string
}

// said are the columns of a table, by their names with spaces between.
func said(columns string) []string { return strings.Fields(columns) }

var places = map[string]placeOfTable{
	"accounts":           {kind: directory},
	"api_key_secrets":    {kind: directory},
	"api_keys":           {kind: directory},
	"app_instances":      {kind: directory},
	"applications":       {kind: directory},
	"cells":              {kind: directory, home: said("schema_version seen_at")},
	"customer_limits":    {kind: directory},
	"customer_words":     {kind: directory},
	"customers":          {kind: directory},
	"default_limits":     {kind: directory},
	"former_members":     {kind: directory},
	"identity_providers": {kind: directory, home: said("client_secret")},
	"invitations":        {kind: directory},
	"limbs":              {kind: directory},
	"member_names":       {kind: directory},
	"memberships":        {kind: directory},
	"moved_ids":          {kind: directory},
	"moved_runs":         {kind: directory},
	"permissions":        {kind: directory},
	"pulse":              {kind: directory},
	"regions":            {kind: directory},
	"roles":              {kind: directory},
	"sessions":           {kind: directory, home: said("key user_agent address")},
	"signing_keys":       {kind: directory},
	"splits":             {kind: directory},
	"subtree_users":      {kind: directory},
	"users":              {kind: directory, home: said("password_hash otp_secret otp_last_step")},

	"billing":            {kind: homeOnly},
	"cell_erasures":      {kind: homeOnly},
	"customer_imports":   {kind: homeOnly},
	"domain_claims":      {kind: homeOnly},
	"email_changes":      {kind: homeOnly},
	"events_for_cells":   {kind: homeOnly},
	"import_requests":    {kind: homeOnly},
	"link_tokens":        {kind: homeOnly},
	"login_networks":     {kind: homeOnly},
	"minutes_told":       {kind: homeOnly},
	"passkeys":           {kind: homeOnly},
	"provider_sessions":  {kind: homeOnly},
	"recovery_codes":     {kind: homeOnly},
	"scim_tokens":        {kind: homeOnly},
	"scim_users":         {kind: homeOnly},
	"spanning_customers": {kind: homeOnly},
	"used_states":        {kind: homeOnly},
	"user_identities":    {kind: homeOnly},

	"agent_revisions":       {kind: data, by: "agent_id"},
	"agents":                {kind: data, by: "account_id"},
	"audit_events":          {kind: data, by: "customer_id"},
	"chunks":                {kind: data, by: "document_id"},
	"context_changes":       {kind: data, by: "context_id"},
	"context_deferrals":     {kind: data, by: "context_id"},
	"context_queries":       {kind: data, by: "context_id"},
	"context_reprocessings": {kind: data, by: "context_id"},
	"context_sizes":         {kind: data, by: "context_id"},
	"contexts":              {kind: data, by: "account_id"},
	"customer_exports":      {kind: data, by: "customer_id"},
	"documents":             {kind: data, by: "context_id"},
	"removed_secrets":       {kind: data, by: "customer_id"},
	"run_steps":             {kind: data, by: "run_id"},
	"runs":                  {kind: data, by: "account_id"},
	"secrets":               {kind: data, by: "customer_id"},
	"vector_blocks":         {kind: data, by: "document_id"},
	"webhook_deliveries":    {kind: data, by: "customer_id"},
	"webhook_destinations":  {kind: data, by: "customer_id"},
	"webhook_due":           {kind: data, by: "destination_id"},

	"blob_deletions":    {kind: local},
	"cell":              {kind: local},
	"delivery_holds":    {kind: local},
	"delivery_look":     {kind: local},
	"erased_people":     {kind: local},
	"goose_db_version":  {kind: local},
	"heard_events":      {kind: local},
	"idempotency_bytes": {kind: local},
	"idempotency_keys":  {kind: local},
	"limit_notices":     {kind: local},
	"mail_outbox":       {kind: local},
	"sealing_keys":      {kind: local},
	"tree_changes":      {kind: local},
	"usage_counts":      {kind: local},
	"use_marks":         {kind: local},
	"counts_elsewhere":  {kind: local},
}

func tablesIn(kind string) (tables []string) {
	for table, p := range places {
		if p.kind == kind {
			tables = append(tables, table)
		}
	}
	slices.Sort(tables)
	return tables
}
