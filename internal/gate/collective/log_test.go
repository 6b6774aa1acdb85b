package collective

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// cluster writes logs as nccl-tests 2.19.6 and NCCL 2.28 do, with defects.
type cluster struct {
	slow      map[string]float64 // node: factor on the bandwidth of whatever it is in
	slowPair  []string
	factor    float64 // on everything; 0 is 1
	wrong     map[string]bool
	tcp       map[string]bool
	noGDR     map[string][]int // node: HCA indices
	gdr0      map[string]bool
	noNVLS    map[string]bool
	extraHCA  map[string]string
	lostHCA   map[string]string
	fewGPUs   map[string]int
	hang      map[string]bool
	noCheck   bool
	truncate  bool
	rotated   float64 // part of the log that the kubelet has rotated away
	silent    bool
	ratio     float64 // 0: the right one
	reps      int     // 0: as asked
	exit      int32
	badHosts  bool
	lastSizes int     // sizes left out at the end
	times     float64 // factor on the times alone; 0 is 1
	program   string  // instead of all_reduce_perf
	unchecked bool    // validation: 0 in the head
	oneHalf   bool    // rows have lost their second half
	joined    bool    // a line of NCCL on the same line as a row
	plugin    string  // suffix of NCCL's transport between nodes
	transport string  // instead of IB, with p2p as the plugin's own choice; empty: IBext_v8
	p2p       string
	test      string  // the program that runs, set by fake
	only      string  // the defects slow, factor, wrong, noCheck and ratio are of this program only; empty: of all
	rail      string  // the only rail, set by fake
	slowRail  string  // at half its rate
	unnamed   bool    // versions that do not print the test
	busbw     float64 // instead of that of H100
}

const testGPUs = 8

func testSite() *site.Site {
	s := &site.Site{Name: "test"}
	for i := 1; i <= 4; i++ {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i)})
	}
	for i := range 8 {
		s.Fabric.HCAs = append(s.Fabric.HCAs, fmt.Sprintf("mlx5_%d", i))
	}
	s.Fabric.NetworkResource, s.Fabric.NetworkResourceCount = "rdma/ib", 8
	s.Workloads.Collective.Image = "registry.example/nccl-tests:2.19.6"
	s.Workloads.Collective.Timeout = site.Duration(time.Minute)
	return s
}

func testGate(t *testing.T, s *site.Site) *Gate {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	return New(s, p, Deps{})
}

// reach is the bandwidth of a set of nodes in a healthy H100 cluster.
func (c cluster) reach(nodes []string) float64 {
	bw := map[int]float64{1: 478, 2: 486, 3: 486}[len(nodes)]
	if bw == 0 {
		bw = 384
	}
	switch c.test {
	case "all_gather_perf", "reduce_scatter_perf":
		bw = 345
	case "alltoall_perf": // of 8 ports of 50 GB/s
		n := float64(len(nodes) * testGPUs)
		bw = 42 * (n - 1) / max(testGPUs, n-testGPUs)
	case "sendrecv_perf":
		bw = 46
	}
	bw = cmp.Or(c.busbw, bw)
	if c.rail != "" {
		bw /= 8
	}
	if c.slowRail != "" && (c.rail == "" || c.rail == c.slowRail) {
		bw *= 0.5
	}
	if c.factor > 0 {
		bw *= c.factor
	}
	for _, n := range nodes {
		if f, ok := c.slow[n]; ok {
			bw *= f
		}
	}
	if len(c.slowPair) == 2 && slices.Contains(nodes, c.slowPair[0]) && slices.Contains(nodes, c.slowPair[1]) {
		bw *= 0.5
	}
	return bw
}

func (c cluster) log(job string, nodes []string, repetitions int) string {
	var b strings.Builder
	if c.reps > 0 && repetitions > 1 {
		repetitions = c.reps
	}
	for rep := range repetitions {
		c.run(&b, job, nodes, rep, rep == repetitions-1)
	}
	return b.String()
}

