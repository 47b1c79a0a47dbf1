// Package doctor looks a deployment over: what its settings lead to, and whether that is fit for the platform. It changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"canopy/db"
	"canopy/internal/config"
)

// patience is how long each part of a deployment may take to answer.
const patience = 10 * time.Second

// Status is how something was found.
type Status string

// OK is as it should be, Warning works and may hurt later, Fault keeps the platform from doing its work, and Unknown could not be
// looked at, as something else is missing.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Fault   Status = "fault"
	Unknown Status = "unknown"
)

// Finding is one thing that was looked at.
type Finding struct {
	// Check is what was looked at: the same name in every version.
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Detail is what was found.
	Detail string `json:"detail"`
	// Advice is what to do about it; empty where there is nothing to do.
	Advice string `json:"advice,omitempty"`
}

// Visit is one look at a deployment.
type Visit struct {
	// Getenv reads the settings, Environ is all of the environment.
	Getenv  func(string) string
	Environ []string
	// Version is the program's.
	Version string
	// Egress is an https address that is asked as receivers of webhooks are; none where it is empty.
	Egress string

	cfg      *config.Config
	faulty   []string
	store    *db.Store
	findings []Finding
}

// Run looks at everything, and gives what it found in the order of looking.
func (v *Visit) Run(ctx context.Context) []Finding {
	v.settings()
	for _, look := range []func(context.Context){v.postgresql, v.secretKey, v.vectors, v.redis, v.blobs, v.mail, v.publicURL, v.egress} {
		v.within(ctx, look)
	}
	if v.store != nil {
		_ = v.store.Close()
	}
	return v.findings
}

// Healthy tells whether nothing was found that keeps the platform from its work.
func Healthy(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Status == Fault })
}

// within gives a look some time.
func (v *Visit) within(ctx context.Context, look func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look(ctx)
}

func (v *Visit) ok(check, format string, args ...any) { v.found(check, OK, "", format, args...) }

func (v *Visit) unknown(check, why string) { v.found(check, Unknown, "", "%s", why) }

func (v *Visit) found(check string, status Status, advice, format string, args ...any) {
	v.findings = append(v.findings, Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Advice: advice})
}

// settings reads them as serve and worker do. What is wrong with one does not keep the others from being looked at.
func (v *Visit) settings() {
	_, err := config.Load(config.Server, v.Getenv)
	for _, f := range faults(err) {
		v.faulty = append(v.faulty, f.Name)
		v.found("settings", Fault, "set it as said, for each process alike", "%s", f.Error())
	}
	for _, w := range config.Unknown(v.Environ) {
		v.found("settings", Warning, "set the one that is meant, or take it out", "%s", w)
	}
	rest, err := config.Load(config.Dev, func(name string) string {
		if slices.Contains(v.faulty, name) {
			return ""
		}
		return v.Getenv(name)
	})
	if err != nil { // two that belong together
		rest = &config.Config{}
	}
	v.cfg = rest
	if len(v.faulty) == 0 {
		v.ok("settings", "every setting can be read")
	}
	if v.cfg.MonitorUser == "" && len(v.faulty) == 0 {
		v.found("monitoring", Warning, "set CANOPY_MONITOR_USER and CANOPY_MONITOR_PASSWORD", "/metrics and /monitoring/ are closed to everybody")
	}
}

// faults are those that an error of config.Load joins.
func faults(err error) (list []*config.Fault) {
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		return nil
	}
	for _, e := range all.Unwrap() {
		var f *config.Fault
		if errors.As(e, &f) {
			list = append(list, f)
		}
	}
	return list
}

// lacks tells that a setting is missing, or is wrong, which is told already.
func (v *Visit) lacks(check, name, value string) bool {
	if value != "" {
		return false
	}
	v.unknown(check, name+" is not set, or can't be read")
	return true
}
