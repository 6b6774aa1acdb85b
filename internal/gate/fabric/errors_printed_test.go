package fabric_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
)

// By default ibdiagnet prints five errors of a check and counts all: the gate has it print all. In an older
// observation, errors that were not printed may be the site's: they passed if those printed were of others.
func TestErrorsThatAreNotPrinted(t *testing.T) {
	t.Parallel()
	const stage, closing = "Speed / Width checks", "Link Speed Check finished with errors"
	for name, tt := range map[string]struct {
		theirs, counted int
		older           bool
		verdict         check.Verdict
	}{
		"one of theirs":                            {1, 2, true, check.Passed},
		"four of theirs":                           {4, 5, true, check.Passed},
		"five of theirs, and one more":             {5, 6, true, check.Unobserved},
		"eight of theirs, five of them printed":    {5, 8, true, check.Unobserved},
		"eight of theirs, all of them printed":     {8, 9, false, check.Passed},
		"eight of theirs, without the last line":   {8, 8, false, check.Passed},
		"five of theirs printed, as many counted":  {5, 5, true, check.Passed},
		"more errors than lines, all are printed ": {8, 10, false, check.Failed},
	} {
		for _, of := range []string{"others", "a node that is left out"} {
			t.Run(name+" of "+of, func(t *testing.T) {
				t.Parallel()
				s := newSubnet()
				withOthers(s)
				line := "Link: " + s.diagPort("leaf-1", 60) + "<-->" + s.diagPort("storage-01 HCA-1", 1) + " - Unexpected actual link speed 53.125"
				if of != "others" {
					line = "Link: " + s.diagPort("leaf-1", 2) + "<-->" + s.diagPort("gpu-02 mlx5_1", 1) + " - Unexpected actual link speed 53.125"
				}
				s.errors[stage] = append(slices.Repeat([]string{line}, tt.theirs), closing)
				obs := counting(t, look(t, s), stage, tt.counted)
				i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "ibdiagnet" })
				if !strings.HasSuffix(obs[i].Command, " --screen_num_errs 1000000") {
					t.Errorf("%s prints five errors of a check", obs[i].Command)
				}
				if tt.older {
					obs[i].Command = "ibdiagnet"
				}
				declares, p := declared()
				declares.Fabric.Others = []string{"ufm-* *", "storage-*"}
				var g check.Check = fabric.New(declares, p, onhost.Deps{})
				if of != "others" {
					g = fabric.New(declares, p, onhost.Deps{}).Excluding([]string{"gpu-02"})
				}
				if j := plan.Judge(g, obs); j.Verdict != tt.verdict {
					t.Errorf("%s, want %s: %s %+v", j.Verdict, tt.verdict, j.Reason, j.Findings)
				}
			})
		}
	}
}