func (c cluster) run(b *strings.Builder, job string, nodes []string, rep int, last bool) {
	ranks := len(nodes) * testGPUs
	host := func(i int) string {
		if c.badHosts {
			return fmt.Sprintf("stranger-%d", i)
		}
		return fmt.Sprintf("%s-%d", job, i)
	}
	fmt.Fprint(b, "# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807\n")
	if !c.unnamed {
		fmt.Fprintf(b, "# Collective test starting: %s\n", cmp.Or(c.program, c.test, "all_reduce_perf"))
	}
	fmt.Fprintf(b, "# nThread 1 nGpus 1 minBytes 8388608 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: %d graph: 0 unalign: 0\n#\n# Using devices\n",
		map[bool]int{false: 1}[c.unchecked])
	hung := false
	for i, n := range nodes {
		hung = hung || c.hang[n]
		for d := range testGPUs - c.fewGPUs[n] {
			fmt.Fprintf(b, "#  Rank %2d Group  0 Pid %6d on %10s device %2d [0000:%02x:00] NVIDIA H100 80GB HBM3\n", i*testGPUs+d, 1000+rep*100+d, host(i), d, 0x1b+d)
		}
	}
	for r := range ranks {
		if !c.silent {
			c.nccl(b, nodes, host, rep, r)
		}
	}
	if hung {
		return
	}
	c.table(b, nodes, ranks, last)
}

func (c cluster) nccl(b *strings.Builder, nodes []string, host func(int) string, rep, r int) {
	i, d := r/testGPUs, r%testGPUs
	n := nodes[i]
	say := func(format string, args ...any) {
		fmt.Fprintf(b, "%s:%d:%d [%d] NCCL INFO %s\n", host(i), 1000+rep*100+d, 2000+d, d, fmt.Sprintf(format, args...))
	}
	say("Bootstrap : Using eth0:10.0.0.%d<0>", i+1)
	if c.tcp[n] {
		say("NET/IB : No device found.")
		say("NET/Socket : Using [0]eth0:10.0.0.%d<0>", i+1)
		say("Using network Socket")
	} else {
		var list strings.Builder
		index := 0
		for h := range 8 {
			name := fmt.Sprintf("mlx5_%d", h)
			if c.lostHCA[n] == name || c.rail != "" && c.rail != name {
				continue
			}
			fmt.Fprintf(&list, " [%d]%s:1/IB", index, name)
			index++
		}
		if extra := c.extraHCA[n]; extra != "" {
			fmt.Fprintf(&list, " [%d]%s:1/RoCE", index, extra)
		}
		say("NET/IB : Using%s [RO]; OOB eth0:10.0.0.%d<0>", list.String(), i+1)
		say("Using network IB%s", c.plugin)
		if c.transport != "" {
			say("P2P plugin v8 %s", cmp.Or(c.p2p, "IBext_v8"))
		}
	}
	say("NVLS multicast support is %savailable on dev %d", map[bool]string{true: "not "}[c.noNVLS[n]], d)
	if len(nodes) > 1 {
		for _, peer := range []int{(r + testGPUs) % (len(nodes) * testGPUs), (r - testGPUs + len(nodes)*testGPUs) % (len(nodes) * testGPUs)} {
			via := fmt.Sprintf("NET/%s/%d/GDRDMA", cmp.Or(c.transport, "IB"+c.plugin), d)
			if slices.Contains(c.noGDR[n], d) {
				via = fmt.Sprintf("NET/IB/%d", d)
			}
			if c.tcp[n] || c.tcp[nodes[peer/testGPUs]] {
				via = "NET/Socket/0"
			}
			if peer == (r+testGPUs)%(len(nodes)*testGPUs) {
				say("Channel 00/0 : %d[%d] -> %d[%d] [send] via %s", r, d, peer, d, via)
			}
			if peer == (r-testGPUs+len(nodes)*testGPUs)%(len(nodes)*testGPUs) {
				say("Channel 00/0 : %d[%d] -> %d[%d] [receive] via %s", peer, d, r, d, via)
			}
		}
	}
	say("Channel 01/0 : %d[%d] -> %d[%d] via P2P/CUMEM/read", r, d, i*testGPUs+(d+1)%testGPUs, (d+1)%testGPUs)
	gdr := 1
	if c.gdr0[n] || c.tcp[n] || len(c.noGDR[n]) == 8 {
		gdr = 0
	}
	say("Connected all rings, use ring PXN 0 GDR %d", gdr)
	if !c.hang[n] {
		say("ncclCommInitRank comm 0x5 rank %d nranks %d cudaDev %d nvmlDev %d busId %x000 commId 0x7 - Init COMPLETE", r, len(nodes)*testGPUs, d, d, 0x1b+d)
	}
}

