package collective

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/workload"
)

// forwarded is a log as mpirun forwards it: pieces of the output of each process, which end anywhere in a line, in any order of
// the processes. Lines of nccl-tests are the first process's, which waits for the others.
func forwarded(log string, random *rand.Rand) string {
	var out strings.Builder
	var names []string
	streams := map[string]string{}
	flush := func() {
		for len(names) > 0 {
			i := random.IntN(len(names))
			name := names[i]
			n := min(len(streams[name]), 200+random.IntN(4096))
			out.WriteString(streams[name][:n])
			if streams[name] = streams[name][n:]; streams[name] == "" {
				names = append(names[:i], names[i+1:]...)
			}
		}
	}
	for line := range strings.Lines(log) {
		name, _, process := strings.Cut(line, " NCCL INFO ")
		if !process {
			flush()
			out.WriteString(line)
			continue
		}
		if streams[name] == "" {
			names = append(names, name)
		}
		streams[name] += line
	}
	flush()
	return out.String()
}

// No line that mpirun cut is a defect of a node. A log in which a fact is missing is unobserved.
func TestForwarded(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	verdicts := map[check.Verdict]int{}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		_, obs := walk(t, g, func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
			out, logs, err := cluster{}.fake(ctx, l, spec)
			logs[0].Data = []byte(forwarded(string(logs[0].Data), random))
			return out, logs, err
		})
		j := plan.Judge(g, obs)
		verdicts[j.Verdict]++
		if j.Verdict == check.Failed {
			t.Errorf("seed %d: %s %+v", seed, j.Reason, j.Findings)
		}
	}
	t.Logf("%v", verdicts)
}
