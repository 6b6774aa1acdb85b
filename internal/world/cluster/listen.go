package cluster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// listen serves a pod's ports on a free port of its node's address and publishes it (PortForward)
// until closed is called.
func (w *worker) listen(ctx context.Context, handler http.Handler) (closed func(), err error) {
	host, ok := w.runtime.world.Recent().Node(w.pod.Spec.NodeName)
	if !ok {
		return nil, fmt.Errorf("serve pod: unknown host %s", w.pod.Spec.NodeName)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(hostIP(host), "0"))
	if err != nil {
		return nil, fmt.Errorf("serve pod: %w", err)
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	var wg sync.WaitGroup
	wg.Go(func() { _ = h.Serve(l) }) // ends with Close
	closed = func() {
		_ = h.Close()
		wg.Wait()
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		closed()
		return nil, fmt.Errorf("serve pod: unexpected address %v", l.Addr())
	}
	var ports []int32
	for _, p := range w.container.Ports {
		ports = append(ports, p.ContainerPort)
	}
	if err := put(ctx, w.runtime.dyn, forwardsResource(), forwardOf(w.runtime.names.ofPod(w.pod), w.pod, ports, address.IP.String(), address.Port)); err != nil {
		closed()
		return nil, err
	}
	w.listensAt(address.String())
	return closed, nil
}
