package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// The addresses of hosts in each /24: .2 to .9 and .250 to .254 have other uses. Eight subnets are the
// most that one lab claims.
const (
	firstHost     = 10
	hostsInSubnet = 240
	// MaxHosts of a lab.
	MaxHosts = 8 * hostsInSubnet
)

// guardPort is bound on the last address of a lab's subnet while the lab runs. Binding it claims
// the subnet: the kernel allows one lab and releases the port when its process ends.
const guardPort = 20_000

// subnetAttempts bounds the search; 50,000 subnets make a collision rare.
const subnetAttempts = 256

// network is a lab's loopback /24, with others after it where its hosts need them, and its ports on
// the first address.
type network struct {
	subnet string // "127.a.b"
	ports  component.Ports
	guards []net.Listener // one for each /24

	mu   sync.Mutex
	held map[int]net.Listener
}

func (n *network) address() string { return n.subnet + ".1" }

// claimNetwork claims free subnets for the hosts, and ports, including those of the extras. Each port
// stays bound until release.
func claimNetwork(ctx context.Context, hosts int, extras ...string) (*network, error) {
	if hosts > MaxHosts {
		return nil, fmt.Errorf("too many hosts: a lab has at most %d, got %d", MaxHosts, hosts)
	}
	blocks := max(1, (hosts+hostsInSubnet-1)/hostsInSubnet)
	for range subnetAttempts {
		// 127.0 is shared; tests and resolvers use little of the rest of 127/8.
		second, third := 16+rand.IntN(224), rand.IntN(256-blocks+1) //nolint:gosec // spreads labs; no secret
		n := &network{subnet: fmt.Sprintf("127.%d.%d", second, third), held: map[int]net.Listener{}}
		var err error
		for i := 0; i < blocks && err == nil; i++ {
			var guard net.Listener
			if guard, err = listen(ctx, fmt.Sprintf("127.%d.%d.254", second, third+i), guardPort); err == nil {
				n.guards = append(n.guards, guard)
			}
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			n.close()
			continue
		}
		if err != nil {
			n.close()
			return nil, fmt.Errorf("claim a loopback subnet: %w", err)
		}
		err = n.claimPorts(ctx)
		for _, name := range extras {
			err = errors.Join(err, n.claimExtra(ctx, name))
		}
		if err != nil {
			n.close()
			return nil, err
		}
		return n, nil
	}
	return nil, fmt.Errorf("claim a loopback subnet: no free one in %d attempts", subnetAttempts)
}

// wanted is a port to claim and its destination.
type wanted struct {
	port *int
	// usual is the preferred port; 0: any.
	usual int
	// everywhere: the program listens on all addresses.
	everywhere bool
}

// claimPorts claims the ports of the components of every lab.
func (n *network) claimPorts(ctx context.Context) error {
	p := &n.ports
	return n.claim(ctx,
		wanted{port: &p.Etcd, usual: 2379}, wanted{port: &p.EtcdPeer, usual: 2380}, wanted{port: &p.APIServer, usual: 6443},
		wanted{port: &p.ControllerManager, usual: 10257}, wanted{port: &p.Scheduler, usual: 10259}, wanted{port: &p.Kwok, usual: 10250},
		wanted{port: &p.Prometheus, usual: 9090}, wanted{port: &p.Alertmanager, usual: 9093},
		wanted{port: &p.AlertWebhook, usual: 9094},
		wanted{port: &p.PodNetwork, usual: 9095}, wanted{port: &p.Discovery, usual: 9096},
	)
}

// claimExtra claims the ports of an extra. A second call replaces them.
func (n *network) claimExtra(ctx context.Context, name string) error {
	p := &n.ports
	switch name {
	case component.ExtraAdapter:
		return n.claim(ctx, wanted{port: &p.Adapter, usual: 6444})
	case component.ExtraKarpenter:
		return n.claim(ctx, wanted{port: &p.KarpenterHealth, everywhere: true}, wanted{port: &p.KarpenterMetrics, everywhere: true})
	case component.ExtraKAI:
		return n.claim(ctx, wanted{port: &p.KAIScheduler}, wanted{port: &p.KAIBinder}, wanted{port: &p.KAIPodGrouper})
	case component.ExtraVolcano:
		return n.claim(ctx, wanted{port: &p.VolcanoScheduler}, wanted{port: &p.VolcanoControllers})
	case component.ExtraKueue:
		return n.claim(ctx, wanted{port: &p.KueueHealth}, wanted{port: &p.KueueWebhook})
	case component.ExtraTrainer:
		return n.claim(ctx, wanted{port: &p.JobSetHealth}, wanted{port: &p.JobSetWebhook}, wanted{port: &p.TrainerHealth}, wanted{port: &p.TrainerWebhook})
	case component.ExtraMPI:
		return n.claimOnly(ctx, &p.MPIOperator, component.MPIOperatorPort, "the MPI Operator")
	case component.ExtraRay:
		return n.claim(ctx, wanted{port: &p.KubeRay})
	}
	return nil
}

// claimStack claims the ports of the components of a stack.
func (n *network) claimStack(ctx context.Context, stack component.Stack) error {
	if !stack.External() {
		return nil
	}
	p := &n.ports
	return n.claim(ctx, wanted{port: &p.GPUOperatorHealth}, wanted{port: &p.GPUOperatorMetrics}, wanted{port: &p.NFDMaster, everywhere: true})
}

