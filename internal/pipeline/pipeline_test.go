package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/pipeline"
)

func steps(t *testing.T) []pipeline.Step {
	t.Helper()
	s, err := pipeline.Steps()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(o pipeline.Order) string {
	var out []string
	for _, s := range o.Steps {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestDerive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		intent pipeline.Intent
		gpus   int
		// early: the intent test is declared before conformance.
		early bool
		want  string
		// moved is the first obstacle of the declared order.
		moved string
	}{
		{pipeline.Conformance, 1, false, "snapshot resources autoscaling health conformance artifacts", ""},
		{pipeline.Conformance, 32, false, "snapshot resources autoscaling health conformance artifacts", ""},
		{pipeline.Training, 2, false, "snapshot resources autoscaling health conformance intent artifacts", ""},
		{pipeline.Inference, 1, false, "snapshot resources autoscaling health conformance intent artifacts", ""},
		{pipeline.Inference, 8, true, "snapshot resources autoscaling health intent conformance artifacts", ""},
		{
			pipeline.Inference, 1, true, "snapshot resources autoscaling health conformance intent artifacts",
			"step conformance cannot come after intent: its check dra_support takes 1 GPU, and of 1 GPU 0 are free, since intent holds the rest until the end",
		},
		{pipeline.Training, 1, true, "snapshot resources autoscaling health conformance intent artifacts", "step conformance cannot come after intent"},
	} {
		t.Run(fmt.Sprintf("%s on %d early %v", tt.intent, tt.gpus, tt.early), func(t *testing.T) {
			t.Parallel()
			declared := steps(t)
			if tt.early {
				declared = early(declared)
			}
			o, err := pipeline.Derive(declared, tt.intent, tt.gpus)
			if err != nil || names(o) != tt.want {
				t.Fatalf("%s, %v; want %s", names(o), err, tt.want)
			}
			if left := pipeline.Prove(o.Steps, tt.gpus); len(left) > 0 {
				t.Errorf("the order is not possible: %v", left)
			}
			var moved string
			if len(o.Moved) > 0 {
				moved = o.Moved[0].String()
			}
			if (tt.moved == "") != (moved == "") || !strings.HasPrefix(moved, tt.moved) {
				t.Errorf("moved because %q, want %q", moved, tt.moved)
			}
		})
	}
}

// early has the intent test before conformance.
func early(steps []pipeline.Step) []pipeline.Step {
	at := func(name string) int {
		return slices.IndexFunc(steps, func(s pipeline.Step) bool { return s.Name == name })
	}
	intent := steps[at("intent")]
	steps = slices.Delete(steps, at("intent"), at("intent")+1)
	return slices.Insert(steps, at("conformance"), intent)
}

func TestNoOrder(t *testing.T) {
	t.Parallel()
	if _, err := pipeline.Derive(steps(t), pipeline.Conformance, 0); !errors.Is(err, pipeline.ErrImpossible) ||
		!strings.Contains(err.Error(), "step conformance cannot run: its check dra_support takes 1 GPU, and there are 0 GPUs") {
		t.Errorf("without a GPU: %v", err)
	}
	two := []pipeline.Step{
		{Name: "a", Claims: []pipeline.Claim{{Check: "x", GPUs: 1, Through: pipeline.DRA, Holds: true}}},
		{Name: "b", Claims: []pipeline.Claim{{Check: "y", GPUs: 1, Through: pipeline.DRA, Holds: true}}},
	}
	if _, err := pipeline.Derive(two, pipeline.Training, 1); !errors.Is(err, pipeline.ErrImpossible) {
		t.Errorf("two that both hold the only GPU: %v", err)
	}
	if _, err := pipeline.Derive(two[:0], pipeline.Training, 1); err == nil {
		t.Error("no steps are an order")
	}
}

func TestRequestedOrder(t *testing.T) {
	t.Parallel()
	right := "snapshot resources autoscaling health conformance intent artifacts"
	for name, tt := range map[string]struct{ order, says string }{
		"possible":           {right, ""},
		"wrong on one GPU":   {"snapshot resources autoscaling health intent conformance artifacts", "step conformance cannot come after intent: its check dra_support takes 1 GPU, and of 1 GPU 0 are free"},
		"before its needs":   {"resources snapshot autoscaling health conformance intent artifacts", "step resources needs snapshot, which does not come before it"},
		"artifacts too soon": {"snapshot resources autoscaling health artifacts conformance intent", "step artifacts needs conformance"},
		"one is missing":     {"snapshot resources autoscaling health conformance artifacts", "step intent is missing"},
		"one twice":          {right + " health", "duplicate step health"},
		"no such step":       {right + " burn-in", `has no step "burn-in": want one of snapshot, resources`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := pipeline.Asked(steps(t), pipeline.Inference, 1, strings.Fields(tt.order))
			if tt.says == "" {
				if err != nil || names(o) != tt.order {
					t.Errorf("%s, %v", names(o), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// A derived order is possible, and an order is found if any permutation is possible.
func TestDeriveFindsAny(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		own := randomSteps(seed)
		for total := range 4 {
			o, err := pipeline.Derive(own, pipeline.Training, total)
			possible := anyOrder(nil, own, total)
			switch {
			case err == nil && len(pipeline.Prove(o.Steps, total)) > 0:
				t.Fatalf("%d on %d: %s is not possible", seed, total, names(o))
			case (err == nil) != possible:
				t.Fatalf("%d on %d: %v, though an order is possible: %t", seed, total, err, possible)
			}
		}
	}
}

func anyOrder(taken, left []pipeline.Step, total int) bool {
	if len(left) == 0 {
		return len(pipeline.Prove(taken, total)) == 0
	}
	for i := range left {
		next := append(slices.Clone(taken), left[i])
		if anyOrder(next, slices.Delete(slices.Clone(left), i, i+1), total) {
			return true
		}
	}
	return false
}
