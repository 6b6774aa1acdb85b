package accept

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// Verdicts are kept only if documents, checks, sign-off, hosts, age and cluster allow it; each
// difference is named. The cluster is asked last, and only if nothing else differs.
func TestDifferencesOfDemands(t *testing.T) {
	t.Parallel()
	signed := site.SignOff{By: "a", Role: "b", Reference: "c", At: "2026-11-01", Expires: "2026-12-01"}
	limit, err := loadLimits()
	if err != nil {
		t.Fatal(err)
	}
	oldest := day.Add(-limit.maxAge())
	leaves := func(n int) func(*demand) {
		return func(now *demand) {
			for i := range n {
				now.leaves[fmt.Sprintf("site x%d", i)] = "1"
			}
		}
	}
	for name, tt := range map[string]struct {
		then, now func(*demand)
		want      []string
		asked     bool // the cluster
	}{
		"nothing":                   {nil, nil, nil, true},
		"another value":             {nil, func(d *demand) { d.leaves["site a"] = "2" }, []string{"site a: 1 then, 2 now"}, false},
		"a value more":              {nil, leaves(1), []string{"site x0: nothing then, 1 now"}, false},
		"a value less":              {leaves(1), nil, []string{"site x0: 1 then, nothing now"}, false},
		"as many as are named":      {nil, leaves(5), []string{"site x0: nothing then, 1 now", "site x1: nothing then, 1 now", "site x2: nothing then, 1 now", "site x3: nothing then, 1 now", "site x4: nothing then, 1 now"}, false},
		"one more than are named":   {nil, leaves(6), []string{"site x0: nothing then, 1 now", "site x1: nothing then, 1 now", "site x2: nothing then, 1 now", "site x3: nothing then, 1 now", "site x4: nothing then, 1 now", "and 1 more"}, false},
		"a check more":              {nil, func(d *demand) { d.steps = append(d.steps, "b") }, []string{"checks: facility then, facility, b now"}, false},
		"a check not applicable":    {nil, func(d *demand) { d.steps = []string{stepText(facility.Name, "none")} }, []string{"checks: facility then, facility (not applicable: none) now"}, false},
		"not signed off":            {nil, func(d *demand) { d.signOff = site.SignOff{} }, []string{"the facility is not signed off: facility.signOff.by is missing"}, false},
		"not signed off, not asked": {func(d *demand) { d.steps = []string{"b"} }, func(d *demand) { d.steps, d.signOff = []string{"b"}, site.SignOff{} }, nil, true},
		"another host key":          {nil, func(d *demand) { d.hosts = map[string]string{"h": "k2"} }, []string{"SSH host key of h: k then, k2 now"}, false},
		"as old as the limit":       {func(d *demand) { d.reached["facility"] = oldest }, nil, nil, true},
		"older than the limit":      {func(d *demand) { d.reached["facility"] = oldest.Add(-time.Second) }, nil, []string{"facility is of 2026-11-15T03:04:04Z, 168h0m1s ago: the limit is 168h0m0s"}, false},
		"of now":                    {func(d *demand) { d.reached["facility"] = day }, nil, nil, true},
		"of the future":             {func(d *demand) { d.reached["facility"] = day.Add(time.Second) }, nil, []string{"facility is of 2026-11-22T03:04:06Z, which is in the future"}, false},
		"another cluster": {nil, func(d *demand) {
			d.cluster = func(context.Context) identity { return identity{uid: "two", simulated: evidence.HardwareReal} }
		}, []string{"cluster: one then, two now (UID of namespace kube-system)"}, false},
		"everything": {func(d *demand) {
			d.reached = map[string]time.Time{"z": oldest.Add(-time.Hour), "a": day.Add(time.Hour)}
		}, func(d *demand) {
			d.leaves, d.steps, d.signOff, d.hosts = map[string]string{}, []string{facility.Name, "b"}, site.SignOff{}, nil
		}, []string{"site a: 1 then, nothing now", "checks: facility then, facility, b now", "the facility is not signed off: facility.signOff.by is missing",
			"SSH host key of h: k then, nothing now", "a is of 2026-11-22T04:04:05Z, which is in the future", "z is of 2026-11-15T02:04:05Z, 169h0m0s ago: the limit is 168h0m0s"}, false},
	} {
		asked := false
		one := func(context.Context) identity {
			asked = true
			return identity{uid: "one", simulated: evidence.HardwareReal}
		}
		of := func() demand {
			return demand{
				cluster: one, leaves: map[string]string{"site a": "1"}, hosts: map[string]string{"h": "k"}, steps: []string{facility.Name},
				reached: map[string]time.Time{facility.Name: day.Add(-time.Hour)}, signOff: signed, at: day,
			}
		}
		then, now := of(), of()
		for _, c := range []struct {
			change func(*demand)
			of     *demand
		}{{tt.then, &then}, {tt.now, &now}} {
			if c.change != nil {
				c.change(c.of)
			}
		}
		got := differences(t.Context(), then, now, limit)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if name != "another cluster" && asked != tt.asked {
			t.Errorf("%s: the cluster was asked: %t", name, asked)
		}
	}
}

