package training

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

// suspects of a judgement, each finding's.
func suspects(j check.Judgement) []string {
	var out []string
	for _, f := range j.Findings {
		out = append(out, f.Suspect)
	}
	return out
}

// A job that failed names what its logs say, else the first pod that ended with an error.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world fakeTrainer
		want  []string
	}{
		"one pod fails":           {fakeTrainer{exit: map[int]int32{2: 1}}, []string{"pod firstlight-test/training-2-abcde"}},
		"two pods fail":           {fakeTrainer{exit: map[int]int32{1: 1, 3: 137}}, []string{"pod firstlight-test/training-1-abcde"}},
		"a rank says why":         {fakeTrainer{exit: map[int]int32{1: 1}, watchdog: 11}, []string{"gpu-02 (rank 11)"}},
		"steps without a rank":    {fakeTrainer{unlabel: true}, []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}},
		"a hang with all details": {fakeTrainer{timeout: true, watchdog: 11}, []string{"gpu-02 (rank 11)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, _ := observeAndJudge(t, testGate(t, testSite(frameworkTorchtitan)), tt.world)
			if diff := cmp.Diff(tt.want, suspects(j)); diff != "" || j.Verdict != check.Failed {
				t.Errorf("%s: %s: %s", j.Verdict, j.Reason, diff)
			}
		})
	}
}
