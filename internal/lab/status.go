package lab

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
)

// Status of a lab.
type Status struct {
	Info Info `json:"info"`
	// State has a State constant.
	State string `json:"state"`
	// Owned labs stop when their owner process ends.
	Owned      bool              `json:"owned"`
	Started    time.Time         `json:"started"`
	Ready      time.Time         `json:"ready"`
	Faults     component.Faults  `json:"faults"`
	Components []ComponentStatus `json:"components"`
}

// ComponentStatus is the status of one component.
type ComponentStatus struct {
	process.Status
	// Address is its host:port.
	Address string `json:"address"`
}

// Lab states.
const (
	StateStarting = "starting"
	StateReady    = "ready"
	StateDegraded = "degraded"
	StateFailed   = "failed"
	StateStopping = "stopping"
)

// Status returns the lab's status; components are in start order.
func (l *Lab) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := Status{State: StateStarting, Started: l.started, Ready: l.ready, Faults: l.conf.Faults}
	if l.net == nil {
		st.Info = Info{Name: l.opts.Name, ID: l.id, Dir: l.opts.Dir, Stack: l.stack()}
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

// Running is a component as last started and its status.
type Running struct {
	process.Status
	// Args excludes the program; Env has the component's own variables as NAME=value.
	Args, Env []string
}

// Components returns every component in start order. Options.Events reports changes.
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
