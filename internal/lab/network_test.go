package lab

import (
	"net"
	"testing"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// Programs that listen on all addresses get different ports in different labs.
func TestPortsOnAllAddresses(t *testing.T) {
	t.Parallel()
	for range 2 { // two labs
		n, err := claimNetwork(t.Context(), 1, component.ExtraKarpenter)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.close)
		ports := portsOf(n.ports, component.Karpenter)
		if len(ports) != 2 || ports[0] == ports[1] {
			t.Fatalf("ports are %v, want two", ports)
		}
		n.release(t.Context(), ports...)
		for _, p := range ports {
			l, err := net.Listen("tcp", hostPort("", p))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}
	}
}

// A second claim, after a failed start, gives free ports.
func TestReclaimedPorts(t *testing.T) {
	t.Parallel()
	n, err := claimNetwork(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	base := len(n.held)
	for range 2 {
		if err := n.claimExtra(t.Context(), component.ExtraKAI); err != nil {
			t.Fatal(err)
		}
		if got := len(n.held) - base; got != 3 {
			t.Errorf("%d ports are held for KAI, want 3", got)
		}
	}
}
