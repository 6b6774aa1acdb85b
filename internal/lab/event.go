package lab

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/upstream"
)

// Kind is what an Event tells.
type Kind string

// The kinds of events.
const (
	// KindComponent: a component changed its state; see Component.
	KindComponent Kind = "component"
	// KindStep: a step of the start was done that is no component.
	KindStep Kind = "step"
	// KindBuild: an upstream program is being built; Message says how far it is.
	KindBuild Kind = "build"
	// KindWaiting: the start waits for something of the machine; Message says for what.
	KindWaiting Kind = "waiting"
	// KindExtra: a lab that was ready has gained an extra.
	KindExtra Kind = "extra"
	// KindReady: the lab is ready. KindFailed: it could not be started; Message says why.
	KindReady  Kind = "ready"
	KindFailed Kind = "failed"
	// KindStopping and KindStopped: the lab was told to end; it ended.
	KindStopping Kind = "stopping"
	KindStopped  Kind = "stopped"
)

// Event is something that a person waiting for the lab wants to know.
type Event struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	// Name is the component, step, program or extra.
	Name string `json:"name,omitempty"`
	// Took is how long it took from the start of the lab, for KindReady, or from its own start.
	Took    metav1.Duration `json:"took,omitzero"`
	Message string          `json:"message,omitempty"`
	// Component is the change itself, for KindComponent.
	Component *process.Event `json:"component,omitempty"`
	// Build is how far a build is, for KindBuild.
	Build *upstream.Event `json:"build,omitempty"`
}

func (l *Lab) event(e Event) {
	e.At = l.opts.Clock.Now()
	l.opts.Events(e)
}

// componentChanged reports what the supervisor saw.
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
