package ibsim

import (
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/world"
)

// fault is a defect of the world and what has the same effect on the programs.
type fault struct {
	kind    string
	target  string
	nodes   int // 4 where not given
	options map[string]string
	// others are fabric.others of the site; byGUID: the GUIDs of their ports instead.
	others []string
	byGUID bool
	// also is a second defect.
	also *world.Fault
	// verdict, if set, replaces failed, or passed without a defect.
	verdict check.Verdict
	// diagnosed: ibdiagnet, which ibsim lacks, shows the defect on both sides; it has the numbers of nodes.
	diagnosed bool
	// withoutUMAD is a host on which the programs of the fabric run without the devices of ibsim.
	withoutUMAD string
	// differs, if set, is the message of the programs where it is not that of the world.
	differs string
	// during runs in the soak; it has the links of the world, with their counters after it.
	during func(*testing.T, *programs)
	// sm, if set, replaces the start of the subnet manager.
	sm func(*testing.T, *programs)
}

// unlink pulls the cable of a link; the subnet manager sweeps it out.
func unlink(end string) func(*testing.T, *programs) {
	return func(t *testing.T, p *programs) {
		sm := p.startSM(t, realSweep)
		n := sm.Sweeps()
		p.console(t, fmt.Sprintf("Unlink %q[1]", end))
		if err := sm.Swept(t.Context(), n+1); err != nil {
			t.Fatal(err)
		}
	}
}

// listed are the hosts of the fault foreign-hosts, as a site lists them.
var listed = []string{"ufm-* *", "storage-* mlx5_0"}

var faults = map[string]fault{
	"healthy":            {},
	"healthy, 200 nodes": {nodes: 200},
	"a second subnet manager of equal priority is standby": {sm: func(t *testing.T, p *programs) {
		p.startSM(t, realSweep)
		second, err := p.StartSM(t.Context(), p.healthy.Switches[1], realSweep)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(second.Stop)
	}},
	"link down":                  {kind: "link-down", target: "gpu-02/mlx5_1", sm: unlink("gpu-02 mlx5_1")},
	"link down between switches": {kind: "link-down", target: "spine-0/1", sm: unlink("spine-0")},
	"link at half rate":          {kind: "link-degraded", target: "gpu-02/mlx5_1"},
	"link at half width":         {kind: "link-degraded", target: "gpu-02/mlx5_1", options: map[string]string{"how": "width"}},
	"link flaps":                 {kind: "link-flapping", target: "gpu-02/mlx5_1", during: counters},
	"remote physical errors":     {kind: "link-ber", target: "gpu-02/mlx5_1", during: counters},
	"link integrity errors":      {kind: "link-ber", target: "gpu-02/mlx5_1", options: map[string]string{"counter": "LocalLinkIntegrityErrors", "per-second": "0.1"}, during: counters},
	"buffer overruns":            {kind: "link-ber", target: "gpu-02/mlx5_1", options: map[string]string{"counter": "ExcessiveBufferOverrunErrors", "per-second": "0.1"}, during: counters},
	"rails swapped":              {kind: "rails-swapped", target: "gpu-02"},
	"cables swapped":             {kind: "cables-swapped", target: "gpu-02"},

	"hosts of others":                                 {kind: "foreign-hosts", diagnosed: true, during: counters},
	"hosts of others, one is listed":                  {kind: "foreign-hosts", diagnosed: true, during: counters, others: listed[:1]},
	"hosts of others are listed":                      {kind: "foreign-hosts", diagnosed: true, during: counters, others: listed, verdict: check.Passed},
	"hosts of others are listed by GUID":              {kind: "foreign-hosts", diagnosed: true, during: counters, byGUID: true, verdict: check.Passed},
	"hosts of others are listed, an own link flaps":   {kind: "foreign-hosts", diagnosed: true, during: counters, others: listed, also: &world.Fault{Kind: "link-flapping", Target: "gpu-02/mlx5_1"}},
	"hosts of others are listed, an own link is slow": {kind: "foreign-hosts", diagnosed: true, during: counters, others: listed, also: &world.Fault{Kind: "link-degraded", Target: "gpu-02/mlx5_1"}},

	"partition key missing": {kind: "pkey-missing", target: "gpu-02/mlx5_1"},
	"no ib_umad":            {kind: "umad-module-missing", target: "gpu-01", withoutUMAD: "gpu-01", verdict: check.Unobserved},

	// Each of two masters with keys of their own takes every port in its first sweep: all hosts see the second one.
	"two subnet managers with different keys": {
		kind: "sm-two-masters", diagnosed: true, differs: `^ibdiagnet: stage "Subnet Manager" .*more than one master`,
		sm: func(t *testing.T, p *programs) {
			p.startSM(t, realSweep)
			second, err := p.StartSM(t.Context(), p.healthy.Switches[1], realSweep, "-P", p.partitions, "-k", "0x2")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(second.Stop)
		},
	},
	"subnet manager dead": {kind: "sm-dead", sm: func(t *testing.T, p *programs) {
		if err := p.startSM(t, realSweep).Kill(); err != nil {
			t.Error(err)
		}
	}},
	"subnet manager never ran": {kind: "sm-dead", options: map[string]string{"how": "uninitialised"}, sm: func(*testing.T, *programs) {}},
	"subnet manager does not sweep": {
		kind: "sm-dead", options: map[string]string{"how": "frozen"}, differs: "does not sweep.* of which 3 are answers to this gate",
		sm: func(t *testing.T, p *programs) { p.startSM(t, 0) },
	},
}

// inexpressible are the other faults of an InfiniBand fabric, with the reason.
var inexpressible = map[string]string{
	"guid-duplicate":     "OpenSM 3.3.23 does not finish its first sweep of a subnet with two equal GUIDs, so that no link comes up; in the world the subnet is up",
	"mtu-mismatch":       "the gate reads the MTU from `ibv_devinfo`: ibsim has no verbs, and one MTU for all ports",
	"nic-firmware-mixed": "ibsim has one firmware version for all adapters",
}
