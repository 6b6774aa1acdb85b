package gang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
	"github.com/firstlight/firstlight/internal/workload/gangproof"
)

// fixture is a proof that passes.
type fixture struct {
	found       []workload.Detected
	room        Capacity
	large, fits Proof
}

func good() fixture {
	waits := workload.Placement{Wanted: 5, Exist: 5, Refused: 5, GroupRefused: true}
	return fixture{
		found: []workload.Detected{{Name: "kubernetes", API: "scheduling.k8s.io/v1alpha2"}},
		room:  Capacity{Room: gangproof.Room{Nodes: []string{"a", "b", "c", "d"}, GPUsPerPod: 8, Fits: 4}},
		large: Proof{Large: waits, LargeAfter: waits, Small: workload.Placement{Wanted: 1, Exist: 1, Bound: 1}},
		fits:  Proof{Large: placed("a", "b", "c", "d")},
	}
}

// placed is a gang with a pod on each of these nodes.
func placed(nodes ...string) workload.Placement {
	out := workload.Placement{Wanted: len(nodes), Exist: len(nodes), Bound: len(nodes), Nodes: map[string]string{}}
	for i, node := range nodes {
		out.Nodes[fmt.Sprintf("gang-fits-%d", i)] = node
	}
	return out
}

// oneGPU is the proof on all that is free: one GPU.
func oneGPU(s *fixture) {
	waits := workload.Placement{Wanted: 2, Exist: 2, Refused: 2, GroupRefused: true}
	s.room = Capacity{Room: gangproof.Room{Nodes: []string{"a"}, GPUsPerPod: 1, Fits: 1}}
	s.large.Large, s.large.LargeAfter = waits, waits
	s.fits.Large = placed("a", "a")
}

