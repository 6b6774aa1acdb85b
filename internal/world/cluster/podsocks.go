package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firstlight/firstlight/internal/world"
)

// The parts of SOCKS 5 (RFC 1928) that Go's HTTP client uses: no authentication, CONNECT, and the
// reply codes.
const (
	socksVersion     = 5
	socksConnect     = 1
	socksIPv4        = 1
	socksDomain      = 3
	replyOK          = 0
	replyUnreachable = 4
	replyRefused     = 5
)

// membership is the pod network for a process that represents a pod: a SOCKS proxy that resolves the
// names of Services and connects to the unrouted addresses of pods. A connection is refused, cannot be
// routed, or hangs, as in a pod.
type membership struct {
	worker   *worker
	listener net.Listener
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// joinNetwork starts the proxy on the address of the pod's node; close ends it.
func (w *worker) joinNetwork() (*membership, error) {
	host, ok := w.runtime.world.Recent().Node(w.pod.Spec.NodeName)
	if !ok {
		return nil, fmt.Errorf("join the pod network: unknown host %s", w.pod.Spec.NodeName)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(hostIP(host), "0"))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("join the pod network: %w", err)
	}
	m := &membership{worker: w, listener: l, cancel: cancel}
	m.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			m.running.Go(func() { m.serve(ctx, conn) })
		}
	})
	return m, nil
}

func (m *membership) address() string { return m.listener.Addr().String() }

func (m *membership) close() {
	m.cancel()
	_ = m.listener.Close()
	m.running.Wait()
}

// serve serves one connection until either side closes it.
func (m *membership) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	address, err := socksRequest(conn)
	if err != nil {
		return // not a SOCKS client
	}
	if m.worker.runtime.world.Recent().Inference.ServiceBlocked == world.BlockedByPolicy {
		_, _ = io.Copy(io.Discard, conn) // packets are dropped: the client waits for a reply
		return
	}
	to, ok := m.route(ctx, address)
	if !ok {
		_ = reply(conn, replyUnreachable)
		return
	}
	var d net.Dialer
	far, err := d.DialContext(ctx, "tcp", to)
	if err != nil {
		_ = reply(conn, replyRefused)
		return
	}
	defer far.Close()
	if reply(conn, replyOK) != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { defer far.Close(); _, _ = io.Copy(far, conn) })
	_, _ = io.Copy(conn, far)
	_ = conn.Close()
	both.Wait()
}

// route is the real address of the program at NAME:PORT or IP:PORT.
func (m *membership) route(ctx context.Context, address string) (to string, ok bool) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", false
	}
	if net.ParseIP(name) != nil {
		to = m.worker.runtime.listener(address)
		return to, to != ""
	}
	ips, err := m.resolve(ctx, name)
	if err != nil {
		return "", false
	}
	for _, ip := range ips {
		if to = m.worker.runtime.listener(net.JoinHostPort(ip, port)); to != "" {
			return to, true
		}
	}
	return "", false
}

// resolve returns the addresses of the pods of a headless Service, by its name in the cluster
// (NAME.NAMESPACE.svc, with or without the domain), as the cluster's DNS does.
func (m *membership) resolve(ctx context.Context, name string) ([]string, error) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, "."), ".cluster.local"), ".")
	state := m.worker.runtime.world.Recent()
	host, ok := state.Node(m.worker.pod.Spec.NodeName)
	if len(parts) != 3 || parts[2] != "svc" || !ok || host.NoDNS || state.Inference.ServiceBlocked == world.BlockedByDNS {
		return nil, errors.New("no such host")
	}
	service, err := m.worker.runtime.client.CoreV1().Services(parts[1]).Get(ctx, parts[0], metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("no such host: %w", err)
	}
	var ips []string
	selector := labels.SelectorFromSet(service.Spec.Selector)
	for _, obj := range m.worker.runtime.pods.List() {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Namespace == service.Namespace && !selector.Empty() && selector.Matches(labels.Set(pod.Labels)) && pod.Status.PodIP != "" {
			ips = append(ips, pod.Status.PodIP)
		}
	}
	return ips, nil
}

// socksRequest reads the greeting and a request to connect, and returns its host:port.
func socksRequest(conn io.ReadWriter) (string, error) {
	var head struct{ Version, Methods uint8 }
	if err := binary.Read(conn, binary.BigEndian, &head); err != nil || head.Version != socksVersion {
		return "", errors.New("not SOCKS 5")
	}
	if _, err := io.CopyN(io.Discard, conn, int64(head.Methods)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte{socksVersion, 0}); err != nil {
		return "", err
	}
	request := make([]byte, 4)
	if _, err := io.ReadFull(conn, request); err != nil || request[1] != socksConnect {
		return "", errors.New("not a request to connect")
	}
	size := net.IPv4len
	switch request[3] {
	case socksIPv4:
	case socksDomain:
		length := make([]byte, 1)
		if _, err := io.ReadFull(conn, length); err != nil {
			return "", err
		}
		size = int(length[0])
	default:
		return "", errors.New("unknown type of address")
	}
	rest := make([]byte, size+2)
	if _, err := io.ReadFull(conn, rest); err != nil {
		return "", err
	}
	host := string(rest[:size])
	if request[3] == socksIPv4 {
		host = net.IP(rest[:size]).String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(rest[size:])))), nil
}

// reply answers a request, without the address of the connection.
func reply(conn io.Writer, code byte) error {
	_, err := conn.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
