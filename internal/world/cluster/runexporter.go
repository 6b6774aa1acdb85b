package cluster

import (
	"fmt"
	"net"
	"strconv"

	"github.com/firstlight/firstlight/internal/world/exporter"
)

// exporter simulates the dcgm-exporter container. The node's exporter already listens on its
// address; the container publishes it for port forwarding and, outside of the host network, at the
// pod's address.
func (w *worker) exporter() (int, error) {
	host, ok := w.runtime.world.Recent().Node(w.pod.Spec.NodeName)
	if !ok {
		return 1, fmt.Errorf("run exporter: unknown host %s", w.pod.Spec.NodeName)
	}
	port := exporter.Port
	if len(w.container.Ports) > 0 {
		port = int(w.container.Ports[0].ContainerPort)
	}
	if err := put(w.ctx, w.runtime.dyn, forwardsResource(), forwardOf(w.runtime.names.ofPod(w.pod), w.pod, nil, hostIP(host), port)); err != nil {
		return 0, ignoreDone(w, err)
	}
	if !w.pod.Spec.HostNetwork {
		w.listensAt(net.JoinHostPort(hostIP(host), strconv.Itoa(port)))
	}
	<-w.ctx.Done()
	return 0, nil
}
