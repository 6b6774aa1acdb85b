package hook

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Config is what one hooks.yaml holds: one hook a cloud.
type Config struct {
	// Owner labels what is made, so that it is told from others' things.
	Owner string
	Hooks map[config.Cloud]Hook
}

// Hook says how a cloud's part is done: by a command, or by a Job.
type Hook struct {
	Cloud config.Cloud
	// Command is a program with its arguments; empty where there is a Job.
	Command []string
	// Environment names variables that the program gets beside the usual ones; Secrets
	// those, too, and their values are cut out of what is logged.
	Environment, Secrets []string
	// Job is nil where there is a command.
	Job *Job
	// Limits has all verbs.
	Limits map[Verb]Limit
}

// Job is a template of a hook that runs in the cluster of the reservations' store.
type Job struct {
	Namespace string
	// Template has one container that is the hook, the first.
	Template *batchv1.Job
}

// Limit bounds the attempts of a verb.
type Limit struct {
	// Time is what one attempt may take.
	Time     time.Duration
	Attempts int
	// Backoff is the pause after the first attempt; it doubles with each.
	Backoff time.Duration
}

// most is the longest pause between attempts.
const maxBackoff = 10 * time.Minute

// pause after an attempt, counted from 1.
func (l Limit) backoff(attempt int) time.Duration {
	d := l.Backoff
	for range attempt - 1 {
		if d *= 2; d >= maxBackoff {
			return maxBackoff
		}
	}
	return min(d, maxBackoff)
}

// DefaultLimits are those of a hook that states none. A cluster with GPUs takes tens
// of minutes, either way; what is only looked at takes seconds. A test is not tried again:
// what fails once and passes then is what a grid is to show.
func DefaultLimits() map[Verb]Limit {
	return map[Verb]Limit{
		Provision: {Time: time.Hour, Attempts: 2, Backoff: 30 * time.Second},
		Teardown:  {Time: time.Hour, Attempts: 5, Backoff: 30 * time.Second},
		GetNodes:    {Time: 2 * time.Minute, Attempts: 3, Backoff: 5 * time.Second},
		Discover:  {Time: 5 * time.Minute, Attempts: 3, Backoff: 15 * time.Second},
		Test:      {Time: 150 * time.Minute, Attempts: 1, Backoff: 30 * time.Second},
	}
}
