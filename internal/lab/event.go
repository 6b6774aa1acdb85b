package lab

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/upstream"
)

// Kind is the type of an Event.
type Kind string

// Event kinds.
const (
	// KindComponent: a component changed its state; see Component.
	KindComponent Kind = "component"
	// KindStep: a start step other than a component is done.
	KindStep Kind = "step"
	// KindBuild: build progress of an upstream program; see Build and Message.
	KindBuild Kind = "build"
	// KindWaiting: the start waits for a resource of the machine, named in Message.
	KindWaiting Kind = "waiting"
	// KindExtra: a running lab has a new extra.
	KindExtra Kind = "extra"
	// KindReady: the lab is ready. KindFailed: the start failed; Message has the error.
	KindReady  Kind = "ready"
	KindFailed Kind = "failed"
	// KindStopping: the lab was asked to stop. KindStopped: it stopped.
	KindStopping Kind = "stopping"
	KindStopped  Kind = "stopped"
)

// Event is one entry of a lab's progress.
type Event struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	// Name of the component, step, program or extra.
	Name string `json:"name,omitempty"`
	// Took is the duration since the start of the lab (KindReady) or of the step.
	Took    metav1.Duration `json:"took,omitzero"`
	Message string          `json:"message,omitempty"`
	// Component is set for KindComponent.
	Component *process.Event `json:"component,omitempty"`
	// Build is set for KindBuild.
	Build *upstream.Event `json:"build,omitempty"`
}

func (l *Lab) event(e Event) {
	e.At = l.opts.Clock.Now()
	l.opts.Events(e)
}

func (l *Lab) componentChanged(p process.Event) {
	log := l.opts.Log.With("component", p.Name, "state", string(p.State))
	e := Event{Kind: KindComponent, Name: p.Name, Took: p.Took, Component: &p}
	switch {
	case p.State == process.Waiting && p.Exit != nil:
		e.Message = "died (" + p.Exit.Status + "), restarting in " + p.Next.Duration.String()
		log.Warn("component died", "status", p.Exit.Status, "uptime", p.Exit.Uptime.Duration.String(),
			"next", p.Next.Duration.String(), "lastLines", p.Exit.LastLines)
	case p.State == process.Ready:
		log.Info("component ready", "took", p.Took.Duration.String(), "pid", p.PID)
	default:
		log.Debug("component changed", "pid", p.PID)
	}
	l.event(e)
}
