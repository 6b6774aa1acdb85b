package hook

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Config is the content of hooks.yaml: one hook per cloud.
type Config struct {
	// Owner labels deployments, to tell them from those of other owners.
	Owner string
	Hooks map[config.Cloud]Hook
}

// Hook of a cloud: a command or a Job.
type Hook struct {
	Cloud config.Cloud
	// Command is a program with its arguments; empty for a Job.
	Command []string
	// Environment names variables that are passed in addition to PATH, HOME, LANG and TMPDIR.
	// Secrets are passed too, and their values are redacted in logs.
	Environment, Secrets []string
	// Job is nil for a command.
	Job *Job
	// Limits has every verb.
	Limits map[Verb]Limit
}

// Job is the template of a hook that runs in the cluster of the reservation store.
type Job struct {
	Namespace string
	// Template has the hook as its first container.
	Template *batchv1.Job
}

// Limit bounds the attempts of a verb.
type Limit struct {
	// Time is the timeout of one attempt.
	Time     time.Duration
	Attempts int
	// Backoff is the pause after the first attempt; it doubles with each.
	Backoff time.Duration
}

const maxBackoff = 10 * time.Minute

// backoff returns the pause after an attempt, counted from 1.
func (l Limit) backoff(attempt int) time.Duration {
	d := l.Backoff
	for range attempt - 1 {
		if d *= 2; d >= maxBackoff {
			return maxBackoff
		}
	}
	return min(d, maxBackoff)
}

// DefaultLimits apply to hooks that state none. Creating or deleting a GPU cluster takes tens of
// minutes, reading takes seconds. A test is not retried: the results must show a test that first
// fails and then passes.
func DefaultLimits() map[Verb]Limit {
	return map[Verb]Limit{
		Provision: {Time: time.Hour, Attempts: 2, Backoff: 30 * time.Second},
		Teardown:  {Time: time.Hour, Attempts: 5, Backoff: 30 * time.Second},
		GetNodes:  {Time: 2 * time.Minute, Attempts: 3, Backoff: 5 * time.Second},
		Discover:  {Time: 5 * time.Minute, Attempts: 3, Backoff: 15 * time.Second},
		Test:      {Time: 150 * time.Minute, Attempts: 1, Backoff: 30 * time.Second},
	}
}
