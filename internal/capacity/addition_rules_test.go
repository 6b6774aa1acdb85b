package capacity

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// An addition says one thing, and names its base, its cluster and versions, and new nodes each once.
func TestStoredAdditionsAreComplete(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := base(t, "").Add(s, p, file(t, newNode))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*Addition)
		want   string
	}{
		"complete":          {func(*Addition) {}, ""},
		"one accepted node": {func(a *Addition) { a.To.Nodes = a.To.Nodes[:1] }, ""},
		"two new nodes":     {func(a *Addition) { a.Nodes = append(a.Nodes, site.Node{Name: "new-02"}) }, ""},
		"no run":            {func(a *Addition) { a.To.Run = "" }, "accepted run, its cluster, its nodes and new nodes are required"},
		"no cluster":        {func(a *Addition) { a.To.Cluster = "" }, "accepted run, its cluster, its nodes and new nodes are required"},
		"no accepted node":  {func(a *Addition) { a.To.Nodes = nil }, "accepted run, its cluster, its nodes and new nodes are required"},
		"no new node":       {func(a *Addition) { a.Nodes = nil }, "accepted run, its cluster, its nodes and new nodes are required"},
		"no driver":         {func(a *Addition) { a.To.Driver = "" }, "driver and components"},
		"no components":     {func(a *Addition) { a.To.Components = nil }, "driver and components"},
		"a node twice":      {func(a *Addition) { a.Nodes = append(a.Nodes, a.Nodes[0]) }, `new node "new-01" is invalid, accepted or listed twice`},
		"an accepted node":  {func(a *Addition) { a.Nodes[0].Name = a.To.Nodes[0] }, "is invalid, accepted or listed twice"},
		"no name":           {func(a *Addition) { a.Nodes[0].Name = "" }, "is invalid, accepted or listed twice"},
		"another version":   {func(a *Addition) { a.Format = 2 }, "unsupported schema version 2: want 1"},
	} {
		changed := a
		changed.Nodes = append([]site.Node(nil), a.Nodes...)
		tt.change(&changed)
		var o accept.Options
		if err := changed.Into(&o); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(o.Inputs[InputFile])
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || got.Format != 0) {
			t.Errorf("%s: %+v, %v, want %q", name, got, err, tt.want)
		}
		if name != "complete" {
			continue
		}
		twice := strings.Replace(string(o.Inputs[InputFile]), `"format": 1`, `"format": 1, "format": 1`, 1)
		if got, err := Parse([]byte(twice)); !errors.Is(err, strictjson.ErrTwice) || got.Format != 0 {
			t.Errorf("a key twice: %+v, %v", got, err)
		}
	}
	a.To.Accepted = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // RFC 3339 has no such year
	var o accept.Options
	if err := a.Into(&o); err == nil || o.Inputs != nil || o.AddedTo != "" {
		t.Errorf("an addition that cannot be encoded: %v, %+v", err, o.Inputs)
	}
}

// Racks are compared only once everything else is right, and a spine whose nodes are not added behind a cordon is refused.
func TestTheSiteOfAnAddition(t *testing.T) {
	t.Parallel()
	s, _ := fixture(t)
	between, err := profile.Load("gb200-nvl72-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	b := base(t, "")
	b.figures = between
	renamed := *s
	renamed.Name = "other"
	_, err = b.Add(&renamed, between, file(t, "nodes: [{name: new-01, rack: r9}]\n"))
	if err == nil || !strings.Contains(err.Error(), "this is site other") || strings.Contains(err.Error(), "cannot be compared with an accepted node") {
		t.Errorf("%v", err)
	}
	onRay := *s
	onRay.Spine = site.SpineRay
	if err := supported(&onRay); err == nil || !strings.Contains(err.Error(), "with spine ray") {
		t.Errorf("ray: %v", err)
	}
	if err := supported(s); err != nil {
		t.Error(err)
	}
	if _, err := Planned(s, between, file(t, "nodes: [{name: "+s.Inventory.SystemNodes[0].Name+"}]\n")); err == nil || !strings.Contains(err.Error(), "is the system node") {
		t.Errorf("a plan for a system node: %v", err)
	}
	broken := *between
	broken.Collective.MinFraction.Value = math.NaN()
	if sameFigures(&broken, &broken) || sameFigures(&broken, between) || sameFigures(between, &broken) || !sameFigures(between, between) {
		t.Error("figures that cannot be compared are not the same")
	}
}

// Until the cluster is identified, only the header is compared. The plan is named by its nodes.
func TestAnAdditionOfAnUnidentifiedCluster(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := base(t, "").Add(s, p, file(t, newNode))
	if err != nil {
		t.Fatal(err)
	}
	if d := a.Differs(evidence.Header{AddedTo: a.To.Run, Site: a.To.Site, Profile: a.To.Profile}, s); len(d) > 0 {
		t.Error(d)
	}
	want := "new-01 added to 4 accepted nodes of " + s.Name
	if got := a.title(); got != want+" (run "+a.To.Run+")" {
		t.Errorf("%q", got)
	}
	a.To.Run = ""
	if got := a.title(); got != want {
		t.Errorf("without a run: %q", got)
	}
}
