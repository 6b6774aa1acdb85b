package lab

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
)

// Status is how a lab does.
type Status struct {
	Info Info `json:"info"`
	// State is "starting", "ready" or "degraded" (a component is not ready).
	State string `json:"state"`
	// Owned: the lab belongs to a process and ends with it.
	Owned      bool              `json:"owned"`
	Started    time.Time         `json:"started"`
	Ready      time.Time         `json:"ready"`
	Faults     component.Faults  `json:"faults"`
	Components []ComponentStatus `json:"components"`
}

// ComponentStatus is how one component does.
type ComponentStatus struct {
	process.Status
	// Address is where it listens.
	Address string `json:"address"`
}

// The states of a lab.
const (
	StateStarting = "starting"
	StateReady    = "ready"
	StateDegraded = "degraded"
	StateFailed   = "failed"
	StateStopping = "stopping"
)

// Status tells how every component does, in the order of their start.
func (l *Lab) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := Status{State: StateStarting, Started: l.started, Ready: l.ready, Faults: l.conf.Faults}
	if l.net == nil {
		st.Info = Info{Name: l.opts.Name, ID: l.id, Dir: l.opts.Dir}
		return st
	}
	st.Info = l.info()
	if !l.ready.IsZero() {
		st.State = StateReady
	}
	for _, s := range l.sup.Status() {
		st.Components = append(st.Components, ComponentStatus{Status: s, Address: l.addressOf(s.Name)})
		if st.State == StateReady && s.State != process.Ready {
			st.State = StateDegraded
		}
	}
	return st
}

func (l *Lab) addressOf(name string) string {
	ports := portsOf(l.conf.Ports, name)
	if len(ports) == 0 {
		return ""
	}
	return hostPort(l.conf.Address, ports[0])
}

// Running is a component as it was last started, and how it does.
type Running struct {
	process.Status
	// Args are its arguments, without the program; Env is what its environment has
	// of its own, as NAME=value.
	Args, Env []string
}

// Components tells of every component that the lab was told to run, in the order
// of their start. Options.Events tells when one of them changed.
func (l *Lab) Components() []Running {
	status := l.sup.Status()
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Running, 0, len(status))
	for _, s := range status {
		c := l.launched[s.Name]
		all = append(all, Running{Status: s, Args: slices.Clone(c.Argv), Env: slices.Clone(c.Env)})
	}
	return all
}
