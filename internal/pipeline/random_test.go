package pipeline_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/pipeline"
)

// randomSteps are five that need earlier ones and claim up to two GPUs.
func randomSteps(seed uint64) []pipeline.Step {
	r := rand.New(rand.NewPCG(seed, 0))
	var out []pipeline.Step
	for i := range 5 {
		s := pipeline.Step{Name: string(rune('a' + i))}
		if i > 0 && r.IntN(2) == 0 {
			s.Needs = []string{out[r.IntN(i)].Name}
		}
		for range r.IntN(3) {
			s.Claims = append(s.Claims, pipeline.Claim{Check: s.Name, GPUs: 1 + r.IntN(2), Through: pipeline.DRA, Holds: r.IntN(3) == 0})
		}
		out = append(out, s)
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestLoad(t *testing.T) {
	t.Parallel()
	const step = "  - {name: a, title: A, proves: p, because: b"
	for name, tt := range map[string]struct{ data, says string }{
		"right":             {"steps:\n" + step + "}\n", ""},
		"nothing":           {"steps: []\n", "no steps found"},
		"an unknown key":    {"steps:\n" + step + ", need: [b]}\n", "field need not found"},
		"twice":             {"steps:\n" + step + "}\n" + step + "}\n", `duplicate step "a"`},
		"no reason":         {"steps:\n  - {name: a, title: A, proves: p}\n", `invalid step "a": must have name, title, proves and because`},
		"an unknown intent": {"steps:\n" + step + ", for: [batch]}\n", `step a: unknown intent "batch": want one of`},
		"an unknown need":   {"steps:\n" + step + ", needs: [b]}\n", `step a needs "b": step not found`},
		"needs itself":      {"steps:\n" + step + ", needs: [a]}\n", "circular needs: a"},
		"continues on failure of what it does not need": {"steps:\n" + step + ", continueOnFailure: [b]}\n", `continues on failure of "b"`},
		"claims nothing": {"steps:\n" + step + ", claims: [{check: c, through: dra}]}\n", "0 GPUs"},
		"by no way":      {"steps:\n" + step + ", claims: [{check: c, gpus: 1}]}\n", `through ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pipeline.Load([]byte(tt.data))
			if (tt.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("steps:\n  - {name: a, title: A, proves: p, because: b, claims: [{check: c, gpus: 2, through: dra, holds: true}]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		loaded, err := pipeline.Load(data)
		if err != nil || len(loaded) > 6 {
			return
		}
		for _, intent := range pipeline.Intents() {
			if o, err := pipeline.Derive(loaded, intent, 2); err == nil && len(pipeline.Prove(o.Steps, 2)) > 0 {
				t.Errorf("%s: %v is not possible", intent, o.Steps)
			}
		}
	})
}
