package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// listener has the servers of a Gateway: one address with a port per Gateway listener.
type listener struct {
	host  string
	ports map[int32]*proxy

	servers []*http.Server
	wg      sync.WaitGroup
}

// has reports whether the listener has exactly these ports.
func (d *listener) has(ports []int32) bool {
	return slices.Equal(slices.Sorted(maps.Keys(d.ports)), ports)
}

// errTaken: a port is in use on an address and may be free on another.
var errTaken = errors.New("taken")

// open listens on the first host with all ports free.
func open(ctx context.Context, hosts []string, ports []int32, serve func() *proxy) (*listener, error) {
	for _, host := range hosts {
		d, err := openAt(ctx, host, ports, serve)
		if err == nil {
			return d, nil
		}
		if !errors.Is(err, errTaken) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("listen on ports %v: %w on all of %d addresses", ports, errTaken, len(hosts))
}

func openAt(ctx context.Context, host string, ports []int32, serve func() *proxy) (*listener, error) {
	var listeners []net.Listener
	for _, port := range ports {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			if errors.Is(err, syscall.EADDRINUSE) {
				err = fmt.Errorf("%w: %w", errTaken, err)
			}
			return nil, fmt.Errorf("listen: %w", err)
		}
		listeners = append(listeners, l)
	}
	d := &listener{host: host, ports: map[int32]*proxy{}}
	for i, port := range ports {
		p := serve()
		d.ports[port] = p
		s := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
		d.servers = append(d.servers, s)
		d.wg.Go(func() { _ = s.Serve(listeners[i]) }) // ends with close
	}
	return d, nil
}

// close closes all connections and waits.
func (d *listener) close() {
	for _, s := range d.servers {
		_ = s.Close()
	}
	d.wg.Wait()
}

// hosts returns the addresses for Gateways in a host's /24, from .253 downwards; the world's hosts
// start at the low end.
func hosts(of string) ([]string, error) {
	ip := net.ParseIP(of).To4()
	if ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("invalid host address %q: must be a loopback address", of)
	}
	const highest, lowest = 253, 2
	var out []string
	for n := highest; n >= lowest; n-- {
		out = append(out, net.IPv4(ip[0], ip[1], ip[2], byte(n)).String())
	}
	return out, nil
}
