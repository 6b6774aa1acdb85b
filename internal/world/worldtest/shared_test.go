package worldtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// fakeT collects the errors of a test.
type fakeT struct {
	errs []string
	ends []func()
}

func (*fakeT) Helper()                          {}
func (f *fakeT) Errorf(format string, a ...any) { f.errs = append(f.errs, fmt.Sprintf(format, a...)) }
func (f *fakeT) Cleanup(end func())             { f.ends = append(f.ends, end) }

// A change of any part of a shared state is found, when it is replaced or at the end.
func TestSharedFindsAChange(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*world.State)
		want   string // "": no error
	}{
		"none":                    {func(*world.State) {}, ""},
		"a field of its own":      {func(s *world.State) { s.Name = "x" }, ""},
		"a node":                  {func(s *world.State) { s.Nodes[0].Driver = "x" }, "Driver"},
		"a slice of a GPU":        {func(s *world.State) { s.Nodes[1].GPUs[2].NVLinkUp[3] = false }, "NVLinkUp"},
		"a map":                   {func(s *world.State) { s.Collective.Rails["mlx5_3"] = 2 }, "mlx5_3"},
		"another key":             {func(s *world.State) { s.Collective.Rails["mlx5_9"] = 2 }, "mlx5_9"},
		"a link":                  {func(s *world.State) { s.Links[0].Width++ }, "Width"},
		"a slice of the hardware": {func(s *world.State) { s.Nodes[0].Hardware.Fabric.PKeys[0]++ }, "PKeys"},
		"a switch":                {func(s *world.State) { s.Switches[0].Name = "x" }, "Switches"},
		"a subnet manager":        {func(s *world.State) { s.SMs[0].LID++ }, "SMs"},
		"a PDU":                   {func(s *world.State) { s.Facility.PDUs[0].ID = "x" }, "PDUs"},
	} {
		for _, replaced := range []bool{true, false} {
			f := &fakeT{}
			now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
			w, err := world.New(world.DefaultSpec(2), world.WithClock(func() time.Time { return now }), worldtest.Shared(f))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.AddFault(world.Fault{Kind: "rail-slow"}); err != nil {
				t.Fatal(err)
			}
			s := w.Recent()
			tt.change(&s)
			if replaced {
				now = now.Add(time.Second)
				w.Recent()
			} else {
				f.ends[0]()
			}
			if got := strings.Join(f.errs, "\n"); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%s, replaced %v: %q, want %q", name, replaced, got, tt.want)
			}
		}
	}
}

func TestCopyIsEqual(t *testing.T) {
	t.Parallel()
	for _, hardware := range world.HardwareKinds() {
		spec, err := world.SpecOf(hardware, 2)
		if err != nil {
			t.Fatal(err)
		}
		w, err := world.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		s := w.State()
		if diff := cmp.Diff(s, worldtest.Copy(s)); diff != "" {
			t.Errorf("%s: %s", hardware, diff)
		}
	}
}
