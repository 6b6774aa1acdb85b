package training

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/trainer"
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

// A pod whose torchrun was ended by SIGTERM exits with 1 as one that failed, and its log ends with an exception: the pod that
// ended before is the suspect.
func TestAPodThatWasEndedIsNotTheSuspect(t *testing.T) {
	t.Parallel()
	failed := func(kind string) checktest.Change {
		return checktest.Set(KindRanks+"@gpu-02", `.failures`, []trainer.Failure{{Kind: kind, Rank: -1, Text: "SignalException: Process 107 got signal: 15"}})
	}
	for name, tt := range map[string]struct {
		exit   map[int]int32
		change checktest.Change
		want   []string
	}{
		"another ended before":    {map[int]int32{1: 1, 3: 137}, failed(trainer.KindTerminated), []string{"pod firstlight-test/training-3-abcde"}},
		"no other ended":          {map[int]int32{1: 1}, failed(trainer.KindTerminated), []string{"pod firstlight-test/training-1-abcde"}},
		"an exception of its own": {map[int]int32{1: 1, 3: 137}, failed("exception"), []string{"gpu-02"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite(frameworkTorchtitan))
			_, obs := observeAndJudge(t, g, fakeTrainer{exit: tt.exit})
			j := plan.Judge(g, checktest.With(t, obs, tt.change))
			if diff := cmp.Diff(tt.want, suspects(j)); diff != "" || j.Verdict != check.Failed {
				t.Errorf("%s: %s: %s", j.Verdict, j.Reason, diff)
			}
		})
	}
}

// The ranks that waited for one that failed fail as well: their errors name no cause (NVIDIA/nccl issues 795 and 2076).
func TestRanksThatWaitedForAFailedOneAreNoSuspects(t *testing.T) {
	t.Parallel()
	var (
		ecc     = trainer.Failure{Kind: "cuda-error", Rank: 26, Text: "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"}
		crash   = trainer.Failure{Kind: "killed", Rank: 26, Text: "traceback : Signal 11 (SIGSEGV) received by PID 107"}
		aborted = trainer.Failure{Kind: "killed", Rank: 26, Text: "traceback : Signal 6 (SIGABRT) received by PID 107"}
		worker  = func(rank int) trainer.Failure {
			return trainer.Failure{Kind: "worker-failed", Rank: rank, Text: "rank : 2 (local_rank: 2)"}
		}
		waiting = []trainer.Failure{
			{Kind: "nccl-error", Rank: 9, Text: "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited or there was a network error, NCCL version 2.21.5"},
			{Kind: "collective-timeout", Rank: 10, Text: "Watchdog caught collective operation timeout"},
			worker(9),
		}
	)
	for name, tt := range map[string]struct {
		gpu02, gpu04 []trainer.Failure
		want         []string
	}{
		"a broken GPU":             {waiting, []trainer.Failure{ecc, worker(26)}, []string{"gpu-04 (rank 26)", "gpu-04 (rank 26)"}},
		"a crash":                  {waiting, []trainer.Failure{crash}, []string{"gpu-04 (rank 26)"}},
		"no cause in the logs":     {waiting, nil, []string{"gpu-02 (rank 9)", "gpu-02 (rank 10)", "gpu-02 (rank 9)"}},
		"the watchdog's own abort": {waiting, []trainer.Failure{aborted}, []string{"gpu-02 (rank 9)", "gpu-02 (rank 10)", "gpu-02 (rank 9)", "gpu-04 (rank 26)"}},
		"an error of its own":      {[]trainer.Failure{{Kind: "nccl-error", Rank: 9, Text: "NCCL error: unhandled cuda error"}, worker(9)}, []trainer.Failure{ecc}, []string{"gpu-02 (rank 9)", "gpu-02 (rank 9)", "gpu-04 (rank 26)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite(frameworkTorchtitan))
			_, obs := observeAndJudge(t, g, fakeTrainer{exit: map[int]int32{1: 1, 3: 1}})
			j := plan.Judge(g, checktest.With(t, obs,
				checktest.Set(KindRanks+"@gpu-02", `.failures`, tt.gpu02), checktest.Set(KindRanks+"@gpu-04", `.failures`, tt.gpu04)))
			if diff := cmp.Diff(tt.want, suspects(j)); diff != "" || j.Verdict != check.Failed {
				t.Errorf("%s: %s: %s", j.Verdict, j.Reason, diff)
			}
		})
	}
}
