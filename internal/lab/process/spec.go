package process

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Spec describes one program.
type Spec struct {
	// Name is unique within the supervisor.
	Name string
	// Args excludes the program.
	Path string
	Args []string
	// Root, if set, is the directory that the program has as its root directory. It is prepared by
	// the caller; the program is put into it.
	Root string
	// Env is the complete environment; nothing is inherited.
	Env []string
	// Dir is the working directory.
	Dir string
	// LogPath receives standard output and error, appended.
	LogPath string
	// Needs are programs that Close stops after this one; other names are ignored.
	Needs []string
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	// Ready returns nil when the program serves. It is called repeatedly until it returns nil,
	// with a deadline for each call.
	Ready func(ctx context.Context) error
}

// State of a supervised program.
type State string

// States.
const (
	// Starting: the process runs and its probe has not succeeded yet.
	Starting State = "starting"
	// Ready: the probe succeeded.
	Ready State = "ready"
	// Waiting: the process died and will be restarted.
	Waiting State = "restarting"
	// Stopping: a stop was requested.
	Stopping State = "stopping"
	// Stopped: the program ended after a request.
	Stopped State = "stopped"
)

// Status of a supervised program.
type Status struct {
	Name     string   `json:"name"`
	State    State    `json:"state"`
	Identity Identity `json:"identity"`
	// Since is the start time of the current process.
	Since    time.Time `json:"since"`
	Restarts int       `json:"restarts"`
	LogPath  string    `json:"logPath"`
	// LastExit is the last exit, requested or not.
	LastExit *Exit `json:"lastExit,omitempty"`
}

// Exit is the end of one process.
type Exit struct {
	PID int       `json:"pid"`
	At  time.Time `json:"at"`
	// Status is the exit status as text: "exit status 1", "signal: killed".
	Status string          `json:"status"`
	Uptime metav1.Duration `json:"uptime"`
	// Asked: the supervisor stopped the process.
	Asked bool `json:"asked,omitempty"`
	// LastLines are the last log lines.
	LastLines []string `json:"lastLines,omitempty"`
}

// Event is a change of a program's state.
type Event struct {
	Name  string    `json:"name"`
	State State     `json:"state"`
	At    time.Time `json:"at"`
	PID   int       `json:"pid,omitempty"`
	// Took is the time from start to ready; set for Ready.
	Took metav1.Duration `json:"took,omitzero"`
	// Exit is set when a process ended.
	Exit *Exit `json:"exit,omitempty"`
	// Next is the backoff before the next start; set for Waiting.
	Next metav1.Duration `json:"next,omitzero"`
}
