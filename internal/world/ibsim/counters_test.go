package ibsim

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// counters gives the ports of ibsim the growth that those of the world have over the soak.
func counters(t *testing.T, p *programs) {
	t.Helper()
	for i, after := range p.after.Links {
		before := p.before.Links[i]
		grow(t, p, after.A, before.CountersA, after.CountersA)
		grow(t, p, after.B, before.CountersB, after.CountersB)
	}
}

func grow(t *testing.T, p *programs, e fabric.End, before, after fabric.Counters) {
	t.Helper()
	was, is := errors16(before), errors16(after)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		limit := map[string]uint64{"LinkDownedCounter": 0xff, "LinkErrorRecoveryCounter": 0xff, "LocalLinkIntegrityErrors": 0xf, "ExcessiveBufferOverrunErrors": 0xf}[name]
		if limit == 0 {
			limit = 0xffff
		}
		if by := min(is[name]-was[name], limit); by > 0 {
			p.console(t, fmt.Sprintf("PerformanceSet %q[%d] PortCounters.%s=%d", nodeName(e), e.Port, name, by))
		}
	}
}

// errors16 are the error counters, named as in PortCounters.
func errors16(c fabric.Counters) map[string]uint64 {
	return map[string]uint64{
		"SymbolErrorCounter": c.SymbolErrorCounter, "LinkErrorRecoveryCounter": c.LinkErrorRecoveryCounter, "LinkDownedCounter": c.LinkDownedCounter,
		"PortXmitDiscards": c.PortXmitDiscards, "PortRcvRemotePhysicalErrors": c.PortRcvRemotePhysicalErrors,
		"LocalLinkIntegrityErrors": c.LocalLinkIntegrityErrors, "ExcessiveBufferOverrunErrors": c.ExcessiveBufferOverrunErrors,
	}
}
