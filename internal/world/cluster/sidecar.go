package cluster

import (
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// sidecar is a container other than its pod's first; it runs its program once.
type sidecar struct {
	worker    *worker
	container corev1.Container
	done      chan struct{} // closed when its log is complete
}

// sidecarsOf returns the containers after the first that list devices, the only program that is
// simulated there.
func sidecarsOf(w *worker) []*sidecar {
	var out []*sidecar
	for i, c := range w.pod.Spec.Containers {
		if i > 0 && recognise(c) == kindDevices {
			out = append(out, &sidecar{worker: w, container: c, done: make(chan struct{})})
		}
	}
	return out
}

func (s *sidecar) podName() string { return s.worker.pod.Name }
func (s *sidecar) attempt() int    { return 0 }

func (s *sidecar) logBegins(int) int64 { return 0 }

func (s *sidecar) logPath(int) string {
	return filepath.Join(s.worker.dir, s.container.Name+".side.log")
}

func (s *sidecar) over(int) bool {
	select {
	case <-s.done:
		return true
	case <-s.worker.ctx.Done():
		return true
	default:
		return false
	}
}

// run runs the program. Errors are failures of the simulation.
func (s *sidecar) run(h held) {
	defer close(s.done)
	out, err := createPodLog(s.logPath(0), time.Now)
	if err == nil {
		_, err = s.worker.devices(out, s.container, h)
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil && s.worker.ctx.Err() == nil {
		s.worker.runtime.log.Error("container", "namespace", s.worker.pod.Namespace, "pod", s.worker.pod.Name, "container", s.container.Name, "err", err)
	}
}
