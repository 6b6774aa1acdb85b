package judge_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Mutated evidence is judged without a panic, and a failed judgement
// has a suspect and a remedy: scenarios and states with parts lost, doubled, swapped.
func TestMutatedEvidenceIsJudgedWithoutPanic(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	s := scenariotest.Simulate(c)
	verdicts := map[check.Verdict]int{}
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 2))
		var made scenario.Scenario
		var state snapshot.State
		if !mutated(t, r, c, &made) || !mutated(t, r, s, &state) {
			continue
		}
		j := judge.Judge(made, state)
		verdicts[j.Verdict]++
		if j.Verdict == check.Failed && len(j.Findings) == 0 || j.Verdict == check.Passed && len(j.Findings) > 0 || j.Reason == "" {
			t.Errorf("seed %d: %+v", seed, j)
		}
		for _, finding := range j.Findings {
			if finding.Message == "" || finding.Remedy == "" {
				t.Errorf("seed %d: a finding says too little: %+v", seed, finding)
			}
		}
	}
	if verdicts[check.Failed] < 40 {
		t.Errorf("%v: the mutations break too little", verdicts)
	}
}

// mutated decodes v into out after random changes of its JSON; it returns false if the result
// cannot be decoded into the type.
func mutated(t *testing.T, r *rand.Rand, v, out any) bool {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for range r.IntN(6) {
		doc = mutate(r, doc, 2+r.IntN(6))
	}
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	return json.Unmarshal(data, out) == nil
}

// mutate changes something at most depth levels down.
func mutate(r *rand.Rand, v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			return v
		}
		key := keys[r.IntN(len(keys))]
		if depth == 0 {
			delete(v, key)
		} else {
			v[key] = mutate(r, v[key], depth-1)
		}
		return v
	case []any:
		if len(v) == 0 {
			return v
		}
		i, k := r.IntN(len(v)), r.IntN(len(v))
		switch {
		case depth > 0:
			v[i] = mutate(r, v[i], depth-1)
		case i == k:
			return append(v, v[i])
		case i < k:
			v[i] = v[k]
		default:
			return slices.Delete(v, i, i+1)
		}
		return v
	case string:
		return []string{"", "other", "0/9 nodes are available: 9 x.", "-1"}[r.IntN(4)]
	case float64:
		return []float64{-1, 0, 7, 1 << 30}[r.IntN(4)]
	case bool:
		return !v
	default:
		return nil
	}
}
