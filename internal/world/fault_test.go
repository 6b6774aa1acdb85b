package world

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddFaultRejectsUnknown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault Fault
		want  []string
	}{
		"kind":            {Fault{Kind: "link-dwon"}, []string{"link-dwon", "link-down", "host-label-lowercase"}},
		"node":            {Fault{Kind: "exporter-down", Target: "gpu-9"}, []string{"gpu-9", "gpu-01", "gpu-04"}},
		"system node":     {Fault{Kind: "exporter-down", Target: "system-01"}, []string{"system-01"}},
		"gpu":             {Fault{Kind: "gpu-off-bus", Target: "gpu-01/gpu8"}, []string{"gpu8", "0 to 7"}},
		"gpu form":        {Fault{Kind: "gpu-off-bus", Target: "gpu-01"}, []string{"NODE/gpuN"}},
		"link":            {Fault{Kind: "link-down", Target: "leaf-0/64"}, []string{"leaf-0/64", "spine-3"}},
		"HCA":             {Fault{Kind: "mtu-mismatch", Target: "leaf-0/33"}, []string{"leaf-0/33", "NODE/HCA", "gpu-04"}},
		"port of an HCA":  {Fault{Kind: "mtu-mismatch", Target: "leaf-0/2"}, []string{"leaf-0/2", "NODE/HCA"}},
		"pdu":             {Fault{Kind: "pdu-off", Target: "pdu-x"}, []string{"pdu-x", "pdu-r1-a"}},
		"cluster":         {Fault{Kind: "mfu-low", Target: "gpu-01"}, []string{"cluster"}},
		"option":          {Fault{Kind: "mfu-low", Options: map[string]string{"by": "2"}}, []string{`"by"`, "factor"}},
		"option of none":  {Fault{Kind: "wrong-tokens", Options: map[string]string{"by": "2"}}, []string{"the kind has no options"}},
		"option's word":   {Fault{Kind: "link-degraded", Options: map[string]string{"how": "both"}}, []string{"rate, width"}},
		"option's number": {Fault{Kind: "mfu-low", Options: map[string]string{"factor": "x"}}, []string{"0.01 to 0.99"}},
		"option's range":  {Fault{Kind: "mfu-low", Options: map[string]string{"factor": "1.5"}}, []string{"0.01 to 0.99"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 4)
			_, err := w.AddFault(tt.fault)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not have %q", err, want)
				}
			}
			if len(w.Faults()) != 0 {
				t.Error("the fault is active")
			}
		})
	}
}

func TestAddAndClearFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	healthy := w.State()
	a, err := w.AddFault(Fault{Kind: "link-down", Target: "gpu-01/mlx5_0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddFault(Fault{Kind: "link-down", Target: "gpu-01/mlx5_0"}); err == nil {
		t.Error("the same fault was added twice")
	}
	b, err := w.AddFault(Fault{Kind: "link-down", Target: "gpu-02/mlx5_0"})
	if err != nil || a.ID == b.ID {
		t.Fatalf("%v, IDs %s and %s", err, a.ID, b.ID)
	}
	a.Options["how"] = "altered"
	if diff := cmp.Diff(w.Faults()[0].Options, map[string]string{}); diff != "" {
		t.Errorf("a caller altered an active fault: %s", diff)
	}
	if err := w.ClearFault("f99"); !errors.Is(err, ErrNoSuchFault) {
		t.Errorf("clearing an unknown fault: %v", err)
	}
	if err := w.ClearFault(a.ID); err != nil {
		t.Fatal(err)
	}
	w.ClearAll()
	if diff := cmp.Diff(healthy, w.State()); diff != "" {
		t.Errorf("State changed:\n%s", diff)
	}
}

func TestEveryFaultOfTheCatalogueIsDescribed(t *testing.T) {
	t.Parallel()
	gates := map[string]bool{"facility": true, "fabric": true, "node": true, "gpustack": true, "telemetry": true, "collective": true, "training": true, "inference": true, autoscale: true, conformance: true}
	seen := map[string]bool{}
	for _, k := range append(Catalogue(), Variations()...) {
		if seen[k.Kind] {
			t.Errorf("%s twice", k.Kind)
		}
		seen[k.Kind] = true
		if k.Summary == "" || k.TargetForm == "" || k.DefaultTarget == "" || k.apply == nil {
			t.Errorf("%s: something is missing: %+v", k.Kind, k)
		}
		if k.Variation == gates[k.Gate] {
			t.Errorf("%s: gate %q, variation %v", k.Kind, k.Gate, k.Variation)
		}
		if (k.Gate == autoscale) != (k.Hop != "") && k.Gate != "telemetry" {
			t.Errorf("%s: gate %q, hop %q", k.Kind, k.Gate, k.Hop)
		}
		if (k.Gate == conformance) != (k.Requirement != "") {
			t.Errorf("%s: gate %q, requirement %q", k.Kind, k.Gate, k.Requirement)
		}
		if !k.Variation && k.Suspect == "" {
			t.Errorf("%s: no suspect", k.Kind)
		}
		for _, o := range k.Options {
			if err := o.check(o.Default); err != nil {
				t.Errorf("%s: its own default: %v", k.Kind, err)
			}
		}
	}
}

func TestSuspectPatternNamesTheTarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault      Fault
		yes, wrong []string
	}{
		{Fault{Kind: "gpu-off-bus", Target: "gpu-03/gpu5"}, []string{"gpu-03", "gpu-03/gpu5"}, []string{"gpu-02"}},
		{Fault{Kind: "row-remap-pending", Target: "gpu-02/gpu1"}, []string{"gpu-02/gpu1", "gpu-02 GPU 1", "gpu-02: GPU 00000000:43:00.0"}, []string{"gpu-02", "gpu-01/gpu1", "gpu-02/gpu12"}},
		{Fault{Kind: "link-degraded", Target: "gpu-02/mlx5_3"}, []string{"gpu-02/mlx5_3", "leaf-3/2", "leaf-3/port2", "leaf-3 port 2"}, []string{"gpu-02/mlx5_1", "leaf-3/20", "leaf-3/12", "leaf-1/2"}},
		{Fault{Kind: "link-down", Target: "leaf-3/33"}, []string{"leaf-3/33", "spine-0/4", "leaf-3 to spine-0"}, []string{"leaf-3/34", "leaf-3 to spine-1"}},
		{Fault{Kind: "tcp-fallback", Target: "cluster"}, []string{"gpu-01"}, nil},
		{Fault{Kind: "pdu-off"}, []string{"PDU pdu-r1-b"}, []string{"pdu-r1-a"}},
	} {
		w := newWorld(t, 4)
		f, err := w.AddFault(tt.fault)
		if err != nil {
			t.Fatal(err)
		}
		re, err := w.SuspectPattern(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tt.yes {
			if !re.MatchString(s) {
				t.Errorf("%s on %s: %s does not match %q", f.Kind, f.Target, re, s)
			}
		}
		for _, s := range tt.wrong {
			if re.MatchString(s) {
				t.Errorf("%s on %s: %s matches %q", f.Kind, f.Target, re, s)
			}
		}
	}
}

func TestDefaultTargetInAnotherWorld(t *testing.T) {
	t.Parallel()
	worlds := map[string]*World{}
	for _, k := range append(Catalogue(), Variations()...) {
		name := k.Hardware()
		if worlds[name] == nil {
			spec, err := SpecOf(name, 0)
			if err != nil {
				t.Fatal(err)
			}
			spec.GPUNodes = []NodeSpec{{Name: "dgx-a", Rack: "x"}, {Name: "dgx-b", Rack: "x"}, {Name: "dgx-c", Rack: "x"}}
			if worlds[name], err = New(spec, WithClock(fixed)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := worlds[name].AddFault(Fault{Kind: k.Kind}); err != nil {
			t.Error(err)
		}
	}
}

// Faults of the chain change the State, and clearing them restores it.
func TestAutoscaleFaultsAreInTheState(t *testing.T) {
	t.Parallel()
	for _, k := range append(autoscaleFaults(), FaultKind{Kind: "honor-labels-off"}) {
		w := newWorld(t, 4)
		healthy := w.State()
		f, err := w.AddFault(Fault{Kind: k.Kind})
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(healthy, w.State()) {
			t.Errorf("%s changes nothing", k.Kind)
		}
		if err := w.ClearFault(f.ID); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(healthy, w.State()); diff != "" {
			t.Errorf("%s leaves a trace:\n%s", k.Kind, diff)
		}
	}
}

func TestSpare(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]bool{"": true, "first": true, "none": false} {
		w := newWorld(t, 4)
		var options map[string]string
		if option != "" {
			options = map[string]string{"spare": option}
		}
		if _, err := w.AddFault(Fault{Kind: "pool-limit-zero", Options: options}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Policy{{Name: "pool-limit-zero", Spare: want}}, w.State().Autoscale.Policies); diff != "" {
			t.Errorf("spare %q: %s", option, diff)
		}
	}
}
