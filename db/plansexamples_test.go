package db

// The scope of the examples is the root's, as a plan that reads a whole scope reads most there.
const scopeFrom, scopeTo = "{1}", "{2}"

// few is for what reads no more than usual.
func few(args ...any) example { return example{asked: [][]any{args}, most: usual} }

// noArchive is the SHA-256 of no archive that there is.
const noArchive = `\x0000000000000000000000000000000000000000000000000000000000000000`

// within is few for a statement that begins with the bounds of the scope.
func within(args ...any) example { return few(append([]any{scopeFrom, scopeTo}, args...)...) }

// and runs the statement with other arguments, too.
func (e example) and(args ...any) example {
	e.asked = append(e.asked, args)
	return e
}

// whole is for what reads all that belongs to something, of which the data have a thousand at most.
func whole(reason string, args ...any) example {
	return example{asked: [][]any{args}, most: 3_500, reason: reason}
}

// atWork is for what may read all that is at work, two rows of a hundred in the data, some times over.
func atWork(args ...any) example {
	return example{asked: [][]any{args}, most: 200, perCompany: .5, reason: "it looks at what is at work"}
}

// sweeps is for what reads a table from one end to the other, once in a while.
func sweeps(args ...any) example {
	return example{asked: [][]any{args}, most: usual, perCompany: .11, reason: "it reads the whole table, once in a while"}
}

// others is for what reads no table.
func others(reason string) example { return example{reason: reason} }

// tellExample are the arguments of two audit events and an event.
var tellExample = []any{
	"{299,299}", "{299,0}", "{\"\",c}", "{run.started,agent.created}", "{Run,Agent}", "{1,2}", "{\"{}\",\"{}\"}", "{run.started,agent.created}",
	"{299}", "{e}", "{run.finished}", "{x}", "{run.finished}", "{t}", "{f}",
}

