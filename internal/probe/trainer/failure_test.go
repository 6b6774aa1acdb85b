package trainer_test

import (
	"strings"
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

// Failures of PyTorch 2.1 to 2.9 as issues quote them (pytorch/pytorch 118369 and PR 177472, hiyouga/LlamaFactory 7396,
// XPixelGroup/BasicSR 737, sgl-project/sglang 1693, mila-iqia/milabench PR 269). The rank in brackets before
// "Watchdog" is that in its process group: of a subgroup it is another rank's number.
func TestDetectFailuresOfPyTorch(t *testing.T) {
	t.Parallel()
	const caught = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600067 milliseconds before timing out."
	timeout := func(rank int) trainer.Failure {
		return trainer.Failure{Kind: "collective-timeout", Rank: rank, Operation: "ALLREDUCE"}
	}
	for name, tt := range map[string]struct {
		text string
		want trainer.Failure
	}{
		"before 2.2":              {"[E ProcessGroupNCCL.cpp:458] [Rank 7] " + caught, timeout(7)},
		"before 2.2, by torchrun": {"[default3]:[E ProcessGroupNCCL.cpp:458] [Rank 11] " + caught, timeout(11)},
		"a subgroup":              {"[rank13]:[E321 02:07:08.414640780 ProcessGroupNCCL.cpp:607] [Rank 1] " + caught, timeout(13)},
		"a subgroup, by torchrun": {"[default5]:[rank13]:[E321 02:07:08.414640780 ProcessGroupNCCL.cpp:607] [Rank 1] " + caught, timeout(13)},
		"a subgroup, by srun":     {" 3: [rank13]:[E321 02:07:08.414640780 ProcessGroupNCCL.cpp:607] [Rank 1] " + caught, timeout(13)},
		"behind a label":          {"cn-d004 [stderr] [rank14]:[E909 09:55:29.307629539 ProcessGroupNCCL.cpp:607] [Rank 2] " + caught, timeout(14)},
		"with its group":          {"[rank3]:[E321 02:07:08.414640780 ProcessGroupNCCL.cpp:632] [PG ID 2 PG GUID 5(tp) Rank 1] " + caught, timeout(3)},
		"its group alone":         {"[PG ID 0 PG GUID 0(default_pg) Rank 3] " + caught, timeout(3)},
		"the monitor":             {"[rank0]:[F1201 10:00:00.123456789 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.", trainer.Failure{Kind: "watchdog", Rank: 0}},
		"an end by the watchdog":  {"  what():  [PG ID 0 PG GUID 0(default_pg) Rank 5] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered", trainer.Failure{Kind: "cuda-error", Rank: -1}},
		"an ECC error":            {"[rank0]: torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", trainer.Failure{Kind: "cuda-error", Rank: 0}},
		"a store":                 {"[rank3]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 8/16 clients joined.", trainer.Failure{Kind: "exception", Rank: 3}},
		"any exception":           {"[rank2]: OSError: [Errno 5] Input/output error", trainer.Failure{Kind: "exception", Rank: 2}},
		"an exception, no text":   {"[rank2]: AssertionError", trainer.Failure{Kind: "exception", Rank: 2}},
		// flyteorg/flytekit pull request 2064, OpenMOSS/MOSS issue 237
		"a pod that is ended":    {"torch.distributed.elastic.multiprocessing.api.SignalException: Process 107 got signal: 15", trainer.Failure{Kind: trainer.KindTerminated, Rank: -1}},
		"a terminal that closed": {"torch.distributed.elastic.multiprocessing.api.SignalException: Process 107 got signal: 1", trainer.Failure{Kind: "exception", Rank: -1}},
		"a signal":               {"  traceback : Signal 9 (SIGKILL) received by PID 123", trainer.Failure{Kind: "killed", Rank: -1}},
		"a time limit of Slurm":  {"slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***", trainer.Failure{Kind: "killed", Rank: -1}},
		"no memory, by Slurm":    {"slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.", trainer.Failure{Kind: "killed", Rank: -1}},
		"a crash":                {"[rank1]:Fatal Python error: Segmentation fault", trainer.Failure{Kind: "killed", Rank: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := trainer.DetectFailure(logline.Parse(tt.text))
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(trainer.Failure{}, "Text")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, text := range []string{"UserWarning: Error detected in MulBackward0.", "[rank0]:[W321 02:07:08.414640780 socket.cpp:752] [c10d] The client socket cannot be initialized", "Retrying after ConnectionError"} {
		if got, ok := trainer.DetectFailure(logline.Parse(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Exceptions that a run survives do not make its log incomplete, nor displace the failure that ends it.
func TestManyExceptions(t *testing.T) {
	t.Parallel()
	log, err := trainer.ParseMegatron(strings.NewReader(strings.Repeat("[rank0]: ConnectionError: retried\n", 100) + "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE)\n"))
	if err != nil || log.Clipped || log.Failures[len(log.Failures)-1].Kind != "collective-timeout" {
		t.Errorf("%+v, %v", log, err)
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
