package checktest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

// A judge that does not look at a field is found: the field passes spoilt, without a reason.
func TestAFieldThatIsNotReadIsFound(t *testing.T) {
	t.Parallel()
	type figures struct {
		Temperature float64 `json:"temperature"`
		Name        string  `json:"name"`
	}
	o, err := check.Observation{ID: "1", Kind: "gpu", Target: "gpu-01"}.WithFigures(figures{40, "a"})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(obs []check.Observation) check.Judgement {
		f, _, err := check.One[figures](obs, "gpu")
		if err != nil {
			return check.NotObserved(err.Error())
		}
		if f.Temperature <= 0 || f.Temperature > 90 {
			return check.Fail("hot", check.Finding{Suspect: "gpu-01", Observations: []string{obs[0].ID}})
		}
		return check.Pass("cool")
	}
	passed := map[string]bool{}
	var l lines
	for _, s := range spoil(t, []check.Observation{o}, func(string) bool { return true }) {
		j := judge(s.obs)
		l.add(s, j)
		if j.Verdict == check.Passed {
			passed[s.where+": "+s.change] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{
		`gpu@gpu-01 .name: ""`: true, "gpu@gpu-01 .name: another text": true, "gpu@gpu-01 .name: left out": true,
		"gpu@gpu-01 .temperature: x0.5": true, "gpu@gpu-01 .temperature: 1 more": true, "gpu@gpu-01 .temperature: 1 less": true, "gpu@gpu-01 .temperature: 1": true,
	}, passed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("gpu@gpu-01: gone, in error, twice -> unobserved, 0 figures\n"+
		"gpu@gpu-01 .name: left out, \"\", another text -> passed, 0 figures\n"+
		"gpu@gpu-01 .temperature: left out, 0, -1 -> failed: gpu-01 (1), 0 figures\n"+
		"gpu@gpu-01 .temperature: 1, 1 less, 1 more -> passed, 0 figures\n"+
		"gpu@gpu-01 .temperature: x1000 -> failed: gpu-01 (1), 0 figures\n"+
		"gpu@gpu-01 .temperature: x0.5 -> passed, 0 figures\n", l.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAChangeIsMadeAtItsPath(t *testing.T) {
	t.Parallel()
	const before = `{"a":{"b.c":[{"n":1},{"n":2},{"n":3}]}}`
	for name, tt := range map[string]struct {
		path string
		to   any
		want string // empty: refused
	}{
		"an item":           {`.a["b.c"][0].n`, 7, `{"a":{"b.c":[{"n":7},{"n":2},{"n":3}]}}`},
		"the last":          {`.a["b.c"][last].n`, 7, `{"a":{"b.c":[{"n":1},{"n":2},{"n":7}]}}`},
		"all":               {`.a["b.c"][*].n`, 7, `{"a":{"b.c":[{"n":7},{"n":7},{"n":7}]}}`},
		"a key left out":    {`.a["b.c"][1].n`, LeftOut, `{"a":{"b.c":[{"n":1},{},{"n":3}]}}`},
		"an item left out":  {`.a["b.c"][1]`, LeftOut, `{"a":{"b.c":[{"n":1},{"n":3}]}}`},
		"an item twice":     {`.a["b.c"][0]`, Twice, `{"a":{"b.c":[{"n":1},{"n":1},{"n":2},{"n":3}]}}`},
		"a new key":         {`.a.d`, true, `{"a":{"b.c":[{"n":1},{"n":2},{"n":3}],"d":true}}`},
		"no such key":       {`.x.n`, 7, ""},
		"nothing to remove": {`.x`, LeftOut, ""},
		"no such item":      {`.a["b.c"][3].n`, 7, ""},
		"not a list":        {`.a[0]`, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, err := parse(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := put(decode(t, []byte(before)), steps, tt.to)
			if tt.want == "" {
				if err == nil {
					t.Errorf("%v", got)
				}
				return
			}
			data, encodeErr := json.Marshal(got)
			if err != nil || encodeErr != nil || string(data) != tt.want {
				t.Errorf("%s, want %s: %v %v", data, tt.want, err, encodeErr)
			}
		})
	}
	for _, path := range []string{"[x]", "[1", `["a`, "..a"} {
		if _, err := parse(path); err == nil {
			t.Errorf("%q is accepted", path)
		}
	}
}

// A sample is the same in every run, of all fields some, and of the table their lines.
func TestASampleSpoilsSomeFieldsAndComparesTheirLines(t *testing.T) {
	t.Parallel()
	o, err := check.Observation{ID: "1", Kind: "gpu", Target: "gpu-01"}.WithFigures(map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8})
	if err != nil {
		t.Fatal(err)
	}
	table := func(wanted func(string) bool) string {
		var l lines
		l.figures([]check.Figure{{Name: "temperature", Value: 40, Unit: "C"}})
		for _, s := range spoil(t, []check.Observation{o}, wanted) {
			l.add(s, check.Pass("cool"))
		}
		return l.String()
	}
	all, some := table(func(string) bool { return true }), table(Sample(4).has)
	if n := len(linesOf(all, Sample(4).has)); n < 2 || n > 5 { // the figure is one
		t.Errorf("%d lines of\n%s", n, all)
	}
	if diff := cmp.Diff(linesOf(all, Sample(4).has), linesOf(some, Sample(4).has)); diff != "" {
		t.Error(diff)
	}
}
