package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// Forward forwards a local port to a port of a pod, over a websocket if the API server
// supports it and SPDY otherwise, like kubectl port-forward. stop closes the forward and
// waits until it is closed; it is idempotent.
func (c *Cluster) Forward(ctx context.Context, namespace, pod string, port int) (localAddr string, stop func(), err error) {
	dialer, err := c.forwardDialer(namespace, pod)
	if err != nil {
		return "", nil, fmt.Errorf("forward to pod %s/%s: %w", namespace, pod, err)
	}
	stopped, ready := make(chan struct{}), make(chan struct{})
	var stderr lockedBuffer
	fw, err := portforward.NewOnAddressesForStreaming(dialer, []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, stopped, ready, io.Discard, &stderr)
	if err != nil {
		return "", nil, fmt.Errorf("forward to pod %s/%s: %w", namespace, pod, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- fw.ForwardPorts() }()
	var once sync.Once
	done := make(chan struct{})
	end := func() {
		once.Do(func() {
			close(stopped)
			go func() { <-ended; close(done) }()
		})
		<-done
	}
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		end()
		return "", nil, fmt.Errorf("forward to pod %s/%s port %d: %w %s", namespace, pod, port, orClosed(err), stderr.String())
	case <-ctx.Done():
		// ForwardPorts reads the stop channel only after it has dialled: a dial that hangs
		// ends at its own timeout.
		once.Do(func() { close(stopped); close(done) })
		return "", nil, fmt.Errorf("forward to pod %s/%s port %d: %w", namespace, pod, port, ctx.Err())
	}
	ports, err := fw.GetPorts()
	if err != nil || len(ports) != 1 {
		end()
		return "", nil, fmt.Errorf("forward to pod %s/%s port %d: no local port: %w", namespace, pod, port, orClosed(err))
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))), end, nil
}

func (c *Cluster) forwardDialer(namespace, pod string) (httpstream.Dialer, error) {
	url := c.Client.CoreV1().RESTClient().Post().
		Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	roundTripper, upgrader, err := spdy.RoundTripperFor(c.Config)
	if err != nil {
		return nil, fmt.Errorf("create SPDY transport: %w", err)
	}
	overSPDY := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: roundTripper}, http.MethodPost, url)
	overWebsocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, c.Config)
	if err != nil {
		return nil, fmt.Errorf("create websocket transport: %w", err)
	}
	return portforward.NewFallbackDialerForStreaming(overWebsocket, overSPDY, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

func orClosed(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// lockedBuffer is a buffer for concurrent writers.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
