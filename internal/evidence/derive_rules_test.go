package evidence

import (
	"slices"
	"testing"
)

// The plan of a run is the one that its inputs require, step by step.
func TestAPlanIsTheOneThatTheInputsRequire(t *testing.T) {
	t.Parallel()
	plan := func(steps ...PlanStep) PlanFile { return PlanFile{Name: "playbook", Steps: steps} }
	a, b := PlanStep{Name: "a", Describe: []string{"look"}, GPUs: 8}, PlanStep{Name: "b", Needs: []string{"a"}, After: []string{"a"}}
	changed := func(change func(s *PlanStep)) PlanFile {
		s := b
		change(&s)
		return plan(a, s)
	}
	for name, tt := range map[string]struct {
		have PlanFile
		want Derived
		says []string
	}{
		"the same":               {plan(a, b), Derived{Plan: plan(a, b)}, nil},
		"other descriptions":     {plan(PlanStep{Name: "a"}, b), Derived{Plan: plan(a, b)}, nil},
		"nothing is required":    {plan(a, b), Derived{}, nil},
		"inputs that contradict": {plan(a, b), Derived{Problems: []PlanProblem{{Step: "a", Message: "of another site"}}}, []string{"a: of another site"}},
		"another name":           {PlanFile{Name: "other", Steps: []PlanStep{a, b}}, Derived{Plan: plan(a, b)}, []string{`the plan is "other", the inputs require "playbook"`}},
		"a step too few":         {plan(b), Derived{Plan: plan(a, b)}, []string{"a: the inputs require this step, the plan does not have it"}},
		"a step too many":        {plan(a, b, PlanStep{Name: "c"}), Derived{Plan: plan(a, b)}, []string{"c: the plan has this step, the inputs do not require it"}},
		"a step twice":           {plan(a, b, a), Derived{Plan: plan(a, b)}, []string{"a: the plan has this step twice"}},
		"another order":          {plan(b, a), Derived{Plan: plan(a, b)}, []string{"the order of the plan is [b a], the inputs require [a b]"}},
		"other needs":            {changed(func(s *PlanStep) { s.Needs = nil }), Derived{Plan: plan(a, b)}, []string{`b: needs is [] in the plan, the inputs require ["a"]`}},
		"two needs for one":      {changed(func(s *PlanStep) { s.Needs = []string{"a", "c"} }), Derived{Plan: changed(func(s *PlanStep) { s.Needs = []string{"a c"} })}, []string{`b: needs is ["a" "c"] in the plan, the inputs require ["a c"]`}},
		"another order of steps": {changed(func(s *PlanStep) { s.After = nil }), Derived{Plan: plan(a, b)}, []string{`b: after is [] in the plan, the inputs require ["a"]`}},
		"only recommended":       {changed(func(s *PlanStep) { s.Recommended = true }), Derived{Plan: plan(a, b)}, []string{`b: recommended is true in the plan, the inputs require false`}},
		"not applicable":         {changed(func(s *PlanStep) { s.NotApplicable = "no GPUs" }), Derived{Plan: plan(a, b)}, []string{`b: notApplicable is "no GPUs" in the plan, the inputs require ""`}},
		"several":                {plan(PlanStep{Name: "c"}), Derived{Plan: plan(a), Problems: []PlanProblem{{Message: "of another site"}}}, []string{"of another site", "a: the inputs require this step, the plan does not have it", "c: the plan has this step, the inputs do not require it"}},
	} {
		var said []string
		for _, p := range (&Bundle{Plan: tt.have}).ComparePlan(tt.want) {
			said = append(said, p.String())
		}
		if !slices.Equal(said, tt.says) {
			t.Errorf("%s: %q, want %q", name, said, tt.says)
		}
	}
}

func TestTemporaryFilesAreNamedByTheirMark(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{".run.json" + tempMark: true, "run.json" + tempMark: false, ".run.json": false, tempMark: false, "run.json": false} {
		if got := isTemp(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Problems are in the order of the files.
func TestProblemsOfFilesAreInOrder(t *testing.T) {
	t.Parallel()
	m := Manifest{Files: []ManifestFile{{Path: "b"}, {Path: "d"}}}
	have := Manifest{Files: []ManifestFile{{Path: "a"}, {Path: "c"}}}
	var files []string
	for _, p := range m.Compare(have) {
		files = append(files, p.File)
	}
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
}
