package process

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Spec says how to run one program.
type Spec struct {
	// Name identifies the program within its supervisor.
	Name string
	// Path is the program's file; Args are its arguments, without the program.
	Path string
	Args []string
	// Env is its whole environment; nothing is inherited.
	Env []string
	// Dir is its working directory.
	Dir string
	// LogPath takes its standard output and error, appended.
	LogPath string
	// Grace is how long it has between SIGTERM and SIGKILL.
	Grace time.Duration
	// Ready returns nil when the program serves. It is called again and again,
	// from the start until it answers nil, with a deadline for each call.
	Ready func(ctx context.Context) error
}

// State is what a supervised program is doing.
type State string

// The states of a supervised program.
const (
	// Starting: the process runs and its probe has not answered yet.
	Starting State = "starting"
	// Ready: its probe answered.
	Ready State = "ready"
	// Waiting: it died and is about to be started again.
	Waiting State = "restarting"
	// Stopping: it was asked to end.
	Stopping State = "stopping"
	// Stopped: it ended because it was asked to.
	Stopped State = "stopped"
)

// Status is a program's state, for a person or a file.
type Status struct {
	Name     string   `json:"name"`
	State    State    `json:"state"`
	Identity Identity `json:"identity"`
	// Since is when the present process was started.
	Since    time.Time `json:"since"`
	Restarts int       `json:"restarts"`
	LogPath  string    `json:"logPath"`
	// LastExit is the last death, asked for or not.
	LastExit *Exit `json:"lastExit,omitempty"`
}

// Exit is the end of one process.
type Exit struct {
	PID int       `json:"pid"`
	At  time.Time `json:"at"`
	// Status is the exit status in words: "exit status 1", "signal: killed".
	Status string          `json:"status"`
	Uptime metav1.Duration `json:"uptime"`
	// Asked: the supervisor ended it on purpose.
	Asked bool `json:"asked,omitempty"`
	// LastLines are the last lines that it logged.
	LastLines []string `json:"lastLines,omitempty"`
}

// Event is a change of a program's state.
type Event struct {
	Name  string    `json:"name"`
	State State     `json:"state"`
	At    time.Time `json:"at"`
	PID   int       `json:"pid,omitempty"`
	// Took is the time from start to ready, for Ready.
	Took metav1.Duration `json:"took,omitzero"`
	// Exit is set when a process ended.
	Exit *Exit `json:"exit,omitempty"`
	// Next is how long until the next start, for Waiting.
	Next metav1.Duration `json:"next,omitzero"`
}
