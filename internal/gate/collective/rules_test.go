package collective

import (
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
)

// TestRules covers the requirements on a run over all nodes, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	cut := checktest.Set(KindRun, `.nccl.cut`, 1)
	ended := checktest.Set(KindRun, `.outcome`, with(t, obs, "timeout", "pod collective-2: no route to host"))
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("one failed check in a footer is corrupt data", checktest.Set(KindRun, `.runs[0].outOfBounds`, 1)).Fails("cluster", "the data is corrupt: the footer of repetition 1 counts 1 failed checks"),
		checktest.When("a footer counts checks, not elements", checktest.Set(KindRun, `.runs[0].outOfBounds`, 64), checktest.Set(KindRun, `.runs[0].rows[0].inPlace.wrong`, 3)).Fails("cluster", "#wrong is up to 3, first in repetition 1"),
		checktest.When("one wrong element of one half is corrupt data", checktest.Set(KindRun, `.runs[last].rows[0].inPlace.wrong`, 1)).Fails("cluster", "#wrong is up to 1, first in repetition 3 at 8388608 bytes"),
		checktest.When("a row without bandwidth is not a measurement", checktest.Set(KindRun, `.runs[0].rows[last].inPlace.algbwGBps`, 0)).Fails("pod firstlight-test/collective-0-abcde", "repetition 1 has no bandwidth at 17179869184 bytes"),
		checktest.When("each repetition lists its devices", checktest.Set(KindRun, `.runs[0].devices`, nil)).Unobserved("pod firstlight-test/collective-0-abcde", "repetition 1 lists no devices"),
		checktest.When("each rank is listed once", checktest.Set(KindRun, `.runs[0].devices[0]`, checktest.Twice)).Fails("pod firstlight-test/collective-0-abcde", "repetition 1 ran with 32 ranks, expected 32"),
		checktest.When("each rank has a number of its own", checktest.Set(KindRun, `.runs[0].devices[0].rank`, 1)).Fails("pod firstlight-test/collective-0-abcde", "repetition 1 ran with 31 ranks, expected 32"),
		checktest.When("each rank finishes initialising in each repetition", checktest.Set(KindRun, `.nccl.ranks[9].inits`, 2)).Unobserved("rank 9", "finished initialising 2 times in 3 repetitions"),
		checktest.When("a line that mpirun cut may be that of a repetition", cut, checktest.Set(KindRun, `.nccl.ranks[9].inits`, 2)).Passes(),
		checktest.When("or of all, if the rank prints channels", cut, checktest.Set(KindRun, `.nccl.ranks[9].inits`, 0)).Passes(),
		checktest.When("and otherwise not", cut, checktest.Set(KindRun, `.nccl.ranks[9].inits`, 0), checktest.Set(KindRun, `.nccl.channels`, nil)).Unobserved("rank 9", "finished initialising 0 times in 3 repetitions"),
		checktest.When("a worker that is not released does not hang", ended, checktest.Set(KindRun, `.outcome.pods[2].exitCode`, checktest.LeftOut)).Unobserved("pod firstlight-test/collective-2-abcde on gpu-03", "the collective ended, and pod firstlight-test/collective-2-abcde on gpu-03 did not end before the timeout"),
		checktest.When("without all its tables it is one", ended, checktest.Set(KindRun, `.outcome.pods[2].exitCode`, checktest.LeftOut), checktest.Set(KindRun, `.runs[last]`, checktest.LeftOut)).Fails("cluster", "the collective hangs: it did not end before its timeout"),
		checktest.When("with mpirun still running it is one", ended, checktest.Set(KindRun, `.outcome.pods[*].exitCode`, checktest.LeftOut)).Fails("cluster", "the collective hangs: it did not end before its timeout; pod collective-2: no route to host"),
		checktest.When("a cut log of a run that hangs names no node", cut, ended, checktest.Set(KindRun, `.outcome.pods[*].exitCode`, checktest.LeftOut), checktest.Set(KindRun, `.nccl.ranks[0].inits`, 0)).Fails("cluster", "the collective hangs"),
		checktest.When("NCCL says on each node which devices it uses", checktest.Set(KindRun, `.nccl.hosts[2]`, checktest.LeftOut)).Unobserved("gpu-03", "does not report its devices"),
		checktest.When("a node that names sockets and no devices fell back to TCP", checktest.Set(KindRun, `.nccl.hosts[2].hcas`, checktest.LeftOut), checktest.Set(KindRun, `.nccl.hosts[2].sockets`, []string{"eth0"})).Fails("gpu-03", "fell back to TCP sockets"),
		checktest.When("a node that names its devices and sockets did not fall back", checktest.Set(KindRun, `.nccl.hosts[2].sockets`, []string{"eth0"})).Passes(),
		checktest.When("NCCL shows its channels", checktest.Set(KindRun, `.nccl.channels`, nil)).Unobserved("gpu-01", "no channel in both directions between gpu-01 and other nodes"),
		// NVIDIA/nccl-tests issue 311: a run by SHARP
		checktest.When("ranks that SHARP reduces for need no channel", checktest.Set(KindRun, `.nccl.channels`, nil), sharp(true, "send", "receive")).Passes(),
		checktest.When("SHARP has both directions", checktest.Set(KindRun, `.nccl.channels`, nil), sharp(true, "send")).Unobserved("gpu-01", "no channel in both directions between gpu-01 and other nodes"),
		checktest.When("SHARP without GPUDirect RDMA", sharp(false, "send", "receive")).Fails("gpu-01", "without GPUDirect RDMA"),
		checktest.When("channels over sockets are found on nodes that list their devices, too", checktest.Set(KindRun, `.nccl.channels[*].transport`, "NET/Socket")).Fails("gpu-01", "run over NET/Socket"),
		checktest.When("one channel over sockets is one too many", checktest.Set(KindRun, `.nccl.channels[1].transport`, "NET/Socket")).Fails("", "run over NET/Socket"),
		checktest.When("an unknown rank is not a rank", checktest.Set(KindRun, `.nccl.channels[*].from`, 99)).Unobserved("gpu-01", "no channel in both directions"),
		checktest.When("NCCL says of each GPU whether NVLS is available", checktest.Set(KindRun, `.nccl.ranks[0].nvls`, checktest.LeftOut)).Unobserved("gpu-01", "for only 7 of 8 GPUs of gpu-01"),
		checktest.When("NVLS that is available may fail", checktest.Set(KindRun, `.nccl.warnings`, []nccl.Warning{{Host: "collective-2", Source: "transport/nvls.cc:254", Text: "Cuda failure 401"}})).Fails("gpu-03", "NVLS fails on gpu-03: Cuda failure 401 (transport/nvls.cc:254)"),
		// src/transport/multicast.cc of NVIDIA/nccl (2.31), and the path of its issue 2332
		checktest.When("multicast is a part of NVLS", checktest.Set(KindRun, `.nccl.warnings`, []nccl.Warning{{Host: "collective-2", Source: "nccl/src/transport/multicast.cc:217", Text: "Failed to bind NVLink SHARP (NVLS) Multicast memory"}})).Fails("gpu-03", "NVLS fails on gpu-03: Failed to bind NVLink SHARP (NVLS) Multicast memory"),
		checktest.When("a warning of another part is not of NVLS", checktest.Set(KindRun, `.nccl.warnings`, []nccl.Warning{{Host: "collective-2", Source: "misc/ibvwrap.cc:254", Text: "x"}})).Passes(),
		checktest.When("a file of another directory is not of NVLS", checktest.Set(KindRun, `.nccl.warnings`, []nccl.Warning{{Host: "collective-2", Source: "nccl/src/tuning/nvls.cc:19", Text: "x"}})).Passes(),
		// NVIDIA/nccl issues 905 (flapping link) and 1710 (the adapter's name), its src/transport/net_ib from 2.23 on, and
		// deepspeedai/DeepSpeedExamples issue 310 (a harmless event)
		checktest.When("a port that went down is found in a fast run, too", warns("NET/IB : mlx5_3:1 Got async error event: port error")).Fails("gpu-03/mlx5_3", `NCCL reports "port error" of mlx5_3 on gpu-03`),
		// lines of an NVL72 in tests of NVIDIA/nvidia-resiliency-ext (transport/net_ib.cc:253), and src/transport/net_ib/common.cc
		checktest.When("later versions number the event", warns("NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)")).Fails("gpu-03/mlx5_3", `NCCL reports "port error" of mlx5_3 on gpu-03`),
		checktest.When("gIB has the events of NCCL", warns("NET/gIB : mlx5_3:1 Got non-fatal async event: port error(10)")).Fails("gpu-03/mlx5_3", `"port error" of mlx5_3`),
		checktest.When("a numbered event that is harmless", warns("NET/IB : mlx5_3:1 Got non-fatal async event: client reregistration(17)")).Passes(),
		checktest.When("older versions do not name the adapter", warns("NET/IB : Got async event : port error")).Fails("gpu-03", `NCCL reports "port error" of an adapter on gpu-03`),
		checktest.When("a Data Direct function is of its adapter", warns("NET/IB : mlx5_3_dma:1 Got async event : port error")).Fails("gpu-03/mlx5_3", `"port error" of mlx5_3`),
		checktest.When("an adapter that failed", warns("NET/IB : mlx5_3:1 async fatal event: local catastrophic error")).Fails("gpu-03/mlx5_3", `"local catastrophic error" of mlx5_3`),
		checktest.When("a port that came up is harmless", warns("NET/IB : mlx5_3:1 Got async error event: port active")).Passes(),
		checktest.When("an event of the subnet manager is harmless", warns("NET/IB : Got async event : client reregistration")).Passes(),
		// nccl-tests prints NCCL's last warning as an error (src/util.cu of NVIDIA/nccl-tests 2.17)
		checktest.When("a harmless event is not an error of the run", errs("error: NET/IB : mlx5_3:1 Got non-fatal async event: client reregistration(17)")).Passes(),
		checktest.When("a harmless event of older versions is not an error of the run", errs("error: NET/IB : Got async event : port active")).Passes(),
		checktest.When("a port that went down is an error of the run", errs("error: NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)")).Fails("pod firstlight-test/collective-0-abcde", "repetition 1: error: NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)"),
		checktest.When("an event of another kind is an error of the run", errs("error: NET/IB : mlx5_3:1 Got async event : local access violation work queue error")).Fails("pod firstlight-test/collective-0-abcde", "local access violation"),
		checktest.When("any other error fails the run", errs("error: Cuda failure 'port active'")).Fails("pod firstlight-test/collective-0-abcde", "repetition 1: error: Cuda failure"),
		// NVIDIA/nccl-tests issues 322 and 350: each repetition lacks the last size, 16 GiB
		checktest.When("sizes that the memory of a GPU does not hold are not seen", reduced(12703978837), checktest.Set(KindRun, `.runs[*].rows[last]`, checktest.LeftOut)).Unobserved("pod firstlight-test/collective-0-abcde", "repetition 1 ends at 8589934592 bytes, want 17179869184: the memory of a GPU does not hold the buffers of larger sizes, nccl-tests reduced maxBytes to 12703978837"),
		checktest.When("a size that the memory holds is missing", reduced(27951912277), checktest.Set(KindRun, `.runs[*].rows[last]`, checktest.LeftOut)).Fails("incomplete output of pod firstlight-test/collective-0-abcde", "repetition 1 is incomplete"),
		checktest.When("a reduction above the largest size", reduced(27951912277)).Passes(),
		checktest.When("no size", reduced(1), checktest.Set(KindRun, `.runs[*].rows`, nil)).Fails("incomplete output of pod firstlight-test/collective-0-abcde", "repetition 1 is incomplete"),
		checktest.When("lines that cannot be separated are not read", checktest.Set(KindRun, `.nccl.joined`, 2)).Unobserved("pod firstlight-test/collective-0-abcde", "2 lines hold several lines of NCCL without a limit between them"),
	})
}

