package world

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func small(t *testing.T, now func() time.Time) *World {
	t.Helper()
	spec, err := SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(spec, WithClock(now))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestOneGPU: hardware without NVLinks and rails gives a world without both.
func TestOneGPU(t *testing.T) {
	t.Parallel()
	s := small(t, fixed).State()
	if len(s.GPUNodes()) != 1 || len(s.SystemNodes()) != 2 {
		t.Fatalf("%d GPU nodes, %d system nodes", len(s.GPUNodes()), len(s.SystemNodes()))
	}
	n := s.Nodes[0]
	if len(n.GPUs) != 1 || n.UsableGPUs() != 1 || len(n.GPUs[0].NVLinkUp) != 0 {
		t.Errorf("GPUs %+v", n.GPUs)
	}
	if len(n.HCAs)+len(s.Links)+len(s.Switches)+len(s.SMs)+n.RDMACount != 0 || n.Transport != TransportSocket || n.GPUDirect || n.NVLS {
		t.Errorf("unexpected fabric: %+v", n)
	}
	if got, want := n.GPUs[0].MaxSMClock, newWorld(t, 1).State().Nodes[0].GPUs[0].MaxSMClock; got != want {
		t.Errorf("the same GPU clocks %d MHz, in a node of eight %d", got, want)
	}
	if f := s.Facility; f.PowerKW <= 0 || f.CoolingKW <= 0 || f.WeightKg <= 0 {
		t.Errorf("empty facility: %+v", f)
	}
}

// TestFaultsOfMissingHardware: faults of missing hardware are refused, because they would
// have no effect.
func TestFaultsOfMissingHardware(t *testing.T) {
	t.Parallel()
	refused := []string{
		"link-down", "link-degraded", "link-flapping", "sm-dead", "sm-two-masters", "link-ber", "rails-swapped", "cables-swapped",
		"nic-firmware-mixed", "mtu-mismatch", "pkey-missing", "guid-duplicate", "umad-module-missing", "nvlink-down", "nvlink-errors", "fabric-manager-down", "fabric-manager-version", "nvlink-fabric-degraded", "imex-daemon-down", "imex-domain-degraded", "imex-version-mismatch", "rdma-resource-missing",
		"nic-pcie-degraded", "acs-enabled", "iommu-translated", "ssh-hosts-swapped", "cpu-governor", "hugepages-missing",
		"nvls-lost", "tcp-fallback", "no-gpudirect", "data-corruption", "truncated-run", "log-stream-ends", "rail-slow", "uplinks-oversubscribed", "nvlink-domain-fallback",
		"gpu-slow-in-lockstep", "power-capped-later",
		"pfc-off", "netdev-mtu", "gid-missing", "pause-storm", "ecn-off", "dscp-not-trusted", "inbox-drivers", "efa-missing", "efa-driver-mixed",
		"foreign-hosts", "exporter-hosts-swapped", "exporter-pod-mapping-wrong", "image-digest-mixed", "checkpoint-not-mounted", // need a second node or GPU
	}
	for _, k := range append(Catalogue(), Variations()...) {
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			now := fixed()
			w := small(t, func() time.Time { return now })
			f, err := w.AddFault(Fault{Kind: k.Kind})
			if slices.Contains(refused, k.Kind) {
				if err == nil || !strings.Contains(err.Error(), "a3-highgpu-1g") {
					t.Errorf("not refused: %+v, %v", f, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
			broken := w.State()
			if _, err := w.SuspectPattern(f); err != nil {
				t.Error(err)
			}
			if err := w.ClearFault(f.ID); err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(broken, w.State()) {
				t.Error("the fault alters nothing")
			}
		})
	}
}

func TestSpecOf(t *testing.T) {
	t.Parallel()
	for _, name := range HardwareKinds() {
		spec, err := SpecOf(name, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(spec); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := SpecOf(DefaultHardware, 3); err != nil || !cmp.Equal(got, DefaultSpec(3)) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := SpecOf("a3-ultragpu-9g", 1)
	if err == nil || !strings.Contains(err.Error(), "a3-highgpu-1g, gb200-nvl72-ndr400, h100-sxm, h100-sxm-ndr400") {
		t.Errorf("unknown hardware: %v", err)
	}
	for name, spoil := range map[string]func(*Spec){
		"HCAs":   func(s *Spec) { s.HCAs = []string{"mlx5_0"} },
		"spines": func(s *Spec) { s.Spines = 4 },
	} {
		spec, err := SpecOf("a3-highgpu-1g", 1)
		if err != nil {
			t.Fatal(err)
		}
		spoil(&spec)
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), "no compute fabric") {
			t.Errorf("%s on hardware without a fabric: %v", name, err)
		}
	}
}
