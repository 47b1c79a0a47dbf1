package telemetry

import (
	"math"
	"strconv"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// spanSettings say which spans are told, and how they are sent.
type spanSettings struct {
	sampler sdktrace.Sampler
	// all tells that the sampler takes whatever has no parent.
	all bool
	// delay is how long a span waits for others at most, timeout how long sending may take.
	delay, timeout time.Duration
	// queue is how many spans wait at most, batch how many are sent together.
	queue, batch int
	// longest is how many characters of a text are told; none where it is negative.
	longest int
}

// The variables by which spans are sampled and sent, with the standard's defaults.
const (
	variableSampler, variableSamplerArg          = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	defaultDelay, defaultTimeout                 = 5_000, 30_000 // ms
	defaultQueue, defaultBatch, longestByDefault = 2_048, 512, -1
)

// loadSpans reads them from the environment, or tells which variable is wrong, and how.
func loadSpans(getenv func(string) string) (s spanSettings, name, fault string) {
	if s.sampler, s.all, name, fault = loadSampler(getenv); fault != "" {
		return s, name, fault
	}
	var delay, timeout int
	for _, v := range []struct {
		to        *int
		otherwise int
		names     []string
	}{
		{&delay, defaultDelay, []string{"OTEL_BSP_SCHEDULE_DELAY"}},
		{&timeout, defaultTimeout, []string{"OTEL_BSP_EXPORT_TIMEOUT"}},
		{&s.queue, defaultQueue, []string{"OTEL_BSP_MAX_QUEUE_SIZE"}},
		{&s.batch, defaultBatch, []string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE"}},
		{&s.longest, longestByDefault, []string{"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"}},
	} {
		*v.to = v.otherwise
		for _, name := range v.names {
			text := strings.TrimSpace(getenv(name))
			if text == "" {
				continue
			}
			n, err := strconv.ParseInt(text, 10, 32)
			if least := min(1, int64(v.otherwise)); err != nil || n < least {
				return s, name, "must be a whole number from " + strconv.FormatInt(least, 10) + " on"
			}
			*v.to = int(n)
			break
		}
	}
	s.delay, s.timeout, s.batch = time.Duration(delay)*time.Millisecond, time.Duration(timeout)*time.Millisecond, min(s.batch, s.queue)
	return s, "", ""
}

func loadSampler(getenv func(string) string) (s sdktrace.Sampler, all bool, name, fault string) {
	named := strings.ToLower(strings.TrimSpace(getenv(variableSampler)))
	kind, ofParents := strings.CutPrefix(named, "parentbased_")
	switch kind {
	case "":
		ofParents = true
		fallthrough
	case "always_on":
		s, all = sdktrace.AlwaysSample(), true
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		ratio := 1.0
		if text := strings.TrimSpace(getenv(variableSamplerArg)); text != "" {
			var err error
			if ratio, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(ratio) || ratio < 0 || ratio > 1 {
				return nil, false, variableSamplerArg, "must be a number from 0 to 1"
			}
		}
		s = sdktrace.TraceIDRatioBased(ratio)
	default:
		return nil, false, variableSampler, "must be always_on, always_off or traceidratio, or one of these behind parentbased_"
	}
	if ofParents {
		s = sdktrace.ParentBased(s)
	}
	return s, all, "", ""
}
