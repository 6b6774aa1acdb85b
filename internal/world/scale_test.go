package world

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShapeOfTheDefaultWorld(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int][4]int{4: {12, 64, 32, 2}, 64: {20, 576, 512, 2}} {
		w := newWorld(t, nodes)
		s := w.State()
		gpus := 0
		ids := map[string]bool{}
		for _, n := range s.Nodes {
			gpus += len(n.GPUs)
			for _, g := range n.GPUs {
				ids[g.UUID], ids[g.Serial] = true, true
			}
			for _, h := range n.HCAs {
				ids[fmt.Sprintf("guid %x", h.GUID)], ids[fmt.Sprint("lid ", h.LID)] = true, true
				l, ok := s.HCALink(n.Name, h.Name)
				if !ok || !l.Up() || l.Rate() != 400 || h.Rate != 400 || h.Attached != l.B || !strings.HasPrefix(l.B.Node, "leaf-") {
					t.Errorf("%s/%s: %+v", n.Name, h.Name, l)
				}
			}
		}
		for _, sw := range s.Switches {
			ids[fmt.Sprintf("guid %x", sw.GUID)], ids[fmt.Sprint("lid ", sw.LID)] = true, true
		}
		if diff := cmp.Diff(want, [4]int{len(s.Switches), len(s.Links), gpus, len(s.SystemNodes())}); diff != "" {
			t.Errorf("%d nodes: switches, links, GPUs, system nodes: %s", nodes, diff)
		}
		if all := 4*gpus + 2*len(s.Switches); len(ids) != all {
			t.Errorf("%d nodes: %d different identities, want %d", nodes, len(ids), all)
		}
		ends := map[string]bool{}
		for _, l := range s.Links {
			for _, e := range []string{l.A.Name(), l.B.Name()} {
				if ends[e] {
					t.Errorf("two links in %s", e)
				}
				ends[e] = true
			}
		}
	}
}

func TestStateIsACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	before, scribble := w.State(), w.State()
	scribble.Nodes[0].GPUs[0].UUID = "x"
	scribble.Nodes[0].GPUs[0].NVLinkUp[0] = false
	scribble.Nodes[0].HCAs[0].Name = "x"
	scribble.Links[0].State = "x"
	scribble.SMs[0].LID = 99
	scribble.Switches[0].Name = "x"
	scribble.Facility.PDUs[0].ID = "x"
	if diff := cmp.Diff(before, w.State()); diff != "" {
		t.Errorf("a caller changed the world:\n%s", diff)
	}
}

// A lab of 1,000 nodes needed 20 GB: each command of each host had a copy of the whole world.
func TestRecentStatesAreShared(t *testing.T) {
	t.Parallel()
	now := fixed()
	w, err := New(DefaultSpec(2), WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	first := w.Recent()
	now = now.Add(recentAge(len(first.Nodes)))
	if &first.Nodes[0] != &w.Recent().Nodes[0] {
		t.Error("a recent state was computed again")
	}
	now = now.Add(time.Millisecond)
	later := w.Recent()
	if !later.Now.Equal(now) || later.Links[0].CountersA == first.Links[0].CountersA {
		t.Errorf("a state of %s is from %s", now, later.Now)
	}
	if _, err := w.AddFault(Fault{Kind: "exporter-down"}); err != nil {
		t.Fatal(err)
	}
	if broken := w.Recent(); cmp.Equal(broken.Nodes, later.Nodes) {
		t.Error("a fault is not in the state after it")
	}
	if diff := cmp.Diff(w.State(), w.Recent()); diff != "" {
		t.Errorf("not the state: %s", diff)
	}
}

func TestSeedsDiffer(t *testing.T) {
	t.Parallel()
	spec := DefaultSpec(1)
	a, err := New(spec, WithClock(fixed))
	if err != nil {
		t.Fatal(err)
	}
	spec.Seed = 2
	b, err := New(spec, WithClock(fixed))
	if err != nil {
		t.Fatal(err)
	}
	if a.State().Nodes[0].GPUs[0].UUID == b.State().Nodes[0].GPUs[0].UUID {
		t.Error("two seeds gave the same GPU")
	}
}

func TestNewRejectsInvalidSpecs(t *testing.T) {
	t.Parallel()
	for want, alter := range map[string]func(*Spec){
		"unknown hardware": func(s *Spec) { s.Hardware = "abacus" },
		"no GPU nodes":     func(s *Spec) { s.GPUNodes = nil },
		"duplicate node":   func(s *Spec) { s.SystemNodes[0].Name = "gpu-01" },
		"no name":          func(s *Spec) { s.GPUNodes[0].Name = "" },
		"HCAs per node":    func(s *Spec) { s.HCAs = nil },
		"must be 3 or 4":   func(s *Spec) { s.DCGMMajor = 2 },
		"hosts, HCAs and":  func(s *Spec) { s.Spines = 0 },
		"do not fit":       func(s *Spec) { s.Spines = 60 },
	} {
		spec := DefaultSpec(2)
		alter(&spec)
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func BenchmarkState64Nodes(b *testing.B) {
	w, err := New(DefaultSpec(64))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = w.State()
	}
}
