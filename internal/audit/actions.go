// Package audit is what the audit log says: the actions that there are, and the form in which an event
// tells what was changed. docs/audit.md tells its readers.
package audit

import (
	"slices"
	"strings"
)

// Action is one thing that can be done to an object; its text is noun.verbed.
type Action string

// Entry describes an action.
type Entry struct {
	Action      Action
	Description string
}

var entries []Entry

func action(name Action, description string) Action {
	entries = append(entries, Entry{name, description})
	return name
}

// The actions. An operation's audit event has one of these.
var (
	CustomerCreated  = action("customer.created", "A company is created.")
	CustomerUpdated  = action("customer.updated", "A company is renamed, or its flags are set.")
	CustomerMoved    = action("customer.moved", "A company is put below another, with everything below it.")
	CustomerExported = action("customer.exported", "Somebody asks for an export of a company.")
	CustomerImported = action("customer.imported", "A company is read in from the archive of an export.")
	ImportAsked      = action("customerImport.created", "Somebody uploads the archive of an export to be read in below a company.")
	ImportCancelled  = action("customerImport.cancelled", "An import is cancelled before anything was made.")
	ImportFailed     = action("customerImport.failed", "The platform gives an import up, or refuses its archive.")
	CustomerLimited  = action("customer.limited", "Limits of a company are set.")

	CustomerSuspended = action("customer.suspended", "A company is suspended, with everything below it.")
	CustomerResumed   = action("customer.resumed", "A suspended company goes on.")
	CustomerDeleted   = action("customer.deleted", "A company is deleted, with everything below it; it can be restored for a while.")
	CustomerRestored  = action("customer.restored", "A deleted company is restored.")
	CustomerErased    = action("customer.erased", "A deleted company is erased, for good.")

	BillingSaved   = action("billing.saved", "A billing record is made or changed.")
	AccountUpdated = action("account.updated", "An application account is closed or opened.")

	UserCreated = action("user.created", "A user is added to a company.")
	UserUpdated = action("user.updated", "A user's names are changed.")
	UserRemoved = action("user.removed", "A user is taken out of a company, or leaves it.")
	UserErased  = action("user.erased", "A user is erased, for good.")
	UserInvited = action("user.invited", "A user is invited again.")

	InvitationAccepted  = action("invitation.accepted", "A user accepts an invitation.")
	InvitationDeclined  = action("invitation.declined", "A user declines an invitation, and leaves the company.")
	InvitationWithdrawn = action("invitation.withdrawn", "A company takes an invitation back.")

	UserSignedIn       = action("user.signedIn", "A user signs in, with the password, a passkey or at an identity provider.")
	UserSignInFailed   = action("user.signInFailed", "Somebody gives a wrong password or code for a user, or a passkey's answer that is not to be believed.")
	UserSetUp          = action("user.setUp", "A user redeems an invitation, and sets a password.")
	UserResetRequested = action("user.resetRequested", "Somebody asks for a link that resets a user's password.")
	UserPasswordReset  = action("user.passwordReset", "A user sets a password by the link of a reset.")

	UserPasswordChanged = action("user.passwordChanged", "A user changes the password, with the one before it.")
	UserEmailRequested  = action("user.emailChangeRequested", "A user asks for a change of the address.")
	UserEmailConfirmed  = action("user.emailChangeConfirmed", "One of the two addresses confirms a change of a user's address.")
	UserEmailChanged    = action("user.emailChanged", "A user's new address is confirmed by both.")
	UserEmailStopped    = action("user.emailChangeStopped", "A change of a user's address is stopped by the one before.")
	UserSessionsEnded   = action("user.sessionsEnded", "A user ends several sessions of its own.")
	SessionEnded        = action("session.ended", "A user signs out or ends a session, or it is ended because its refresh token was used twice.")

	UserTotpStarted  = action("user.totpStarted", "A user begins to set two-factor up.")
	UserTotpEnabled  = action("user.totpEnabled", "A user turns two-factor on.")
	UserTotpDisabled = action("user.totpDisabled", "A user turns two-factor off.")
	UserTotpReset    = action("user.totpReset", "An operator turns a user's two-factor off, and removes the user's passkeys.")

	UserCodesRegenerated = action("user.recoveryCodesRegenerated", "A user gets new recovery codes.")

	PasskeyCreated = action("passkey.created", "A user makes a passkey.")
	PasskeyUpdated = action("passkey.updated", "A user renames a passkey.")
	PasskeyDeleted = action("passkey.deleted", "A user removes a passkey.")

	UserIdentityLinked   = action("user.identityLinked", "A user signs in at an identity provider for the first time, and is known there from then on.")
	UserIdentityUnlinked = action("user.identityUnlinked", "It is forgotten who a user is at an identity provider.")

	IdentityProviderCreated       = action("identityProvider.created", "An identity provider of a company is set up.")
	IdentityProviderUpdated       = action("identityProvider.updated", "An identity provider of a company is changed.")
	IdentityProviderDeleted       = action("identityProvider.deleted", "An identity provider of a company is removed.")
	IdentityProviderDomainChecked = action("identityProvider.domainChecked", "The DNS is asked whether a company has a domain.")
	CustomerDomainLost            = action("customer.domainLost", "A company's claim to a domain holds no longer: its record is gone, or another company has proven the domain.")
	IdentityProviderSignInFailed  = action("identityProvider.signInFailed", "Somebody comes from an identity provider and is not let in.")

	ScimTokenCreated = action("scimToken.created", "A token is made by which a company's directory provisions its people.")
	ScimTokenDeleted = action("scimToken.deleted", "A token of a company's directory is ended.")
	UserProvisioned  = action("user.provisioned", "A company's directory says by which name it knows a user, or whether the user is active.")

	RoleCreated       = action("role.created", "A role is created.")
	RoleUpdated       = action("role.updated", "A role is changed.")
	RoleDeleted       = action("role.deleted", "A role is removed.")
	PermissionCreated = action("permission.created", "A user is given a role on an account.")
	PermissionUpdated = action("permission.updated", "A permission gets another role.")
	PermissionToggled = action("permission.toggled", "A permission is suspended or restored.")
	PermissionDeleted = action("permission.deleted", "A permission is removed.")

	APIKeyCreated = action("apiKey.created", "An API key is created.")
	APIKeyRotated = action("apiKey.rotated", "An API key gets a new secret.")
	APIKeyRevoked = action("apiKey.revoked", "An API key is ended.")

	ContextCreated               = action("context.created", "A context is created.")
	ContextUpdated               = action("context.updated", "A context is changed.")
	ContextShared                = action("context.shared", "A context is made private or shared.")
	ContextReprocessed           = action("context.reprocessed", "The documents of a context are processed anew.")
	ContextReprocessingCancelled = action("context.reprocessingCancelled", "The documents of a context that were not processed anew yet stay as they are.")
	ContextDeleted               = action("context.deleted", "A context is removed with its documents.")
	ContextRestored              = action("context.restored", "A removed context is brought back, with its documents.")
	DocumentUploaded             = action("document.uploaded", "A document is uploaded.")
	DocumentUpdated              = action("document.updated", "The name or the attributes of a document change.")
	DocumentReprocessed          = action("document.reprocessed", "A document is processed anew.")
	DocumentDeleted              = action("document.deleted", "A document is removed.")

	AgentCreated     = action("agent.created", "An agent is created.")
	AgentUpdated     = action("agent.updated", "An agent's name or draft is changed.")
	AgentPublished   = action("agent.published", "A revision of an agent is published.")
	AgentUnpublished = action("agent.unpublished", "An agent's published revision is taken back.")
	AgentEnabled     = action("agent.enabled", "An agent is enabled.")
	AgentDisabled    = action("agent.disabled", "An agent is disabled.")
	AgentDeleted     = action("agent.deleted", "An agent is removed.")
	AgentRestored    = action("agent.restored", "A removed agent is brought back.")
	RunStarted       = action("run.started", "A run is started.")
	RunCancelled     = action("run.cancelled", "A run is cancelled.")

	SecretCreated    = action("secret.created", "A secret for a company's agents is created.")
	SecretUpdated    = action("secret.updated", "A secret for a company's agents is changed.")
	SecretDeleted    = action("secret.deleted", "A secret for a company's agents is removed.")
	DocumentRestored = action("document.restored", "A removed document comes back.")
	SecretRestored   = action("secret.restored", "A removed secret for a company's agents comes back.")

	DestinationCreated   = action("webhookDestination.created", "A webhook destination is created.")
	DestinationUpdated   = action("webhookDestination.updated", "A webhook destination is changed.")
	DestinationDisabled  = action("webhookDestination.disabled", "The platform disables a destination that fails for too long.")
	DestinationDeleted   = action("webhookDestination.deleted", "A webhook destination is removed.")
	DestinationRestored  = action("webhookDestination.restored", "A removed webhook destination is brought back.")
	DestinationRotated   = action("webhookDestination.rotated", "A webhook destination gets a new signing secret.")
	DestinationTested    = action("webhookDestination.tested", "A test event is sent to a destination.")
	DestinationRecovered = action("webhookDestination.recovered", "What a destination has lost is sent again.")
	DeliveryResent       = action("webhookDelivery.resent", "A delivery is sent again.")
)

// Actions describes every action, in the order of the areas that they belong to.
func Actions() []Entry { return slices.Clone(entries) }

// ObjectTypes lists the types of the graph that actions are done to: those that the actions begin with.
func ObjectTypes() []string {
	var list []string
	for _, e := range entries {
		noun, _, _ := strings.Cut(string(e.Action), ".")
		list = append(list, strings.ToUpper(noun[:1])+noun[1:])
	}
	slices.Sort(list)
	return slices.Compact(list)
}