// Each value of a document has its path, so that any change is a difference; a document that is not
// YAML is one value.
func TestLeavesOfDocuments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		"a: 1":                 {"d a": "1"},
		"a: {b: {c: x}, d: 1}": {"d a.b.c": `"x"`, "d a.d": "1"},
		"a: [x, {b: true}]":    {"d a[0]": `"x"`, "d a[1].b": "true"},
		"- 1.5\n- null":        {"d [0]": "1.5", "d [1]": "<nil>"},
		"1: {2: x}":            {"d 1.2": `"x"`},
		`a: "1"`:               {"d a": `"1"`},
		"just text":            {"d ": `"just text"`},
		"a: [":                 {"d": "a: ["},
	} {
		got := map[string]string{}
		addLeaves(got, "d", []byte(text))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	secret := map[string]string{}
	addLeaves(secret, "d", []byte("password: hunter2hunter2"))
	if text := fmt.Sprint(secret); len(secret) != 1 || strings.Contains(text, "hunter2") {
		t.Errorf("a secret: %s", text)
	}
	o := options(t, t.TempDir(), planOf("a"))
	if got, err := (documents{site: o.Site, profile: o.Profile, recipe: []byte("1")}).leaves(); err != nil || got["recipe "] != "1" {
		t.Errorf("a short recipe: %q, %v", got["recipe "], err)
	}
	d := documents{site: o.Site, profile: o.Profile, allowFailed: 2}
	plain, err := d.leaves()
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]bool{}
	for path := range plain {
		name, _, _ := strings.Cut(path, " ")
		of[name] = true
	}
	if diff := cmp.Diff(map[string]bool{"site": true, "profile": true, "accept": true}, of); diff != "" || plain["accept --allow-failed"] != "2" {
		t.Errorf("%s, %q", diff, plain["accept --allow-failed"])
	}
	d.recipe, d.inputs = []byte("driver: 570\n"), map[string][]byte{"empty.json": nil, "x.json": []byte(`{"a":1}`)}
	want := maps.Clone(plain)
	maps.Copy(want, map[string]string{"recipe driver": "570", "empty.json": "a file", "empty.json ": "<nil>", "x.json": "a file", "x.json a": "1"})
	got, err := d.leaves()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
}

// The verdicts of a run are valid for its documents, hosts and cluster, from the time of each; a run
// without a verdict is of the time of its creation.
func TestTheDemandOfARun(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir(), planOf("a"))
	result := func(step string, at time.Time) evidence.Entry {
		return evidence.Entry{Type: evidence.EntryVerdict, Step: step, Result: &plan.Result{Step: step, At: at, Judgement: check.Judgement{Verdict: check.Passed}}}
	}
	b := &evidence.Bundle{
		Header: evidence.Header{Run: "R", Created: day.Add(-time.Hour), Cluster: "one", Simulated: evidence.HardwareReal, Hosts: map[string]string{"h": "k"}, AllowFailed: 1},
		Plan:   evidence.PlanFile{Steps: []evidence.PlanStep{{Name: "a"}, {Name: "b", NotApplicable: "none"}, {Name: "c"}}}, Site: o.SiteFile, Profile: o.ProfileFile,
	}
	began := map[string]time.Time{"run R": day.Add(-time.Hour)}
	for name, tt := range map[string]struct {
		entries []evidence.Entry
		steps   []string
		want    []string
		reached map[string]time.Time
	}{
		"no verdict":               {nil, []string{"a", "b", "c"}, []string{"a", "b (not applicable: none)", "c"}, began},
		"verdicts":                 {[]evidence.Entry{result("a", day), result("c", day.Add(1))}, []string{"a", "b", "c"}, []string{"a", "b (not applicable: none)", "c"}, map[string]time.Time{"a": day, "c": day.Add(1)}},
		"some checks":              {[]evidence.Entry{result("a", day), result("c", day.Add(1))}, []string{"c", "b"}, []string{"b (not applicable: none)", "c"}, map[string]time.Time{"c": day.Add(1)}},
		"verdicts of others":       {[]evidence.Entry{result("a", day)}, []string{"c"}, []string{"c"}, began},
		"a check it does not have": {nil, []string{"d"}, nil, began},
	} {
		b.Entries = tt.entries
		d, err := demandOf(b, tt.steps)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.steps) + cmp.Diff(tt.reached, d.reached) + cmp.Diff(b.Header.Hosts, d.hosts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if id := d.cluster(t.Context()); id.uid != "one" || id.simulated != evidence.HardwareReal || d.leaves["accept --allow-failed"] != "1" || len(d.leaves) < 10 {
			t.Errorf("%s: %+v, %d leaves", name, id, len(d.leaves))
		}
	}
	now, err := (&execution{opts: Options{Site: o.Site, Profile: o.Profile, AllowFailed: 1, Hosts: b.Header.Hosts, Clock: at(day)}}).demandNow([]string{"a"})
	if err != nil || !now.at.Equal(day) || now.signOff != o.Site.Facility.SignOff || now.cluster == nil {
		t.Errorf("%+v, %v", now, err)
	}
	then, err := demandOf(b, []string{"a"})
	if diff := cmp.Diff(then.leaves, now.leaves) + cmp.Diff(then.steps, now.steps) + cmp.Diff(then.hosts, now.hosts); err != nil || diff != "" {
		t.Errorf("the same options: %v %s", err, diff)
	}
	b.Profile = []byte("{")
	if d, err := demandOf(b, []string{"a"}); err == nil || d.leaves != nil {
		t.Errorf("a profile that cannot be read: %+v", d)
	}
}