// claimReplica claims the ports of a second Prometheus.
func (n *network) claimReplica(ctx context.Context) error {
	return n.claim(ctx, wanted{port: &n.ports.PrometheusReplica}, wanted{port: &n.ports.PrometheusShared})
}

// claim binds each port's preferred number, or a free one if it is taken.
func (n *network) claim(ctx context.Context, ports ...wanted) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, want := range ports {
		usual := want.usual
		if want.everywhere {
			var err error
			if usual, err = freeEverywhere(ctx); err != nil {
				return err
			}
		}
		l, err := listen(ctx, n.address(), usual)
		if err != nil && !want.everywhere {
			l, err = listen(ctx, n.address(), 0)
		}
		if err != nil {
			return fmt.Errorf("reserve a port on %s: %w", n.address(), err)
		}
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return fmt.Errorf("reserve a port on %s: unexpected address %v", n.address(), l.Addr())
		}
		if old, ok := n.held[*want.port]; ok {
			_ = old.Close() // of an extra whose start failed
			delete(n.held, *want.port)
		}
		*want.port = addr.Port
		n.held[addr.Port] = l
	}
	return nil
}

// claimOnly binds a fixed port on all addresses.
func (n *network) claimOnly(ctx context.Context, port *int, number int, program string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if old, ok := n.held[number]; ok {
		_ = old.Close() // of an extra whose start failed
		delete(n.held, number)
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", hostPort("", number))
	if err != nil {
		return fmt.Errorf("%s needs port %d on all addresses and has no setting for it: stop the program that has it (another lab?): %w", program, number, err)
	}
	*port = number
	n.held[number] = l
	return nil
}

// Port range of programs that listen on all addresses, below the kernel's ephemeral ports.
const lowestEverywhere, highestEverywhere = 21_000, 31_000

// freeEverywhere returns a port that is free on all addresses.
func freeEverywhere(ctx context.Context) (int, error) {
	for range subnetAttempts {
		port := lowestEverywhere + rand.IntN(highestEverywhere-lowestEverywhere) //nolint:gosec // spreads labs; no secret
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", hostPort("", port))
		if err == nil {
			_ = l.Close() // no connections
			return port, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, fmt.Errorf("reserve a port: %w", err)
		}
	}
	return 0, fmt.Errorf("reserve a port: no free one in %d attempts", subnetAttempts)
}

func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	var c net.ListenConfig
	return c.Listen(ctx, "tcp4", hostPort(host, port))
}

// release frees ports for a component and returns when they can be bound. A child process that is
// being started inherits every open socket until its exec, shortly after the fork returns, and
// keeps a port taken that was closed in between. The fork lock prevents new children meanwhile.
func (n *network) release(ctx context.Context, ports ...int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, p := range ports {
		if l, ok := n.held[p]; ok {
			_ = l.Close() // no connections
			delete(n.held, p)
			awaitFree(ctx, n.address(), p)
		}
	}
}

// awaitFree returns when the port can be bound, or after a second: the component's own bind then
// reports the error.
func awaitFree(ctx context.Context, host string, port int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if l, err := listen(ctx, host, port); err == nil {
			_ = l.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// listener returns the claimed listener of a port, for a server in this process.
func (n *network) listener(port int) net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held[port]
}

// close releases all ports.
func (n *network) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for p, l := range n.held {
		_ = l.Close()
		delete(n.held, p)
	}
	for _, guard := range n.guards {
		_ = guard.Close()
	}
	n.guards = nil
}

// portsOf returns the ports that a component binds.
func portsOf(p component.Ports, name string) []int {
	switch name {
	case component.Etcd:
		return []int{p.Etcd, p.EtcdPeer}
	case component.APIServer:
		return []int{p.APIServer}
	case component.ControllerManager:
		return []int{p.ControllerManager}
	case component.Scheduler:
		return []int{p.Scheduler}
	case component.Kwok:
		return []int{p.Kwok}
	case component.Prometheus:
		return []int{p.Prometheus}
	case component.PrometheusReplica:
		return []int{p.PrometheusReplica}
	case component.Alertmanager:
		return []int{p.Alertmanager}
	case component.Adapter:
		return []int{p.Adapter}
	case component.Karpenter:
		return []int{p.KarpenterHealth, p.KarpenterMetrics}
	case component.KAIScheduler:
		return []int{p.KAIScheduler}
	case component.KAIBinder:
		return []int{p.KAIBinder}
	case component.KAIPodGrouper:
		return []int{p.KAIPodGrouper}
	case component.VolcanoScheduler:
		return []int{p.VolcanoScheduler}
	case component.VolcanoControllers:
		return []int{p.VolcanoControllers}
	case component.Kueue:
		return []int{p.KueueHealth, p.KueueWebhook}
	case component.JobSet:
		return []int{p.JobSetHealth, p.JobSetWebhook}
	case component.KubeflowTrainer:
		return []int{p.TrainerHealth, p.TrainerWebhook}
	case component.MPIOperator:
		return []int{p.MPIOperator}
	case component.KubeRay:
		return []int{p.KubeRay}
	case component.GPUOperator:
		return []int{p.GPUOperatorHealth, p.GPUOperatorMetrics}
	case component.NFDMaster:
		return []int{p.NFDMaster}
	}
	return nil
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
