package trainer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstlight/firstlight/internal/probe/logline"
	"github.com/firstlight/firstlight/internal/probe/trainer"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	tests := map[string]trainer.Failure{
		"[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.": {Kind: "collective-timeout", Rank: 3, Operation: "ALLREDUCE"},
		"[rank5]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST)":                                {Kind: "collective-timeout", Rank: 5, Operation: "BROADCAST"},
		"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ":                                                                                                                    {Kind: "worker-failed", Rank: -1},
		"  rank      : 11 (local_rank: 3)":                                                     {Kind: "worker-failed", Rank: 11},
		"torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError":                      {Kind: "rendezvous-timeout", Rank: -1},
		"[rank7]:torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB":       {Kind: "out-of-memory", Rank: 7},
		"[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:268": {Kind: "nccl-error", Rank: 0},
		"[rank0]:RuntimeError: boom":                                                           {Kind: "exception", Rank: 0},
	}
	for text, want := range tests {
		t.Run(want.Kind, func(t *testing.T) {
			t.Parallel()
			got, ok := trainer.DetectFailure(logline.Parse(text))
			if !ok {
				t.Fatal("not detected")
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trainer.Failure{}, "Text")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, text := range []string{"", "[rank0]:[titan] x - root - INFO - step:  1  loss: 8.0", "Process group destroyed"} {
		if got, ok := trainer.DetectFailure(logline.Parse(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func FuzzParseFailure(f *testing.F) {
	f.Add("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE")
	f.Add("  rank      : 99999999999999999999 (local_rank: 3)")
	f.Fuzz(func(t *testing.T, s string) {
		if got, ok := trainer.DetectFailure(logline.Parse(s)); ok && (got.Kind == "" || len(got.Text) > 400) {
			t.Errorf("%+v", got)
		}
	})
}
