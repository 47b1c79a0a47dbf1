package webhook

// Data is the event-specific part of an event: of the types below, and those of extended.go.
type Data interface {
	// EventType is the type of the event that carries the data.
	EventType() string
}

// The event types.
const (
	TypeRunStarted       = "run.started"
	TypeRunCompleted     = "run.completed"
	TypeRunFailed        = "run.failed"
	TypeAgentCreated     = "agent.created"
	TypeAgentPublished   = "agent.published"
	TypeAgentUnpublished = "agent.unpublished"
	TypeAgentEnabled     = "agent.enabled"
	TypeAgentDisabled    = "agent.disabled"
	TypeAgentDeleted     = "agent.deleted"
)

type (
	// RunStarted tells that a run started. JobKey is its UUID, here and below.
	RunStarted struct {
		JobKey string `json:"jobKey"`
	}
	// RunCompleted tells that a run finished.
	RunCompleted struct {
		JobKey  string `json:"jobKey"`
		Success bool   `json:"success"`
	}
	// RunFailed tells that a run failed or was cancelled.
	RunFailed struct {
		JobKey  string `json:"jobKey"`
		Success bool   `json:"success"`
	}
	// AgentCreated tells that an agent was created.
	AgentCreated struct {
		AgentID int64  `json:"agentId"`
		Name    string `json:"name"`
	}
	// AgentPublished tells that a revision of an agent was published.
	AgentPublished struct {
		AgentID    int64 `json:"agentId"`
		RevisionID int64 `json:"revisionId"`
	}
	// AgentUnpublished tells that an agent has no published revision any more.
	AgentUnpublished struct {
		AgentID int64 `json:"agentId"`
	}
	// AgentEnabled tells that an agent was enabled; it is runnable if it is published too.
	AgentEnabled struct {
		AgentID  int64 `json:"agentId"`
		Enabled  bool  `json:"enabled"`
		Runnable bool  `json:"runnable"`
	}
	// AgentDisabled tells that an agent was disabled.
	AgentDisabled struct {
		AgentID  int64 `json:"agentId"`
		Enabled  bool  `json:"enabled"`
		Runnable bool  `json:"runnable"`
	}
	// AgentDeleted tells that an agent was deleted.
	AgentDeleted struct {
		AgentID int64 `json:"agentId"`
	}
)

// NewRunCompleted fills in what a finished run always says.
func NewRunCompleted(jobKey string) RunCompleted { return RunCompleted{JobKey: jobKey, Success: true} }

// NewRunFailed fills in what a failed run always says.
func NewRunFailed(jobKey string) RunFailed { return RunFailed{JobKey: jobKey, Success: false} }

// NewAgentEnabled fills in what an enabled agent always says.
func NewAgentEnabled(agentID int64, runnable bool) AgentEnabled {
	return AgentEnabled{AgentID: agentID, Enabled: true, Runnable: runnable}
}

// NewAgentDisabled fills in what a disabled agent always says: it can't run.
func NewAgentDisabled(agentID int64) AgentDisabled { return AgentDisabled{AgentID: agentID} }

// EventType implements Data.
func (RunStarted) EventType() string { return TypeRunStarted }

// EventType implements Data.
func (RunCompleted) EventType() string { return TypeRunCompleted }

// EventType implements Data.
func (RunFailed) EventType() string { return TypeRunFailed }

// EventType implements Data.
func (AgentCreated) EventType() string { return TypeAgentCreated }

// EventType implements Data.
func (AgentPublished) EventType() string { return TypeAgentPublished }

// EventType implements Data.
func (AgentUnpublished) EventType() string { return TypeAgentUnpublished }

// EventType implements Data.
func (AgentEnabled) EventType() string { return TypeAgentEnabled }

// EventType implements Data.
func (AgentDisabled) EventType() string { return TypeAgentDisabled }

// EventType implements Data.
func (AgentDeleted) EventType() string { return TypeAgentDeleted }
