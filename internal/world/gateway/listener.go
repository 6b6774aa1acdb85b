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

// door is where a Gateway listens: one address, a port for each of its listeners'.
type listener struct {
	host  string
	ports map[int32]*proxy

	servers []*http.Server
	wg      sync.WaitGroup
}

// has says that the door is of these ports.
func (d *listener) has(ports []int32) bool {
	return slices.Equal(slices.Sorted(maps.Keys(d.ports)), ports)
}

// errTaken says that ports are not to be had on an address, and may be on another.
var errTaken = errors.New("taken")

// open listens on the first of the hosts that has all ports free.
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

// close ends what the door serves, requests under way too, and waits.
func (d *listener) close() {
	for _, s := range d.servers {
		_ = s.Close()
	}
	d.wg.Wait()
}

// hosts are the addresses for Gateways in the /24 of a host of the world, from the
// highest but one down: the lab's own are at the other end.
func hosts(of string) ([]string, error) {
	ip := net.ParseIP(of).To4()
	if ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("addresses for gateways: %q is no loopback address", of)
	}
	const highest, lowest = 253, 2
	var out []string
	for n := highest; n >= lowest; n-- {
		out = append(out, net.IPv4(ip[0], ip[1], ip[2], byte(n)).String())
	}
	return out, nil
}
