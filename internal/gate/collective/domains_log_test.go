package collective

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// racks is two NVLink domains of four nodes with four GPUs each, gpu-01 to gpu-04 and gpu-05 to gpu-08. Logs have
// the lines of NCCL 2.28 (src/init.cc, src/mnnvl.cc, src/transport/p2p.cc).
type racks struct {
	cluster
	// off: NCCL uses no NVLink between this node and others; setting is why.
	off     map[string]bool
	setting string
	// noFabric: its GPUs have not joined the fabric. noIMEX: memory cannot be exported.
	noFabric, noIMEX map[string]bool
	// clique instead of that of the rack.
	clique map[string]string
	// domainsOnly: defects are of runs by domain only, as they come and go. across: of the run over all nodes only.
	domainsOnly, across bool
	// old: NCCL reports fabrics and no cliques. fabricless: it reports no fabrics. noChannels: of a run by NVLink
	// multicast, by domain.
	old, fabricless, noChannels bool
	// unplaced: jobs on a part of the nodes are not run.
	unplaced bool
}

const (
	traysInARack = 4
	gpusOfATray  = 4
	rackA        = "NVLink domain 58d72354-d167-41a4-b3e7-327dc0246b7d.32766"
	rackB        = "NVLink domain 4963e406-e1f5-4a7a-a19a-7d1bd763fec4.32766"
)

func (r racks) fabric(node string) (uuid, clique string, state int) {
	if r.noFabric[node] {
		return "0.0", "0", 1
	}
	uuid = "a44167d15423d758.7d6b24c07d32e7b3"
	if node > "gpu-04" {
		uuid = "7a4af5e106e46349.c4fe63d71b7d9aa1"
	}
	return uuid, cmp.Or(r.clique[node], "7ffe"), 3
}

func (r racks) domain(node string) string {
	uuid, clique, _ := r.fabric(node)
	return uuid + " " + clique
}

// fellBack: NCCL moves data of these nodes over the network.
func (r racks) fellBack(nodes []string) bool {
	return len(nodes) > 1 && slices.ContainsFunc(nodes, func(n string) bool { return r.off[n] || r.noFabric[n] })
}

func (r racks) write(job string, nodes []string, repetitions int) string {
	var b strings.Builder
	ranks := len(nodes) * gpusOfATray
	r.busbw = map[bool]float64{true: 860, false: 620}[r.test == "all_reduce_perf"]
	if r.fellBack(nodes) {
		r.busbw = 191
	}
	for rep := range repetitions {
		fmt.Fprintf(&b, "# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807\n# Collective test starting: %s\n", r.test)
		b.WriteString("# nThread 1 nGpus 1 minBytes 8388608 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0\n#\n# Using devices\n")
		for rank := range ranks {
			fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %6d on %10s-%d device %2d [0008:%02x:00] NVIDIA GB200\n", rank, 1000+rep*100+rank%gpusOfATray, job, rank/gpusOfATray, rank%gpusOfATray, rank%gpusOfATray+1)
		}
		failed := false
		for rank := range ranks {
			failed = r.lines(&b, job, nodes, rep, rank) || failed
		}
		if failed {
			return b.String()
		}
		r.table(&b, nodes, ranks, true)
	}
	return b.String()
}

