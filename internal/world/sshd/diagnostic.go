package sshd

import (
	"context"
	"path"
	"time"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// longestDiagnostic is how long a diagnostic loads GPUs that nothing looks at. A real one
// takes minutes, in which its GPUs are seen under load.
const longestDiagnostic = 20 * time.Second

// diagnose loads the host's GPUs, as a diagnostic does, until nvidia-smi has seen them so.
func (s *Server) diagnose(ctx context.Context, state world.State, name string, argv []string) {
	n, ok := state.Node(name)
	if !ok || n.UsableGPUs() == 0 || !host.Loads(argv) {
		return
	}
	seen := make(chan struct{}, 1)
	s.mu.Lock()
	s.looks[name] = seen // of two diagnostics of one host, the later is seen
	s.mu.Unlock()
	stop := s.world.Exercise(name)
	defer stop()
	longest := time.NewTimer(longestDiagnostic)
	defer longest.Stop()
	select {
	case <-seen:
	case <-longest.C:
	case <-ctx.Done():
	}
}

// look returns what a command has to call when it is done: nvidia-smi, begun while a
// diagnostic loads the host's GPUs, has seen them under load.
func (s *Server) look(name string, argv []string) (done func()) {
	if len(argv) == 0 || path.Base(argv[0]) != "nvidia-smi" || !s.world.Exercised(name) {
		return func() {}
	}
	s.mu.Lock()
	seen := s.looks[name]
	s.mu.Unlock()
	return func() {
		select {
		case seen <- struct{}{}:
		default: // it was seen already
		}
	}
}
