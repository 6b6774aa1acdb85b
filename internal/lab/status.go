package lab

import (
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