// lines are those of a rank's NCCL; failed: it ended with an error.
func (r racks) lines(b *strings.Builder, job string, nodes []string, rep, rank int) (failed bool) {
	i, d := rank/gpusOfATray, rank%gpusOfATray
	node, ranks := nodes[i], len(nodes)*gpusOfATray
	say := func(format string, args ...any) {
		fmt.Fprintf(b, "%s-%d:%d:%d [%d] NCCL INFO %s\n", job, i, 1000+rep*100+d, 2000+d, d, fmt.Sprintf(format, args...))
	}
	say("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB eth0:10.0.0.%d<0>", i+1)
	say("Using network IB")
	say("ncclCommInitRank comm 0x5 rank %d nranks %d cudaDev %d nvmlDev %d busId %d01000 commId 0x7 - Init START", rank, ranks, d, d, d+8)
	uuid, clique, state := r.fabric(node)
	if !r.fabricless {
		say("MNNVL busId 0x%d01000 fabric UUID %s cliqueId 0x%s state %d healthMask 0xaa", d+8, uuid, clique, state)
	}
	if r.setting != "" && r.off[node] {
		say("%s.", r.setting)
	}
	size := 0
	for _, n := range nodes {
		if r.domain(n) == r.domain(node) {
			size += gpusOfATray
		}
	}
	if r.noIMEX[node] && len(nodes) > 1 {
		fmt.Fprintf(b, "[2026-01-01 00:00:00] %s-%d:%d:%d [%d] mnnvl.cc:78 NCCL WARN MNNVL (cliqueSize %d) is available but not working on this system. Check the IMEX configuration (nvidia-imex-ctl -N). Set NCCL_MNNVL_ENABLE=0 to ignore this issue.\n", job, i, 1000+rep*100+d, 2000+d, d, size)
		return true
	}
	used := len(nodes) > 1 && !r.off[node] && !slices.ContainsFunc(nodes, func(n string) bool { return r.noFabric[n] })
	if used && !r.old {
		say("MNNVL 1 cliqueId %s cliqueSize %d cliqueRank %d", clique, size, rank)
	}
	if !r.old {
		say("comm 0x5 rank %d nRanks %d nNodes 1 localRanks 4 localRank %d MNNVL %d", rank, ranks, d, map[bool]int{true: 1}[used])
	}
	say("NVLS multicast support is available on dev %d", d)
	for _, step := range []int{gpusOfATray, -gpusOfATray} {
		peer := (rank + step + ranks) % ranks
		other := nodes[peer/gpusOfATray]
		switch {
		case len(nodes) < 2 || r.noChannels && len(nodes) == traysInARack:
		case used && !r.off[other] && r.domain(node) == r.domain(other):
			say("Channel 00/0 : %d[%d] -> %d[%d] via P2P/MNNVL", rank, d, peer, d)
		case step > 0:
			say("Channel 00/0 : %d[%d] -> %d[%d] [send] via NET/IB/%d/GDRDMA", rank, d, peer, d, d)
		default:
			say("Channel 00/0 : %d[%d] -> %d[%d] [receive] via NET/IB/%d/GDRDMA", peer, d, rank, d, d)
		}
	}
	say("Connected all rings, use ring PXN 0 GDR 1")
	say("ncclCommInitRank comm 0x5 rank %d nranks %d cudaDev %d nvmlDev %d busId %d01000 commId 0x7 - Init COMPLETE", rank, ranks, d, d, d+8)
	return false
}

// fake runs jobs on the racks and returns the result of gangjob.Run.
func (r racks) fake(_ context.Context, _ *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
	for _, t := range tests {
		if strings.Contains(spec.Script, t.program) {
			r.test = t.program
		}
	}
	all := !slices.ContainsFunc([]string{"domain", ScopePair, ScopeGroup, ScopeNode}, func(scope string) bool {
		return strings.HasPrefix(spec.Name, "collective-"+scope+"-")
	})
	if all && r.domainsOnly || !all && r.across || r.only != "" && r.only != r.test {
		r = racks{cluster: cluster{test: r.test}, old: r.old, fabricless: r.fabricless, clique: r.clique}
	}
	if r.unplaced && !all {
		return gangjob.Outcome{Namespace: "firstlight-test", Ended: gangjob.EndedNotRun}, nil, nil
	}
	reps := 1
	_, _ = fmt.Sscan(spec.Env["REPETITIONS"], &reps)
	log := r.write(spec.Name, spec.Nodes, reps)
	out := gangjob.Outcome{Namespace: "firstlight-test", Ended: gangjob.EndedDone, Succeeded: strings.Contains(log, "concluded")}
	for i, n := range spec.Nodes {
		code := int32(0)
		if i == 0 && !out.Succeeded {
			code = 1
		}
		out.Pods = append(out.Pods, workload.Outcome{Pod: fmt.Sprintf("%s-%d-abcde", spec.Name, i), Index: i, Node: n, Phase: "Succeeded", ExitCode: &code})
	}
	return out, []gangjob.Log{{Pod: out.Pods[0], Data: []byte(beginning + "\n" + log)}}, nil
}

func rackGate(t *testing.T, suite ...string) *Gate {
	t.Helper()
	s := testSite()
	s.Inventory.Nodes, s.Fabric.HCAs = nil, s.Fabric.HCAs[:4]
	for i := range 2 * traysInARack {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1), Rack: fmt.Sprintf("r%d", i/traysInARack+1)})
	}
	s.Workloads.Collective.Suite, s.Workloads.Collective.ByNVLinkDomain = suite, true
	p, err := profile.Load("gb200-nvl72-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	return New(s, p, Deps{})
}

// walkRacks runs the gate once.
func walkRacks(t *testing.T, g *Gate, r racks) (check.Judgement, []check.Observation) {
	t.Helper()
	return walk(t, g, r.fake)
}
