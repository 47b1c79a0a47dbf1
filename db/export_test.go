package db

// AuditPage is the statement of a page of audit events, for tests of its plan.
var AuditPage = auditPage