var examples = map[query]example{
	// accounts.go
	qAccountsByID:       within("{299}"),
	qAccountForUpdate:   within(299),
	qOpenAccounts:       few(299, "New", "{1,2,3}", 299, 0, "Role 0"),
	qSetAccountDisabled: few(299, true),
	qAccountForRole:     few(299, 1),

	// agents.go
	qAgentsByID:     within("{299}"),
	qAgentForUpdate: within(299),
	qAgentIDs:       few(2, 299, "{agent.created}"),
	qMakeAgents: few(append(append([]any{false}, tellExample...), "{9000000001,9000000002}", "{299,299}", "{New,Newer}", "{\"{}\",\"{}\"}", "{t,t}", "{0,5}")...).
		and(append(append([]any{true}, tellExample...), "{9000000001,9000000002}", "{299,299}", "{New,Newer}", "{\"{}\",\"{}\"}", "{t,t}", "{0,5}")...),
	qUpdateAgent:    few(299, "New", "{}", 299, true),
	qDeleteAgent:    few(299),
	qRestoreAgent:   within(299, 2592000),
	qInsertRevision: few(5, "{}", 0),
	qRevisionsByID:  few("{299}"),
	qRevision:       within(299),

	// apikeys.go
	qAPIKey:           within(299),
	qAPIKeyByClient:   within("client 299"),
	qAPIKeyOf:         few(299),
	qAPIKeyForUpdate:  within(299),
	qInsertAPIKey:     few("new", 299, 299, "New", nil, 0, nil, nil),
	qMaxKeyDays:       few(299),
	qInsertSecret:     few(299, `\x`+"0000000000000000000000000000000000000000000000000000000000000000"),
	qRetireSecrets:    few(299, "2030-01-01"),
	qDropSecrets:      few(299),
	qKeepNewestSecret: few(299),
	qRevokeAPIKey:     few(299),

	qNoTimeout:    others("a setting"),
	qSortByPieces: others("a setting"),

	// audit.go
	qWithin:      few(299, 7).and(5, 5),
	qAuditEvent:  within(299),
	qAuditWindow: within("2020-01-01", 0, "2100-01-01"),

	// operations.go
	qLateMails:  few(100),
	qFailing:    few(100),
	qBusiest:    few("runsPerDay", 20),
	qNearLimits: few(100),

	// billing.go
	qBilling:     within("{299}"),
	qSaveBilling: within(299, "x", "x", "x", "x", "x", "x", "x", "x", "US"),

	// blobs.go
	qNewestOriginal: few(),
	qLeaseBlobs:     few(20, 60),
	qReleaseBlobs:   few("{50000000,50000001}"),
	qClaimBlob:      few(50000000, 0, 60),
	qBlobGone:       few(50000000),
	qBeginBlob:      few("documents/z", 86400),
	qKeepBlob:       few("documents/z"),
	qLoneOriginals:  few("{documents/x,documents/y}", 10),
	qLoneArchives:   few("{imports/x,imports/y}", 8),
	qDropBlobs:      few("{documents/x,documents/y}"),

	// contextqueries.go
	qContextQuery:  few(299, 0, 299),
	qKeepQueries:   few("{299}", "{5}", "{words}", "{LEXICAL}", "{0}", "{0}"),
	qPruneQueries:  few(299, 10000),
	qDropQueries:   few(299),
	qDropQueriesOf: few(299),
	qForgetQueries: whole("it looks at a batch", 60, 100, 500),

	// chunks.go
	qChunk:         few(299, 0, 299),
	qChunkCounts:   few("{299,5}"),
	qStillOf:       few("{299,5}", 0),
	qFoundChunks:   few("{299}", "{299,5}"),
	qChunksAsKnown: few(299, 0, 299, 1, 0, 0, "{299,5}"),
	qInsertChunks:  few(201, 0, "{5}", "{x}", "{0}", "{1}", "{0}", "{x}", "{0}", "{NULL}"),

	// contexts.go
	qContext:          few(299, 0, 299),
	qDeskOfRun:        few(299, 299, 299, nil, "x", "tenant"),
	qContextForUpdate: few(299, 0, 299),
	qContextsByID:     few(299, 0, "{299}"),
	qInsertContext:    few(299, 299, "New", "", "", "[]", "{}", "m"),
	qUpdateContext:    few(299, "New", "", "", "[]", "{}", 5, 0, 1000, .2, "m", "HYBRID", .5, true),
	qShareContext:     few(299, 1, ""),
	qDeleteContext:    few(299),
	qBumpContext:      few(299),
	qBumpDocument:     few(299, 299),

	// customers.go
	qCustomersByID:     within("{299}"),
	qRoot:              few(),
	qCustomerForUpdate: within(299),
	qHoldParent:        within(299),
	qCustomerRefs:      few("{1,2,299}"),
	qSubtree:           within("{1,5}", 20),
	qAncestorsAllow:    few("{299,5}"),
	qInsertCustomer:    few(299, "New", 1, true, true),
	qUpdateCustomer:    within(299, "New", true, true, nil),

	// customererasure.go
	qDueErasures:         few(100),
	qDueInCell:           few(100),
	qCompaniesBelow:      few(299, "{}", 100),
	qEraseHeldSecrets:    few("{299}"),
	qEraseRemovedSecrets: few("{299}"),
	qEraseExports:        few("{299}"),
	qEraseNotices:        few("{299}"),
	qEraseHolds:          few("{299}"),
	qEraseCounts:         few("{299}"),
	qErasedPeople:        few(100),
	qForgetErased:        few(299),
	qHoldErasure:         few(299),
	qLastCompanies:       few(299, 100),
	qEraseRequests:       few("{299}", 10),
	qErasePending:        few("{200}", 10),
	qEraseDeliveries:     few("{299}", 10),
	qEraseEvents:         few("{299}", 10),
	qEraseMovedEvents:    few("{299}", 10, 1000000000),
	qEraseSessions:       few("{299}", 10),
	qEraseKeys:           few("{299}", 10),
	qEraseInvitations:    few("{299}", 10),
	qEraseTreeChanges:    few("{299}", 10),
	qEraseFormer:         few("{299}", 10),
	qEraseDestinations:   few("{299}", 10),
	qEraseRuns:           few("{299}", 10),
	qErasePublished:      few("{299}", 10),
	qEraseRevisions:      few("{50000299}", 10),
	qEraseAgents:         few("{50000299}", 10),
	qEraseChunks:         few("{299}", 10),
	qEraseBlocks:         few("{299}", 10),
	qEraseDocuments:      few("{299}", 10),
	qEraseQueries:        few("{299}", 10),
	qEraseContexts:       few("{299}", 10),
	qErasePermissions:    few("{299}", 10),
	qMembersToErase:      few("{299}", 10),
	qHoldUsers:           few("{299}"),
	qEraseMemberships:    few("{299}", "{299}"),
	qHomeless:            few("{299}"),
	qHoldCompanies:       few("{299}"),
	qEraseReports:        few("{299}"),
	qEraseAccounts:       few("{50000299}"),
	qEraseCompanies:      few("{50000299}"),

	// customerstatus.go
	qDeleteCustomer:             within(299, 60),
	qRestoreCustomer:            within(299),
	qSuspended:                  few(299),
	qSuspendCustomer:            within(299, true),
	suspendedRuns.setAside:      atWork(1000),
	suspendedRuns.takeBack:      atWork(1000),
	suspendedDocuments.setAside: atWork(1000),
	suspendedDocuments.takeBack: atWork(1000),

	// deliveries.go
	qDelivery:      within(299),
	qDeliveriesNow: within("{299}", 299),
	qCaptured:      few("{299,298}"),
	qTell:          few(tellExample...),
	qEmitTest:      few(299, 299, "e", "t", "x"),
	qResend:        few(299),
	qRecover:       whole("it looks at what a destination was sent since", 5, 5, "2020-01-01", true),
	qAuditPending:  whole("it looks at what is on its way to a destination", 5),

	// destinations.go
	qDestinationsByID:         within("{299}"),
	qDestinationForUpdate:     within(299),
	qInsertDestination:        few(299, "https://x", "", nil, "SPEC"),
	qUpdateDestination:        few(299, "https://x", "", nil, true, "SPEC"),
	qDeleteDestination:        few(299),
	qRestorableDestination:    within(299, 2592000),
	qRestoreDestination:       within(299, 2592000),
	qForgetDestinationSecrets: few(2592000, 20),
	qSetSecret:                few(299, "x"),
	qSetNextSecret:            few(299, "x", "2100-01-01"),
	qSigningSecrets:           few(299),
	qFailingDestinations:      few(60, 1),
	qAutoDisable:              few(299),
	qOwnersOf:                 few(298),
	qOwnersInCell:             few(298),

	// documents.go
	qDocument:          few(299, 0, 299),
	qOriginal:          few(299),
	qDocumentForUpdate: few(299, 0, 299),
	qDocumentsByID:     few(299, 0, "{299}"),
	qStored:            few(5, "a.txt"),
	qInsertDocument:    few(299, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a", "a", 1, "txt", "text/plain", "h", 1, 299, "{}"),
	qUpdateDocument:    few(299, "a.txt", `{"lang": "de"}`),
	qFittingDocuments:  whole("it looks at the attributes of a context's documents", "{5}", `exists($."lang" ? (@ == "de"))`),
	qDeleteDocument:    few(299),
	qDropDocumentBlob:  few(299),
	qDropContextBlobs:  few(299),
	qContextIsLarge:    few(299),
	qDocumentIsLarge:   few(299),
	qHideContext:       few(299, 0),
	qRestoreContext:    few(299, 0, 299),
	qHoldHidden:        few(),
	qDeletedContexts:   few(299, 0, 20),
	qContextErasures:   few(299, 0, 20),

	// removeddocuments.go
	qKeepRemoved:      few(299, 60),
	qTakeDocument:     few(299, 20000005),
	qAddSize:          few(299, 1),
	qRemovedHome:      few(299, 0, 20000299),
	qRemovedDocument:  few(299, 0, 20000299),
	qNameTaken:        few(5, "a.txt", 5),
	qOtherModel:       few(5),
	qReturnDocument:   few(20000299, 299),
	qNameAnew:         few(299, 1, "a.txt"),
	qForgetHomeless:   few(299),
	qDeletedDocuments: few("{299,5}", 20),

	// documents.go, processed
	qEraseBegin:       few(299),
	qEraseFirstChunks: few(299),
	qEraseFirstBlocks: few(299),
	qEraseFirst:       few(299),
	qEraseAsked:       few(299),
	qEraseOn:          few(299, 5100),
	qReprocess:        few(299),

	// deferring.go
	qHoldDeferred:    few(),
	qDeferralWork:    few(299),
	qNextUnprocessed: few(299, 0, 10),
	qDeferDocuments:  few(299, "{299}"),
	qRecallDocuments: few(299, "{299}"),
	qDeferOn:         few(299, 299),
	qEndDeferral:     few(299),

	// reprocessing.go
	qStartReprocessing:  few(299),
	qHoldReprocessed:    few(),
	qReprocessingWork:   few(299),
	qReprocessSome:      few(299, 0, 299, 10),
	qBumpDocuments:      few(299, "{299}"),
	qReprocessingOn:     few(299, 299, 1, 1),
	qEndReprocessing:    few(299),
	qCancelReprocessing: few(299),
	qReprocessings:      few("{299,5}"),
	qUnpin:              few(299),

	// emailchanges.go
	qInsertEmailChange: few(299, "x@x.example", `\x0000000000000000000000000000000000000000000000000000000000000000`, `\x0100000000000000000000000000000000000000000000000000000000000000`,
		`\x0200000000000000000000000000000000000000000000000000000000000000`, "2100-01-01"),
	qMarkEmailChange:   few(299, "agree"),
	qEmailChange:       few(`\x00`),
	qDropEmailChange:   few(299),
	qSetEmail:          few(299, "x@x.example"),
	qEmailTaken:        few("user7@x.example", 299),
	qSweepEmailChanges: few(),

	// erasure.go
	qEraseUser:       few(299),
	qScrubObjects:    few(299),
	qScrubKeys:       few(299),
	qScrubActor:      few(299),
	qScrubDeliveries: whole("it looks at the deliveries of companies", 299),
	qDropSessionsOf:  few(299),
	qDropKeysOf:      few(299),
	qDropLinksOf:     few(299),
	qDropMailsOf:     few(299),
	qDropNetworksOf:  few(299),

	// exportrows.go
	qExportCustomer:     few(299, 0, 200),
	qExportBilling:      few(299, 0, 200),
	qExportUsers:        few(299, 0, 200),
	qExportInvitations:  few(299, 0, 200),
	qExportRoles:        few(299, 0, 200),
	qExportAccounts:     few(299, 0, 200),
	qExportPermissions:  few(299, 0, 200).and(5, 0, 20),
	qExportAPIKeys:      few(299, 0, 200).and(5, 0, 20),
	qExportSecrets:      few(299, 0, 200),
	qExportProviders:    few(299, 0, 200),
	qExportDestinations: few(299, 0, 200),
	qExportDeliveries:   few(299, "0001-01-01", 0, 200).and(5, "0001-01-01", 0, 20),
	qExportAuditEvents:  few(299, "0001-01-01", 0, 200).and(5, "0001-01-01", 0, 20),
	qExportContexts:     few(299, 0, 200).and(5, 0, 20),
	qExportDocuments:    few(299, 0, 200).and(5, 0, 20),
	qExportAgents:       few(299, 0, 200).and(5, 0, 20),
	qExportRevisions:    few(299, 0, 200).and(5, 0, 20),
	qExportRuns:         few(299, "0001-01-01", 0, 200).and(5, "0001-01-01", 0, 20),
	qHiddenContexts:     whole("it counts what is private in a company", 5),
	qIsBelow:            few(299, 5),
	qExportTop:          few(299),
	qCountBelow:         few(299),

	// exports.go
	qDropExport:        few(299),
	qInsertExport:      few(300, "user:1", "{company.read}"),
	qExport:            within(299),
	qArchive:           few(299),
	qLeaseExport.query: atWork(2, 30),
	qReleaseExports:    few("{299}", "{0}"),
	qClaimExport:       few(299, 0, 30),
	qRenewExport:       few(299, 0, 30, .5),
	qLateExport:        few(299, 0, 30),
	qEndExport:         few(299, 0, "READY", 30),
	qForgetExports:     few(100),

	// importrequests.go
	qInsertImportRequest:      few(5, 299, "", "00000000-0000-4000-8000-000000000007", noArchive, 1, false),
	qSameImportRequest:        few(5, noArchive, false),
	qCountImportRequests:      few(10),
	qImportRequest:            within(299),
	qImportRequestForUpdate:   within(299),
	qLeaseImportRequest.query: atWork(2, 30),
	qReleaseImportRequests:    few("{299}", "{0}"),
	qClaimImportRequest:       few(299, 0, 30),
	qRenewImportRequest:       few(299, 0, 30, .5),
	qLateImportRequest:        few(299, 0, 30),
	qNoteMade:                 few(299, 0, 5),
	qEndImportRequest:         few(299, 0, "READY", 5, "{}", nil, 30),
	qCancelImportRequest:      few(299, 30),
	qForgetImportRequests:     few(100),

	// imports.go
	qLockImport:    few(1, noArchive),
	qImport:        few(1, noArchive),
	qInsertImport:  few(300, 1, noArchive, "00000000-0000-4000-8000-000000000001", true, "{}"),
	qNoteOriginals: few(299, 16),
	qEndImport:     few(299),
	qImportedFile:  within("00000000-0000-4000-8000-000000000001"),

	// idempotency.go
	qClaimKey:        few("key:299 once", 60, "key:299", 2, 299, 299, "x", 60, 1<<30, 1<<30).and("key:299 new", 60, "key:299", 2, 299, 299, "x", 60, 1<<30, 1<<30),
	qIdempotencyKey:  few("key:299 once", 60),
	qReclaimKey:      few("key:299 once", 1, "x", 60, 60),
	qExtendClaim:     few("key:299 once", 1, 60),
	qMarkChanged:     few("key:299 once", 1),
	qKeepAnswer:      few("key:299 once", 1, "x"),
	qReleaseClaim:    few("key:299 once", 1),
	qEndClaim:        few("key:299 once", 1),
	qDropKeptOf:      few(299),
	qDropIdleOf:      few(299),
	qForgetKept:      few(60, 20),
	qForgetKeptBytes: sweeps(),

	// invitations.go
	qInvitation:           within(299),
	qInvitationTo:         few(299, 299, 0).and(299, 299, 1),
	qInvitationUnanswered: few(299, 299),
	qInvitationsOf:        few("{299,301}", 20),
	qStreamInvitations:    few(299, 0, 20),
	qInvitationsTo:        few(299, 20, 0).and(299, 20, 1),
	qRenewInvitation:      few(299, 299, 60),
	qDeclineInvitation:    few(299),
	qDropInvitationsTo:    few(299),
	qForgetInvitations:    few(20),

	// leaving.go
	qHoldAccountsOf:      few(299, 0).and(299, 299),
	qPermissionsIn:       few(299, 0).and(299, 299),
	qDropPermissionsIn:   few(299, "{299}"),
	qRevokeAPIKeysIn:     few(299, 0).and(299, 299),
	qEndLinksIn:          few(299, 0).and(299, 299),
	qDropMembershipsIn:   whole("triggers look where else the user is", 299, 0).and(299, 299),
	qHasAcceptedOutside:  within(299),
	qRenameUser:          few(299, "A", "B"),
	qRenameMemberInScope: within(299, "A", "B"),

	// limits.go
	qSameDefaultLimits: few("{users,agents}", "{1,2}"),
	qCountsHere:        few("{1,299,5}"),
	qKeepCounts:        few("{299}", "{9}", "{299}", "{chunks}", "{NULL}", "{2}", "{0}"),
	qOwnInTurn:         few(7, 1, 100),
	qHearsAlone:        others("it reads no table"),
	qHeard:             few(),
	qForgetTold:        few("{299}"),
	qNoteHeard:         few("{9000000001,9000000002}"),
	qWantedHere:        whole("it asks each of a company's destinations", "{299,299,5}", "{7,0,5}", "{agent.created,agent.created,run.started}"),
	qEventsBacklog:     few(),
	qExchangeMinutes:   few(0, "{a,b}", "{1,2}", 100),
	qPulse:             few(),
	qMarkUse:           few("permission", 7),
	qUseMarks:          few(100),
	qForgetUseMarks:    few("{permission}", "{7}", "{2026-01-01}"),
	qPlaceOfCell:       few(1),
	qCellsIn:           within(),
	qCellOf:            within(299),
	qIsCell:            few(1),
	qMovedID:           few("runs", 7),
	qMovedRun:          few("6f1c2f0e-7d0b-4f9e-9a3e-0f1d2c3b4a59"),
	qPutDefaultLimits:  few("{users,agents}", "{1,2}"),
	qPutAddress:        whole("there are a few applications for each region", "https://api.example.com"),
	qLimitsOf:          few(299),
	qSetLimit:          few(299, "agents", 100),
	qUnsetLimit:        few(299, "users"),
	qCounts:            few("{1,299,5}"),
	qLimitsOn:          few("{1,5,299}"),
	qTightest:          few(299, "users"),
	qSpend:             few(299, "mailsPerDay", 1),
	qRefsInScope:       within("{299}"),
	qDueLimitNotices:   few(20),
	qLimitTold:         few(200, "users", 80, "2020-01-01"),
	qSweepNotices:      sweeps(),
	qNoteLimit:         few(299, "users", 80, 1, 1, true),

	// listings.go
	qUserLines:    within(5, 0, 20),
	qAccountLines: within("{299,5}"),

	// logins.go
	qCredentials:         few("USER299@x.example"),
	qCredentialsFrom:     few("user299@x.example", "192.0.2.0/24"),
	qOwnTexts:            few(299),
	qSeeNetwork:          few(299, "192.0.2.0/24", 10),
	qSweepNetworks:       few(),
	qOwnCredentials:      few(299),
	qTakeOTPStep:         few(299, 1),
	qSetOTP:              few(299, "none", nil),
	qDropRecoveryCodes:   few(299),
	qInsertRecoveryCodes: few(299, `{"\\x0000000000000000000000000000000000000000000000000000000000000000"}`),
	qUseRecoveryCode:     few(299, `\x00`),
	qCustomerOptions:     few(299),
	qInsertLink:          few(`\x0000000000000000000000000000000000000000000000000000000000000000`, 299, "invitation", 299, "2100-01-01"),
	qEndLinks:            few(299),
	qUseLink:             few(`\x00`),
	qPeekLink:            few(`\x00`),
	qShowLink:            few(`\x00`),
	qSetPassword:         few(299, "x"),
	qSweepLinks:          few(),

	// mail.go
	qInsertMail:       few(2, 299, "invitation", "x", 299),
	qHoldUser:         few(299),
	qMailsToday:       few(299, "invitation"),
	qLeaseMails.query: atWork(20, 60),
	qReleaseMails:     few("{200}", "{0}"),
	qClaimMail:        few(200, 60, 0),
	qMailSent:         few(200),
	qMailLate:         few(200, 60, "x"),
	qMailFailed:       few(200, "x"),
	qMailBacklog:      atWork(),
	qSweepMails:       sweeps(),

	// memberships.go
	qAddMember:      few(299, 7, true, "", "", "", 7),
	qHoldMembership: few(299, 7, true, "", "", "", 7),
	qLockMembership: few(299, 299),
	qDropMembership: few(299, 299),
	qIsMember:       few(299, 299),
	qAccept:         few(299, 299),
	qTakeName:       few(299, 299),
	qMayActAs:       within(299, 299),
	qCompaniesOf:    few(299),
	qMemberToInvite: within(299, 299).and("{1,15,301}", "{1,15,302}", 7, 301),

	// moving.go
	qHoldPlaces:   few("{299,5}"),
	qHoldAlone:    few("{299,5}"),
	qDeepest:      whole("it looks at all that is moved", 299),
	qMoveCustomer: atWork(299, 5),

	// options.go
	qOptionApplications: few(299, false),
	qOptionRegions:      few(299, false, 3),
	qOptionAccounts:     few(299, false, 3, 1),
	qOptionRoles:        few(299, 1),
	qOptionUsers:        within(299),

	// outbox.go
	qPassDestinations: atWork(5000, 1000),
	qDueDestinations:  few("{5,200,201}"),
	qClaimDeliveries:  few("{5,200,201}", "{20,20,20}", "{20,20,20}", 60),
	qHoldDeliveries:   few(299, 5),
	qSweepHolds:       few(),
	qRecordOutcomes:   few("{101}", "{101}", "{2100-01-01}", "{delivered}", "{0}", "{200}", "{x}", `{"[]"}`).and("{101}", "{101}", "{2100-01-01}", "{failed}", "{0}", "{0}", "{x}", `{"[]"}`),
	qFailOrphans:      few(5, 20),
	qHoldOrphans:      whole("it holds all that waits for a destination", 5),
	qDeliveryBacklog:  atWork(),

	// permissions.go
	qPermission:            within(299),
	qInsertPermission:      few(299, 298, 1, false, 0),
	qSetPermissionRole:     few(299, 1),
	qSetPermissionDisabled: few(299, true),
	qDeletePermission:      few(299),
	qOtherOwners:           few(299, 299),
	qRightsOn:              few(299),
	qTenantRights:          few(299, 299).and(7, 301),
	qRightsOf:              few(299, 1),
	qRightsAt:              whole("it looks at what people may at companies", "{299,5}"),

	// placed.go
	qPlacedCustomers:     within("{299,5}"),
	qCustomersAndRegions: within("{299,5}"),

	// principals.go
	qKeyCaller:       few("client 299", 299, "key 1"),
	qLoginCaller:     few(299, 299, "key 1", 0).and(7, 301, "key 1", 7),
	qExchange:        few("client 299", "builder", 0),
	qTouchPermission: few(299),
	qTouchKey:        few(299),

	// processing.go
	qLeaseDocuments.query: atWork(20, 60),
	qReleaseDocuments:     few("{200}", "{0}"),
	qClaimDocument:        few(200, 0, 60),
	qRenewDocument:        few(201, 0, 60, .5),
	qChunkPositions:       few(5, 1),
	qFinishContext:        few(299, 299, 1),
	qFinishDocument:       few(201, 0, 1, "[]"),
	qDocumentBacklog:      atWork(),
	qExportBacklog:        atWork(),
	qImportBacklog:        atWork(),
	qReadBy:               few(201, 0, 1),
	qDropOthers:           few(201, 0, 1),
	qFailDocument:         few(201, 0, "x"),
	qKept:                 few(201, 0),
	qKeepNow:              few(201, 0, 1, "[]"),
	qForsake:              few(201, 0),
	qDropUnkept:           few(201, 0),
	qStayContext:          few(299, 299, 1),
	qStayDocument:         few(201, 0, "[]"),
	qDocumentLate:         few(201, 0, 60, "x", 1),
	qTwin:                 few(298, 299),
	qTwinAtWork:           few(298, 299),
	qCopyChunks:           few(201, 0, 299, 1, 0, 10),
	qCopyBlocks:           few(201, 0, 299, 1, 0, 10),

	// regions.go
	qRegions:          few(),
	qRegionsByID:      few("{1,2}"),
	qAvailableRegions: few(),
	qApplications:     few(),
	qApplicationsByID: few("{1,2}"),
	qInstances:        few(1),
	qPutRegion:        few("eu", "Europe", ""),
	qPutApplication:   few(1, "tenant", "Tenant", "", 1, ""),
	qPutInstance:      few(1, 1, "", true),

	// retention.go
	qForgetDeliveries: whole("it looks at a batch", 60, 100, 500),
	qForgetRuns:       whole("it looks at a batch", 60, 100, 500),
	qForgetAudit:      whole("it looks at a batch", 60, 100, 500),
	qForgetFormer:     whole("it looks at a batch", 60, 100, 500),

	// roles.go
	qRolesByID:       few("{1,299}"),
	qRoleForKeyShare: few(299),
	qRole:            within(299),
	qOwnRole:         within(299),
	qRolesFor:        few(299, nil),
	qStreamRoles:     few(299, nil, 0, 20),
	qRolesOf:         few("{299,5}"),
	qInsertRole:      few(1, 299, "New", "", false, "{}"),
	qUpdateRole:      few(299, "New", "", "{}"),
	qDeleteRole:      few(299),
	qPutSystemRole:   few(1, "Role 0", "", true, "{}"),

	// runs.go
	qRun:          within(299),
	qRunByKey:     within("49182f81e6a13cf5eaa496d51fea6406"),
	qRunsBegun:    within("49182f00000000000000000000000000", "49182fffffffffffffffffffffffffff", 50),
	qRunForUpdate: within("49182f81e6a13cf5eaa496d51fea6406"),
	qRunnable:     within("{299,299}", "{run.started}"),
	qMakeRuns: within(append(append([]any{false}, tellExample...), "{9000000001,9000000002}",
		"{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12}", "{299,299}", "{299,299}", "{299,299}", "{299,5}", "{0,0}",
		"{running,running}", "{\"{}\",\"{}\"}")...),
	qRunSteps: few("{299,298}"),
	qEndRun:   few(201, "finished", "{}", nil),

	// runwork.go
	qLeaseRuns.query:  atWork(20, 60),
	qReleaseRuns:      few("{201}", "{0}"),
	qClaimRun:         few(201, 0, 60),
	qRenewRun:         few(201, 0, 60),
	qStepDone:         few(201, 0, 60),
	qSetCurrentStep:   few(201, 0, `{"position":0}`),
	qInsertRunStep:    few(201, 5, "s", "http", nil, nil, nil, "2020-01-01", 1),
	qRunLogs:          few(299),
	qReleaseRun:       few(201, 0),
	qHoldRun:          few(201, 0),
	qRunsUntouchedFor: atWork(),
	qDueRuns:          atWork(),

	// sealed.go
	SealedOTPSecrets.read:          few(0, 20),
	SealedOTPSecrets.write:         few("{299}", "{x}", "{y}"),
	SealedNextSigningSecrets.read:  few(0, 20),
	SealedNextSigningSecrets.write: few("{299}", "{x}", "{y}"),
	SealedSigningSecrets.read:      few(0, 20),
	SealedSigningSecrets.write:     few("{299}", "{sealed}", "{y}"),
	SealedSessionKeys.read:         few(0, 20),
	SealedSessionKeys.write:        few("{299}", "{sealed}", "{y}"),
	SealedAgentSecrets.read:        few(0, 20),
	SealedAgentSecrets.write:       few("{299}", "{sealed}", "{y}"),
	SealedRequests.read:            few("", 20),
	SealedRequests.write:           few("{key:299 once}", "{sealed}", "{y}"),
	SealedAnswers.read:             few("", 20),
	SealedAnswers.write:            few("{key:299 once}", "{sealed}", "{y}"),
	SealedMails.read:               few(0, 20),
	SealedMails.write:              few("{299}", "{x}", "{y}"),
	SealedRemovedSecrets.read:      few(0, 20),
	SealedRemovedSecrets.write:     few("{20000299}", "{sealed}", "{y}"),
	SealedProviderSecrets.read:     few(0, 20),
	SealedProviderSecrets.write:    few("{299}", "{x}", "{y}"),
	SealedIDTokens.read:            few(0, 20),
	SealedIDTokens.write:           few("{299}", "{x}", "{y}"),
	SealedPrivateKeys.read:         few("", 20),
	SealedPrivateKeys.write:        few("{key 1}", "{x}", "{y}"),

	// sealingkeys.go
	qSealingKeys:     few(),
	qUseSealingKey:   few("new"),
	qKeepSealingKeys: few("{new,newer}"),
	qDropSealingKey:  few("old", nil),

	// secrets.go
	qSecret:          within(299),
	qSecretForUpdate: within(299),
	qSecretsOf:       few("{299,5}"),
	qStreamSecrets:   few(299, 0, 20),
	qSecretCount:     few(299),
	qAddSecret:       few(299, "T"),
	qUpdateSecret:    few(299, "T", nil),
	qDeleteSecret:    few(299),
	qSealedSecrets:   few(299, "{S}"),

	// removedsecrets.go, deleted.go
	qHideSecret:             few(299, 60),
	qRemovedSecretForUpdate: within(20000299),
	qRestoreSecret:          few(20000299, "T", "sealed"),
	qRemovedSecretCount:     few(299),
	qEraseSecrets:           few(20),
	qDeletedSecrets:         few("{299,5}", 20),
	qDeletedAgents:          few("{299,5}", 20, 60),
	qDeletedDestinations:    few("{299,5}", 20, 60),

	// sessions.go
	qSession:          few(299),
	qSessionForUpdate: few(299, 1),
	qSessionsOf:       few(299, 0, 20, 0).and(299, 0, 20, 1),
	qInsertSession:    few(299, 299, "", "", 60, 0),
	qSetSessionKey:    few(299, "sealed"),
	qEndOldSessions:   few(299, 99),
	qUseSession:       few(299, 299, "", "", 1),
	qEndSession:       few(299),
	qEndSessions:      few(299, 0, 0, 0).and(299, 299, 299, 1),
	qForgetSessions:   few(20),

	// passkeys.go
	qPasskey:             few(299),
	qPasskeyForUpdate:    few(299),
	qPasskeysOf:          few(299, 0, 20),
	qPasskeyIDs:          few(299),
	qPasskeyByCredential: few("c299"),
	qInsertPasskey:       few(299, "New", "new", "key", 0, "{}", true, true),
	qUsePasskey:          few(299, 2, true),
	qRenamePasskey:       few(299, "New"),
	qDeletePasskey:       few(299),
	qDropPasskeysOf:      few(299),

	// domainclaims.go
	qClaimsOf:      few("{299,5}"),
	qClaim:         few(299, "d299.example"),
	qRivalClaim:    few(5, "d299.example"),
	qHasClaim:      few(299, "d299.example"),
	qHasProven:     few(299, "d299.example"),
	qMakeClaims:    few(299, "{new.example}", "{token}", "{1}"),
	qDropClaims:    few(299),
	qProveClaim:    few(299),
	qLookedAtClaim: few(299, true),
	qLoseClaim:     few(299),
	qDueClaims:     few(60, 20),

	// identities.go
	qIdentity:               within(299),
	qIdentityForUpdate:      within(299),
	qIdentitiesOf:           within("{299,5}"),
	qIdentityBySubject:      few(299, "s299"),
	qHasIdentity:            few(299),
	qInsertIdentity:         few(5, 299, "new", "new@x.example"),
	qUseIdentity:            few(299),
	qDropIdentity:           few(299),
	qDropIdentitiesOf:       few(299),
	qDropProviderIdentities: few(299),

	// identityproviders.go
	qProvider:          within(299),
	qProviderForUpdate: within(299),
	qProvidersByID:     within("{299,5}"),
	qProvidersOf:       few("{299,5}"),
	qProvidersFor:      few("{299,5}"),
	qProviderCount:     few(299),
	qProviderServes:    few(1, "{299,5}"),
	qInsertProvider:    few(299, "New", "https://new.example", "new", "{}", nil, false, true, nil),
	qUpdateProvider:    few(299, "New", "https://new.example", "new", "{}", nil, false, true, nil, nil),
	qSetProviderSecret: few(299, "sealed"),
	qDeleteProvider:    few(299),
	qProviderAtWork:    few(299),
	qHoldRegistration:  few(299, "https://login.example", "canopy"),
	qProviderOfDomain:  few("d299.example"),

	// providersessions.go
	qInsertProviderSession: few(10000010, 299, "s299", "", "sealed", "2030-01-01"),
	qProviderSession:       few(299),
	qEndUnserved:           {asked: [][]any{{"{1,2,299}", "{1,2,300}"}}, most: usual},
	qEndProvided:           few(299, "s299", ""),
	qEndProvidedOne:        few(299, "sid299"),
	qEndSessionsFrom:       few(299),
	qUseState:              few("hash", "2030-01-01"),
	qStateIsUsed:           few("hash"),
	qForgetStates:          few(20),

	// standing.go
	qPlace: few(299, 5, 0),

	// treechanges.go
	qLogTreeChanges:    few("{5,299}"),
	qTreeChanges:       few("900000:900000:", 0, 100).and(allSeen, 0, 100),
	qForgetTreeChanges: few(3600, 20),

	// scimtokens.go
	qScimToken:        within(299),
	qScimTokensOf:     few("{299,5}"),
	qScimTokenByHash:  few(`\x` + "0000000000000000000000000000000000000000000000000000000000000000"),
	qScimTokenCount:   few(299),
	qInsertScimToken:  few(299, "New", `\x`+"0000000000000000000000000000000000000000000000000000000000000001", 299, 299, "{}", true, nil),
	qDropScimToken:    few(299),
	qDropScimTokensIn: few(299, 0),
	qUseScimToken:     few(299, true),

	// scimusers.go
	qScimUser:             few(299, 299),
	qScimUsersByEmail:     few(299, "user299@x.example"),
	qScimUserByExternal:   few(299, "e299"),
	qScimUsers:            few(5, 0, 0, 20),
	qScimUsersAmong:       few(299, "{299}"),
	qScimUserCount:        whole("it counts a company's users", 5),
	qSetScimUser:          few(299, 299, "e299", true, "{}"),
	qDisabledByScim:       few(299, 299, 299),
	qRenameMemberOf:       few(299, 299, "A", "B"),
	qHasAcceptedElsewhere: few(299, 5),

	// scimgroups.go
	qScimGroups:      few(299, 2000),
	qScimGroup:       few(299, 299, 1),
	qScimMembers:     few("{299}", "{4}", 100),
	qScimMemberships: few(299, "{299}"),
	qScimPermissions: few(299, "{299}"),
	qScimOthers:      few(299, 4, "{299}", 100),

	// signingkeys.go
	qSigningKeys:      few(),
	qLockSigningKeys:  few(),
	qInsertSigningKey: few("new", "x", "2100-01-01"),
	qRetireOthers:     few("key 1", "2100-01-01"),
	qDropSigningKey:   few("key 1"),
	qDropRetired:      few(),

	// turns.go
	qTakeTurns:       few("runs"),
	qBranchOfAccount: few(299),

	// untouched.go
	qDeliveriesUntouched: atWork(299, 5),

	// users.go
	qUsersByID:     within("{299}").and("{1,15,301}", "{1,15,302}", "{7}"),
	qActorsByID:    within("{299}"),
	qUserForUpdate: few(299),
	qHoldPeople:    few("{299,5}"),
	qLastAccess:    within("{299}"),
	qEnsureUser:    few("new@x.example", "", "").and("user299@x.example", "", ""),

	// indexstate.go
	qIndexState:   few(5, ""),
	qIndexChanges: few(5, "", 1),

	// vectorcopies.go
	qCopyState:     few(5, ""),
	qCopyChanges:   few(5, "", 1),
	qVersionsOf:    few("{5,299}"),
	qLargeContexts: few(0, 5, 50000),

	// outlines.go
	qContextSize: few(299),
	qBlockStarts: few("{299,5}", "{1,1}", 65536),
	qBlockSlices: few("{299,5}", "{1,1}", "{0,0}", "{1,1}", "{5,5}"),

	// vectors.go
	qBlocks:         few("{299,5}", "{1,1}", false),
	qSparseRows:     few("{299,5}", "{1,1}"),
	qDenseRows:      few("{299}", "{1}"),
	qBlockPositions: few(5, 1),
	qInsertBlock:    few(201, 0, true, 0, 1, "block"),
	qUnpacked:       few(0, 20),
	qPack:           few(298, 1),
	qPackBlock:      few(299, 1, true, 0, 1, "block"),
	qVectorsFrom:    few(5, 1, 0, 20),
}
