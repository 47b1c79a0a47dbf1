package db

// AuditPage is the statement of a page of audit events, for tests of its plan.
var AuditPage = auditPage

// SealedColumns names all that is sealed.
func SealedColumns() (list []string) {
	for _, c := range sealedColumns {
		list = append(list, c.Name())
	}
	return list
}

// UsersInScope is the statement of users by their ids, for tests of its plan.
var UsersInScope = statements[qUsersByID]

// Statements are the texts of all that is prepared.
var Statements = statements
