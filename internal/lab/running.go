package lab

import (
	"slices"

	"github.com/firstlight/firstlight/internal/lab/process"
)

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