// warns replaces NCCL's warnings by one of the third node.
func warns(text string) checktest.Change {
	return checktest.Set(KindRun, `.nccl.warnings`, []nccl.Warning{{Host: "collective-2", Source: "transport/net_ib.cc:101", Text: text}})
}

// errs adds an error to the first repetition.
func errs(text string) checktest.Change {
	return checktest.Set(KindRun, `.runs[0].errors`, []string{text})
}

// sharp are the connections of all ranks with the switches.
func sharp(gdr bool, directions ...string) checktest.Change {
	var all []nccl.Channel
	for rank := range 32 {
		for _, d := range directions {
			all = append(all, nccl.Channel{Host: fmt.Sprintf("collective-%d", rank/8), From: rank, To: -1, Direction: d, Transport: "COLLNET/SHARP", Device: rank % 8, GDR: gdr, Count: 3})
		}
	}
	return checktest.Set(KindRun, `.nccl.collNet`, all)
}

// reduced is the largest size that nccl-tests reports to fit in the memory.
func reduced(bytes int64) checktest.Change {
	return checktest.Set(KindRun, `.runs[*].reducedTo`, bytes)
}

// TestRulesEFA: NCCL names no devices of EFA, but its plugin the provider.
func TestRulesEFA(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	g.profile.Fabric.Kind = profile.EFA
	_, obs := observeAndJudge(t, g, cluster{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("libfabric uses EFA", checktest.Set(KindRun, `.nccl.hosts[1].providers`, []string{"efa"})).Passes(),
		checktest.When("libfabric over TCP is not EFA", checktest.Set(KindRun, `.nccl.hosts[1].providers`, []string{"efa", "tcp;ofi_rxm"})).Fails("gpu-02", "libfabric uses the provider tcp;ofi_rxm on gpu-02, want efa"),
	})
}

// with is the outcome of the first run with another end.
func with(t *testing.T, obs []check.Observation, ended, problem string) gangjob.Outcome {
	t.Helper()
	f, err := check.Decode[Figures](obs[0])
	if err != nil {
		t.Fatal(err)
	}
	f.Outcome.Ended, f.Outcome.Problem, f.Outcome.Succeeded = ended, problem, false
	return f.Outcome
}