func (c cluster) table(b *strings.Builder, nodes []string, ranks int, last bool) {
	fmt.Fprint(b, "#\n#                                                              out-of-place                       in-place          \n"+
		"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong \n"+
		"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         \n")
	ratio := float64(ranks-1) / float64(ranks)
	switch c.test {
	case "", "all_reduce_perf":
		ratio *= 2
	case "sendrecv_perf":
		ratio = 1
	}
	printed := ratio
	if c.ratio > 0 {
		printed = c.ratio
	}
	wrong := "0"
	for _, n := range nodes {
		if c.wrong[n] {
			wrong = "12"
		}
	}
	if c.noCheck {
		wrong = "N/A"
	}
	most := int64(16 << 30)
	for range c.lastSizes {
		most /= 2
	}
	for size := int64(8 << 20); size <= most; size *= 2 {
		if c.truncate && last && size > 1<<30 {
			return
		}
		bus := c.reach(nodes) * float64(size) / float64(size+32<<20)
		alg := bus / printed
		us := float64(size) / alg / 1e3
		half := func(f float64) string {
			cell := wrong
			if f > 1 && (c.test == "alltoall_perf" || c.test == "sendrecv_perf") {
				cell = "N/A"
			}
			return fmt.Sprintf("  %7.1f  %6.2f  %6.2f  %6s", us/f*cmp.Or(c.times, 1), alg*f, bus*f, cell)
		}
		second := half(1.001)
		if c.oneHalf {
			second = ""
		}
		if c.joined && size == 1<<30 {
			second += "gpu-01:101:140 [0] NCCL INFO Channel 00/16 :    0   1"
		}
		fmt.Fprintf(b, "%12d  %12d  %8s  %6s  %6s%s%s\n", size, size/4, "float", "sum", "-1", half(1), second)
	}
	bounds := "0 OK"
	if wrong == "12" {
		bounds = "12 FAILED"
	}
	fmt.Fprintf(b, "# Out of bounds values : %s\n# Avg bus bandwidth    : 52.9753 \n#\n", bounds)
	if !c.unnamed {
		fmt.Fprintf(b, "# Collective test concluded: %s\n", cmp.Or(c.program, c.test, "all_reduce_perf"))
	}
}

// fake runs jobs on the cluster and returns the result of gangjob.Run.
func (c cluster) fake(_ context.Context, _ *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
	for _, t := range tests {
		if strings.Contains(spec.Script, t.program) {
			c.test = t.program
		}
	}
	if c.only != "" && c.only != c.test {
		c.slow, c.factor, c.wrong, c.noCheck, c.ratio, c.program, c.unnamed = nil, 0, nil, false, 0, "", false
	}
	if strings.HasPrefix(spec.Name, "collective-rail-") {
		c.rail = strings.TrimPrefix(spec.Env["NCCL_IB_HCA"], "=")
	}
	reps := 1
	_, _ = fmt.Sscan(spec.Env["REPETITIONS"], &reps)
	out := gangjob.Outcome{Namespace: "firstlight-test", Ended: gangjob.EndedDone, Succeeded: true}
	for i, n := range spec.Nodes {
		code := int32(0)
		if i == 0 {
			code = c.exit
		}
		if i == 0 && slices.ContainsFunc(spec.Nodes, func(n string) bool { return c.wrong[n] }) {
			code = 1
		}
		if code != 0 {
			out.Succeeded = false
		}
		out.Pods = append(out.Pods, workload.Outcome{Pod: fmt.Sprintf("%s-%d-abcde", spec.Name, i), Index: i, Node: n, Phase: "Succeeded", ExitCode: &code})
	}
	if slices.ContainsFunc(spec.Nodes, func(n string) bool { return c.hang[n] }) {
		out.Ended, out.Succeeded, out.Problem = gangjob.EndedTimeout, false, "context deadline exceeded"
	}
	log := beginning + "\n" + c.log(spec.Name, spec.Nodes, reps)
	return out, []gangjob.Log{{Pod: out.Pods[0], Data: []byte(log[int(c.rotated*float64(len(log))):])}}, nil
}

// recorder keeps observations as the store gives them back.
type recorder struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.ID = fmt.Sprintf("%04d-%s", len(r.obs)+1, o.Target)
	r.obs = append(r.obs, o)
	return o, nil
}

func (r *recorder) Progress(string, ...any) {}

// observeAndJudge runs the gate once.
func observeAndJudge(t *testing.T, g *Gate, c cluster) (check.Judgement, []check.Observation) {
	t.Helper()
	return walk(t, g, c.fake)
}

// walk runs the gate once with jobs that run returns.
func walk(t *testing.T, g *Gate, run func(context.Context, *workload.Launcher, workload.Spec) (gangjob.Outcome, []gangjob.Log, error)) (check.Judgement, []check.Observation) {
	t.Helper()
	g.run = run
	g.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, rec.obs), rec.obs
}
