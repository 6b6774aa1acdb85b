package cluster

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/world/exporter"
)

// exporter is dcgm-exporter: it listens on the node's address already, as long
// as the node is well, and the API leads there when somebody forwards a port of
// the pod.
func (w *worker) exporter() (int, error) {
	host, ok := w.runtime.world.State().Node(w.pod.Spec.NodeName)
	if !ok {
		return 1, fmt.Errorf("run exporter: no host %s", w.pod.Spec.NodeName)
	}
	port := exporter.Port
	if len(w.container.Ports) > 0 {
		port = int(w.container.Ports[0].ContainerPort)
	}
	if err := put(w.ctx, w.runtime.dyn, forwardsResource(), forwardOf(w.runtime.names.ofPod(w.pod), w.pod, nil, hostIP(host), port)); err != nil {
		return 0, ignoreDone(w, err)
	}
	<-w.ctx.Done()
	return 0, nil
}
