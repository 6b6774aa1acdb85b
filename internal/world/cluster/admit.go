package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
)

// deviceDeadline is how long a pod waits for GPUs of a pod that is ending.
const deviceDeadline = 15 * time.Second

// occupy allocates the pod's GPUs: those of its claims and those of the device plugin.
func (w *worker) occupy() (held, error) {
	have, err := w.readClaims()
	n := w.runtime.gpusFor(w.pod)
	if err != nil || n+len(have.given) == 0 {
		return have, err
	}
	ctx, cancel := context.WithTimeout(w.ctx, deviceDeadline)
	defer cancel()
	err = poll.Until(ctx, 50*time.Millisecond, "devices", func(context.Context) (err error) {
		have.plugged, err = w.runtime.world.Take(w.identity(), w.pod.Spec.NodeName, have.given, n, idleLoad())
		return err
	})
	return have, err
}

func (w *worker) identity() world.Pod {
	return world.Pod{UID: string(w.pod.UID), Namespace: w.pod.Namespace, Name: w.pod.Name, Container: w.container.Name}
}

func (w *worker) refuse(cause error) error {
	w.endAll()
	why := cause.Error()
	if len(w.pod.Spec.ResourceClaims) == 0 {
		why = fmt.Sprintf("Allocate failed due to requested number of devices unavailable for %s. Requested: %d, Available: %d, which is unexpected", gpuResource, gpusOf(w.pod), w.free())
	}
	return errors.Join(fmt.Errorf("not admitted: %w", cause), patchStatus(w.ctx, w.runtime.client, w.pod, refused(why)))
}

// free counts the free GPUs of the pod's node.
func (w *worker) free() int {
	free := 0
	if n, ok := w.runtime.world.Recent().Node(w.pod.Spec.NodeName); ok {
		for _, g := range n.GPUs {
			if g.Usable() && g.Occupant.UID == "" {
				free++
			}
		}
	}
	return free
}
