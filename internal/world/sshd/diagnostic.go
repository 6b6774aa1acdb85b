package sshd

import (
	"context"
	"path"
	"time"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// longestDiagnostic bounds the load of a diagnostic without an nvidia-smi. A real one takes
// minutes, during which its GPUs are observed under load.
const longestDiagnostic = 20 * time.Second

// diagnose loads the host's GPUs, as a diagnostic does, until an nvidia-smi has run.
func (s *Server) diagnose(ctx context.Context, state world.State, name string, argv []string) {
	n, ok := state.Node(name)
	if !ok || n.UsableGPUs() == 0 || !host.Loads(argv) {
		return
	}
	observed := make(chan struct{}, 1)
	s.mu.Lock()
	s.looks[name] = observed // a later diagnostic of the host replaces this one
	s.mu.Unlock()
	stop := s.world.Exercise(name)
	defer stop()
	longest := time.NewTimer(longestDiagnostic)
	defer longest.Stop()
	select {
	case <-observed:
	case <-longest.C:
	case <-ctx.Done():
	}
}

// observe returns the function to call after a command: an nvidia-smi during a diagnostic has
// observed the GPUs under load.
func (s *Server) observe(name string, argv []string) (done func()) {
	if len(argv) == 0 || path.Base(argv[0]) != "nvidia-smi" || !s.world.Exercised(name) {
		return func() {}
	}
	s.mu.Lock()
	observed := s.looks[name]
	s.mu.Unlock()
	return func() {
		select {
		case observed <- struct{}{}:
		default: // already observed
		}
	}
}
