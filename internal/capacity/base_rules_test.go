package capacity

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// Nodes are added only to a run whose evidence can be read, which has a verdict that accepts, and which is of
// the command that accepts.
func TestARunThatIsNoBase(t *testing.T) {
	t.Parallel()
	const not = "is not an accepted run"
	with := func(change func(*evidence.Header)) func(*evidence.Start) {
		return func(s *evidence.Start) { change(&s.Header) }
	}
	for name, tt := range map[string]struct {
		failed string
		start  func(*evidence.Start)
		stored func(t *testing.T, b *evidence.Bundle)
		want   string
	}{
		"accepted":     {"", nil, nil, ""},
		"failed":       {theCluster, nil, nil, not},
		"no command":   {"", with(func(h *evidence.Header) { h.Command = nil }), nil, not},
		"no argument":  {"", with(func(h *evidence.Header) { h.Command = h.Command[:1] }), nil, not},
		"its profile":  {"", nil, func(_ *testing.T, b *evidence.Bundle) { b.Profile = []byte("{") }, "profile of run"},
		"no additions": {"", with(func(h *evidence.Header) { h.AddedTo = "20261121-000000-abcd" }), nil, "read the nodes of run"},
		"no manifest": {"", nil, func(t *testing.T, b *evidence.Bundle) {
			t.Helper()
			if err := os.Remove(filepath.Join(b.Dir, "manifest.json")); err != nil {
				t.Fatal(err)
			}
		}, "read the manifest of run"},
		"no observations": {"", nil, func(t *testing.T, b *evidence.Bundle) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(b.Dir, "observations")); err != nil {
				t.Fatal(err)
			}
		}, "read the versions of run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := accepted(t, tt.failed, tt.start)
			if tt.stored != nil {
				tt.stored(t, b)
			}
			got, err := BaseOf(b)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if err != nil && (got.Run != "" || got.Nodes != nil) {
				t.Errorf("with an error it is %+v", got)
			}
			if strings.HasPrefix(name, "no manifest") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The versions of a base are those of its accepted nodes in gate node: not those of a node that was left
// out, nor what another gate read.
func TestTheVersionsOfABase(t *testing.T) {
	t.Parallel()
	s, _ := fixture(t)
	names := s.NodeNames()
	left, err := BaseOf(acceptedBy(t, step{name: node.Name, failed: names[0], nodes: names, driver: "580.105.08", drivers: map[string]string{names[0]: "590"}}))
	if err != nil || left.Driver != "580.105.08" || !slices.Equal(left.Components["driver"], []string{"580.105.08"}) || !slices.Equal(left.LeftOut, names[:1]) {
		t.Errorf("a node that was left out: %+v, %v", left, err)
	}
	other, err := BaseOf(acceptedBy(t, step{name: "gpustack", nodes: names, driver: "580.105.08"}))
	if err != nil || other.Driver != "" || len(other.Components) > 0 || other.oneDriver() == nil {
		t.Errorf("another gate: %+v, %v", other, err)
	}
}

// A base that was added to keeps its age, its nodes and their versions: a driver that only the added nodes
// have is a second one.
func TestABaseOfABase(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	added := func(change func(*Addition), driver string) Base {
		t.Helper()
		a, err := base(t, "").Add(s, p, file(t, newNode))
		if err != nil {
			t.Fatal(err)
		}
		change(&a)
		var o accept.Options
		if err := a.Into(&o); err != nil {
			t.Fatal(err)
		}
		gate := step{name: node.Name, nodes: []string{"new-01"}, driver: driver}
		b, err := BaseOf(runOf(t, t.TempDir(), evidencetest.Clock(), gate, func(s *evidence.Start) { s.Header.AddedTo, s.Inputs = o.AddedTo, o.Inputs }))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	same := added(func(a *Addition) { a.To.Components["firmware of BIOS"] = []string{"1.2"} }, "580.105.08")
	want := node.Components{"driver": {"580.105.08"}, "firmware of MT4129": {"28.40"}, "firmware of BIOS": {"1.2"}}
	if diff := cmp.Diff(want, same.Components); diff != "" || same.Driver != "580.105.08" {
		t.Errorf("driver %q %s", same.Driver, diff)
	}
	if other := added(func(*Addition) {}, "590"); other.Driver != "" || !strings.Contains(other.oneDriver().Error(), "(580.105.08, 590)") {
		t.Errorf("another driver: %q", other.Driver)
	}
	future := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	if late := added(func(a *Addition) { a.To.Accepted = future }, "580.105.08"); !late.Accepted.Before(future) {
		t.Errorf("the base is as old as its last addition, not: %s", late.Accepted)
	}
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if old := added(func(a *Addition) { a.To.Accepted = past }, "580.105.08"); !old.Accepted.Equal(past) {
		t.Errorf("a base is as old as its first acceptance: %s", old.Accepted)
	}
}

// An acceptance of this minute is not of the future, and one is too old a minute after the limit.
func TestTheAgeOfABase(t *testing.T) {
	t.Parallel()
	b := Base{Run: "r", Accepted: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	for age, want := range map[time.Duration]string{
		0: "", -29 * time.Second: "", -time.Minute: "in the future", time.Hour: "", time.Hour + 29*time.Second: "", time.Hour + time.Minute: "1h1m0s ago, the limit is 1h0m0s",
	} {
		err := b.Fresh(b.Accepted.Add(age), time.Hour)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", age, err, want)
		}
	}
}