func (s fixture) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	for _, k := range []struct {
		kind    string
		figures any
	}{{kindScheduler, s.found}, {kindCapacity, s.room}, {kindTooLarge, s.large}, {kindFits, s.fits}} {
		o, err := check.Observation{ID: k.kind, Kind: k.kind}.WithFigures(k.figures)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(s *fixture)
		verdict check.Verdict
		says    string
	}{
		"whole or nothing":        {func(*fixture) {}, check.Passed, "on free GPUs for 4 pods none of a gang of 5 was placed while a smaller pod was; all 4 pods of a gang that fits were placed"},
		"no scheduler":            {func(s *fixture) { s.found = []workload.Detected{} }, check.Failed, "no gang scheduler found"},
		"no room":                 {func(s *fixture) { s.room.Fits = 0 }, check.Unobserved, "all its GPUs free"},
		"part of it is bound":     {func(s *fixture) { s.large.Large.Bound = 4 }, check.Failed, "placed 4 of 5 pods of a gang"},
		"part of it later":        {func(s *fixture) { s.large.LargeAfter.Bound = 3 }, check.Failed, "placed 3 of 5 pods of a gang"},
		"all of it is bound":      {func(s *fixture) { s.large.Large.Bound = 5 }, check.Unobserved, "GPUs were released"},
		"no decision on the gang": {func(s *fixture) { s.large.Large.Refused, s.large.Large.GroupRefused = 0, false }, check.Unobserved, "no decision"},
		"nothing is ever bound":   {func(s *fixture) { s.large.Small.Bound = 0 }, check.Failed, "proves nothing"},
		"no decision on the small pod": {func(s *fixture) {
			s.large.Small.Bound, s.large.Undecided = 0, "deadline exceeded"
		}, check.Unobserved, "no decision about a smaller pod"},
		"the small pod is refused": {func(s *fixture) {
			s.large.Small.Bound, s.large.Small.Refused, s.large.Undecided = 0, 1, "deadline exceeded"
		}, check.Failed, "reserves GPUs"},
		"the small pod's group is refused": {func(s *fixture) {
			s.large.Small.Bound, s.large.Small.GroupRefused, s.large.Undecided = 0, true, "deadline exceeded"
		}, check.Failed, "reserves GPUs"},
		"no decision on one that fits": {func(s *fixture) {
			s.fits.Large.Bound, s.fits.Undecided = 3, "deadline exceeded"
		}, check.Unobserved, "placed 3 of 4 pods of a gang that fits, and refused none"},
		"one that fits is refused": {func(s *fixture) {
			s.fits.Large.Bound, s.fits.Large.Refused, s.fits.Undecided = 3, 1, "deadline exceeded"
		}, check.Failed, "3 of 4 pods of a gang that fits"},
		"the group of one that fits is refused": {func(s *fixture) {
			s.fits.Large.Bound, s.fits.Large.GroupRefused, s.fits.Undecided = 0, true, "deadline exceeded"
		}, check.Failed, "0 of 4 pods of a gang that fits"},
		"no small pod":                    {func(s *fixture) { s.large.Small = workload.Placement{} }, check.Unobserved, "no smaller pod was created"},
		"it fits":                         {func(s *fixture) { s.large.Large.Wanted, s.large.LargeAfter.Wanted = 4, 4 }, check.Unobserved, "it proves nothing"},
		"no second observation":           {func(s *fixture) { s.large.LargeAfter = workload.Placement{} }, check.Unobserved, "not observed again"},
		"one that fits is not bound":      {func(s *fixture) { s.fits.Large.Bound = 3 }, check.Failed, "3 of 4 pods of a gang that fits"},
		"one GPU":                         {oneGPU, check.Passed, "all 2 pods of a gang that fits were placed (without GPUs"},
		"one GPU, and a gang of one":      {func(s *fixture) { oneGPU(s); s.fits.Large = placed("a") }, check.Unobserved, "want a gang of 2"},
		"one GPU, half of a gang":         {func(s *fixture) { oneGPU(s); s.fits.Large.Bound = 1 }, check.Failed, "1 of 2 pods of a gang that fits"},
		"one GPU, part of it bound":       {func(s *fixture) { oneGPU(s); s.large.Large.Bound = 1 }, check.Failed, "placed 1 of 2 pods of a gang"},
		"a pod of it was not recorded":    {func(s *fixture) { delete(s.fits.Large.Nodes, "gang-fits-3") }, check.Unobserved, "only 3 nodes are known for 4 placed pods"},
		"a placed pod was replaced":       {func(s *fixture) { s.fits.Large.Replaced = 1 }, check.Unobserved, "1 placed pods were replaced"},
		"one was placed and replaced":     {func(s *fixture) { s.large.LargeAfter.Replaced = 1 }, check.Failed, "placed 1 of 5 pods of a gang"},
		"a pod of it is elsewhere":        {func(s *fixture) { s.fits.Large.Nodes["gang-fits-3"] = "e" }, check.Unobserved, "other nodes than the free ones"},
		"half of the large one exists":    {func(s *fixture) { s.large.Large.Exist = 2 }, check.Unobserved, "only 2 of 5 pods"},
		"a group without pods":            {func(s *fixture) { s.large.Large.Exist, s.large.Large.Refused = 0, 0 }, check.Passed, ""},
		"a decision that was not awaited": {func(s *fixture) { s.large.Undecided = "deadline exceeded" }, check.Unobserved, "no decision"},
		"a smaller one was tried":         {func(s *fixture) { s.fits.Large.Wanted, s.fits.Large.Bound = 2, 2 }, check.Unobserved, "want a gang of 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := good()
			tt.spoil(&s)
			j := (&Check{nodes: s.room.Nodes, gpus: 8, scheduler: "auto"}).Judge(s.observations(t))
			if j.Verdict != tt.verdict || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
			if j.Verdict == check.Failed && (len(j.Findings) == 0 || j.Findings[0].Remedy == "") {
				t.Errorf("a failure without a finding: %+v", j)
			}
		})
	}
}

func TestEveryPartIsNeeded(t *testing.T) {
	t.Parallel()
	all := good().observations(t)
	c := &Check{scheduler: "auto"}
	for i := range all {
		without := append(append([]check.Observation{}, all[:i]...), all[i+1:]...)
		if j := c.Judge(without); j.Verdict != check.Unobserved {
			t.Errorf("without %s: %s", all[i].Kind, j.Verdict)
		}
		broken := append([]check.Observation{}, all...)
		broken[i].Err = "refused"
		if j := c.Judge(broken); j.Verdict != check.Unobserved {
			t.Errorf("%s in error: %s", all[i].Kind, j.Verdict)
		}
		if j := c.Judge(append(append([]check.Observation{}, all...), all[i])); j.Verdict != check.Unobserved {
			t.Errorf("%s twice: %s", all[i].Kind, j.Verdict)
		}
	}
}
