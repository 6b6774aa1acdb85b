package conclude

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestJudgement(t *testing.T) {
	t.Parallel()
	o := check.Observation{ID: "0001"}
	tests := map[string]struct {
		say   func(*Conclusions)
		parts int
		want  check.Verdict
		says  string
	}{
		"nothing was said":        {parts: 2, want: check.Unobserved, says: "0 of 2 parts"},
		"nothing is to be shown":  {want: check.Unobserved},
		"all was shown":           {say: func(c *Conclusions) { c.Shown(); c.Shown() }, parts: 2, want: check.Passed, says: "fine"},
		"a part was not":          {say: func(c *Conclusions) { c.Shown() }, parts: 2, want: check.Unobserved, says: "1 of 2 parts"},
		"more than there is":      {say: func(c *Conclusions) { c.Shown(); c.Shown(); c.Shown() }, parts: 2, want: check.Unobserved, says: "3 of 2 parts"},
		"all, and one was unseen": {say: func(c *Conclusions) { c.Shown(); c.Missing(o, "a", "gone", "look") }, parts: 1, want: check.Unobserved, says: "a: gone"},
		"all, and one is wrong":   {say: func(c *Conclusions) { c.Shown(); c.Fail(o, "b", "bad", "mend") }, parts: 1, want: check.Failed, says: "b: bad"},
		"wrong comes before unseen": {say: func(c *Conclusions) {
			c.Missing(o, "a", "gone", "look")
			c.Fail(o, "b", "bad", "mend")
			c.Fail(o, "c", "bad", "mend")
		}, parts: 1, want: check.Failed, says: "b: bad (and 1 more)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Conclusions
			if tt.say != nil {
				tt.say(&c)
			}
			j := c.Judgement(tt.parts, "fine")
			if j.Verdict != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
			for _, f := range j.Findings {
				if len(f.Observations) != 1 {
					t.Errorf("no evidence: %+v", f)
				}
			}
		})
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	seen := func(target, figures, err string) check.Observation {
		return check.Observation{ID: target, Kind: "k", Target: target, Figures: []byte(figures), Err: err}
	}
	tests := map[string]struct {
		obs  []check.Observation
		want bool
		says string
	}{
		"none":           {says: "0 observations"},
		"another target": {obs: []check.Observation{seen("b", "1", "")}, says: "0 observations"},
		"one":            {obs: []check.Observation{seen("a", "1", ""), seen("b", "2", "")}, want: true},
		"two":            {obs: []check.Observation{seen("a", "1", ""), seen("a", "1", "")}, says: "2 observations"},
		"an error":       {obs: []check.Observation{seen("a", "", "nodes is forbidden")}, says: "forbidden"},
		"no figures":     {obs: []check.Observation{seen("a", "", "")}, says: "no figures"},
		"other figures":  {obs: []check.Observation{seen("a", `"x"`, "")}, says: "decode"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Conclusions
			_, n, ok := Only[int](&c, tt.obs, "k", "a")
			j := c.Judgement(1, "")
			if ok != tt.want || ok && n != 1 || !strings.Contains(j.Reason, tt.says) || j.Verdict == check.Passed {
				t.Errorf("%d %t: %s %s", n, ok, j.Verdict, j.Reason)
			}
		})
	}
}
