package collective

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/workload"
)

// forwarded is a log as mpirun forwards it: pieces of the output of each process, which end anywhere in a line, in any order of
// the processes. Lines of nccl-tests are the first process's, which waits for the others. With labels each line and each piece begins
// with the label of its process, as mpirun --tag-output of Open MPI 4 prints it.
func forwarded(log string, random *rand.Rand, labels bool) string {
	var out strings.Builder
	var names []string
	streams, ranks := map[string]string{}, map[string]int{}
	tagged := func(rank int, piece string) string {
		if !labels {
			return piece
		}
		tag := fmt.Sprintf("[1,%d]<stdout>:", rank)
		whole, ends := strings.CutSuffix(piece, "\n")
		piece = tag + strings.ReplaceAll(whole, "\n", "\n"+tag)
		if ends {
			piece += "\n"
		}
		return piece
	}
	flush := func() {
		for len(names) > 0 {
			i := random.IntN(len(names))
			name := names[i]
			n := min(len(streams[name]), 200+random.IntN(4096))
			out.WriteString(tagged(ranks[name], streams[name][:n]))
			if streams[name] = streams[name][n:]; streams[name] == "" {
				names = append(names[:i], names[i+1:]...)
			}
		}
	}
	for line := range strings.Lines(log) {
		name, _, process := strings.Cut(line, " NCCL INFO ")
		if !process {
			flush()
			out.WriteString(tagged(0, line))
			continue
		}
		if _, known := ranks[name]; !known {
			ranks[name] = len(ranks)
		}
		if streams[name] == "" {
			names = append(names, name)
		}
		streams[name] += line
	}
	flush()
	return out.String()
}

// No line that mpirun cut is a defect of a node. A log in which a fact is missing is unobserved: few are, and none with labels.
func TestForwarded(t *testing.T) {
	t.Parallel()
	const logs = 60
	for labels, passes := range map[bool]int{false: logs * 4 / 5, true: logs} {
		g := testGate(t, testSite())
		verdicts := map[check.Verdict]int{}
		for seed := range uint64(logs) {
			random := rand.New(rand.NewPCG(seed, 7))
			_, obs := walk(t, g, func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
				out, logs, err := cluster{}.fake(ctx, l, spec)
				logs[0].Data = []byte(forwarded(string(logs[0].Data), random, labels))
				return out, logs, err
			})
			j := plan.Judge(g, obs)
			verdicts[j.Verdict]++
			if j.Verdict == check.Failed || labels && j.Verdict != check.Passed {
				t.Errorf("labels %t, seed %d: %s %+v", labels, seed, j.Reason, j.Findings)
			}
		}
		if verdicts[check.Passed] < passes {
			t.Errorf("labels %t: %v, want at least %d passed", labels, verdicts, passes)
		}
	}
}
