package fabric

import "testing"

func shape() Shape {
	return Shape{
		Seed: 1, Nodes: []string{"a", "b", "c"}, HCAs: []string{"mlx5_0", "mlx5_1"}, Spines: 2,
		NodesSU: 2, Ports: 4, Lane: 106.25, Width: 4,
	}
}

func TestBuildIsRailOptimised(t *testing.T) {
	t.Parallel()
	topo, err := Build(shape())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a/mlx5_0": "leaf-0/1", "a/mlx5_1": "leaf-1/1", "b/mlx5_0": "leaf-0/2", "b/mlx5_1": "leaf-1/2",
		"c/mlx5_0": "leaf-2/1", "c/mlx5_1": "leaf-3/1",
		"leaf-0/3": "spine-0/1", "leaf-0/4": "spine-1/1", "leaf-1/3": "spine-0/2", "leaf-1/4": "spine-1/2",
		"leaf-2/3": "spine-0/3", "leaf-2/4": "spine-1/3", "leaf-3/3": "spine-0/4", "leaf-3/4": "spine-1/4",
	}
	for _, l := range topo.Links {
		if want[l.A.Name()] != l.B.Name() || !l.Up() || l.Rate() != 400 {
			t.Errorf("%s goes to %s, want %s", l.A.Name(), l.B.Name(), want[l.A.Name()])
		}
		delete(want, l.A.Name())
	}
	if len(want) > 0 {
		t.Errorf("missing links: %v", want)
	}
	if len(topo.SMs) != 2 || topo.SMs[0].State != SMMaster || topo.SMs[1].State != SMStandby {
		t.Errorf("subnet managers %+v", topo.SMs)
	}
}

// 1,000 hosts with 8 HCAs need more leaves than a spine has ports.
func TestBuildHasCoreSwitchesAboveASpine(t *testing.T) {
	t.Parallel()
	s := shape()
	s.Nodes, s.NodesSU, s.Ports = []string{"a", "b", "c"}, 1, 5
	topo, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	used, up := map[string]string{}, map[string]int{}
	for _, l := range topo.Links {
		for _, e := range []End{l.A, l.B} {
			if other := used[e.Name()]; other != "" {
				t.Errorf("%s has two cables, to %s and in %s - %s", e.Name(), other, l.A.Name(), l.B.Name())
			}
			used[e.Name()] = l.A.Name() + l.B.Name()
		}
		up[l.A.Node+" "+l.B.Node]++
	}
	for _, want := range []string{"leaf-0 spine-0", "leaf-0 spine-1", "leaf-1 spine-2", "leaf-2 spine-1", "leaf-5 spine-3", "spine-0 core-0", "spine-3 core-1"} {
		if up[want] != 1 {
			t.Errorf("%d cables %s, want 1", up[want], want)
		}
	}
	if n, want := len(topo.Links), 3*2+6*2+4*2; n != want {
		t.Errorf("%d links, want %d", n, want)
	}
	if topo.SMs[0].Node != "spine-0" || topo.SMs[1].Node != "spine-1" {
		t.Errorf("subnet managers %+v", topo.SMs)
	}
}

func TestBuildRejectsTooLargeShapes(t *testing.T) {
	t.Parallel()
	for name, alter := range map[string]func(*Shape){
		"no hosts":        func(s *Shape) { s.Nodes = nil },
		"no HCAs":         func(s *Shape) { s.HCAs = nil },
		"no spines":       func(s *Shape) { s.Spines = 0 },
		"leaf too small":  func(s *Shape) { s.Spines = 3 },
		"spine too small": func(s *Shape) { s.Nodes = []string{"a", "b", "c", "d", "e"} }, // nor the spine of a rail
	} {
		s := shape()
		alter(&s)
		if _, err := Build(s); err == nil {
			t.Errorf("%s: built", name)
		}
	}
}

func TestSpeeds(t *testing.T) {
	t.Parallel()
	for _, s := range Speeds() {
		if DataRate(s.Lane) != s.Data || SpeedName(s.Lane) != s.Name {
			t.Errorf("%+v: data rate %d, name %q", s, DataRate(s.Lane), SpeedName(s.Lane))
		}
	}
	down := Link{State: StateDown, PhysState: PhysPolling, LaneGbps: 106.25, Width: 4}
	if down.Rate() != 0 || SpeedName(1) != "" {
		t.Error("a dead link has a rate, or an unknown speed a name")
	}
}
