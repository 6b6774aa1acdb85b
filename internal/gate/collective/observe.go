package collective

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/logline"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/workload"
)

// Observe implements check.Check: the run over all nodes, and smaller runs to localise a
// failure that names no node.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	l, all, err := g.observeAll(ctx, rec)
	if err != nil {
		return err
	}
	tried, err := g.localise(ctx, rec, l, all)
	if err != nil {
		return err
	}
	return g.observeRest(ctx, rec, l, all, tried)
}

// observeAll is the run over all nodes.
func (g *Gate) observeAll(ctx context.Context, rec check.Recorder) (*workload.Launcher, Figures, error) {
	l, err := g.launcher(ctx)
	if err != nil {
		return nil, Figures{}, err
	}
	nodes := g.nodes()
	rec.Progress("all_reduce over %d nodes, %d repetitions", len(nodes), g.repetitions())
	all, err := g.observe(ctx, rec, l, g.all(tests[0]))
	return l, all, err
}

// localise runs pairs and groups after a failure that names no node, until a culprit is named, all are run, or
// the timeout of the run over all nodes has passed once more. It returns what was run.
func (g *Gate) localise(ctx context.Context, rec check.Recorder, l *workload.Launcher, all Figures) (tried []Figures, err error) {
	if !g.needsLocalising(all) {
		return nil, nil
	}
	now := g.deps.Observer(rec).Clock.Now
	until := now().Add(g.site.Workloads.Collective.Timeout.D())
	for round := 1; ; round++ {
		groups := g.next(all, tried)
		if len(groups) == 0 || now().After(until) {
			return tried, nil
		}
		rec.Progress("localising %s, round %d: %s", all.test().name, round, list(names(groups)))
		more, err := g.round(ctx, rec, l, job{test: all.test(), round: round, repetitions: 1}, groups)
		if err != nil {
			return tried, err
		}
		tried = append(tried, more...)
	}
}

// round runs a job on disjoint groups of nodes concurrently.
func (g *Gate) round(ctx context.Context, rec check.Recorder, l *workload.Launcher, of job, groups [][]string) ([]Figures, error) {
	out := make([]Figures, len(groups))
	jobs, ctx := errgroup.WithContext(ctx)
	for i, nodes := range groups {
		jobs.Go(func() error {
			f, err := g.observe(ctx, rec, l, of.on(nodes))
			out[i] = f
			return err
		})
	}
	if err := jobs.Wait(); err != nil {
		return nil, fmt.Errorf("localise: %w", err)
	}
	return out, nil
}

func scopeOf(nodes []string) string {
	switch len(nodes) {
	case 1:
		return ScopeNode
	case 2:
		return ScopePair
	default:
		return ScopeGroup
	}
}

// observe runs one job and records it.
func (g *Gate) observe(ctx context.Context, rec check.Recorder, l *workload.Launcher, j job) (Figures, error) {
	attempt := g.deps.Observer(rec).Begin(KindRun, j.target(), g.command(j))
	outcome, logs, err := g.start(ctx, l, j)
	if err != nil {
		return Figures{}, err
	}
	f, err := g.figures(j, outcome)
	if err != nil {
		return f, err
	}
	first := beginning
	if g.srun != nil {
		first = ""
	}
	f.read(logs, first)
	if len(logs) > 0 {
		attempt = attempt.Raw(logs[0].Data)
		if code := logs[0].Pod.ExitCode; code != nil {
			attempt = attempt.Exit(int(*code))
		}
	}
	return f, attempt.RecordPartial(f, outcome.NotRun())
}

// start runs one job to its end.
func (g *Gate) start(ctx context.Context, l *workload.Launcher, j job) (gangjob.Outcome, []gangjob.Log, error) {
	if g.srun != nil {
		return g.srun.run(ctx, j)
	}
	spec, err := g.spec(j)
	if err != nil {
		return gangjob.Outcome{}, nil, err
	}
	return g.run(ctx, l, spec)
}

// figures are those of a run whose log is not read yet.
func (g *Gate) figures(j job, outcome gangjob.Outcome) (Figures, error) {
	f := Figures{Collective: j.test.key(), Scope: j.scope, Nodes: j.nodes, Rail: j.rail, Domain: j.domain, Job: j.name(), GPUsPerNode: g.gpus(), Repetitions: j.repetitions, Outcome: outcome}
	least, most := g.sizes()
	var err error
	if f.MinBytes, err = nccl.ParseSize(least); err != nil {
		return f, fmt.Errorf("minBytes: %w", err)
	}
	if f.MaxBytes, err = nccl.ParseSize(most); err != nil {
		return f, fmt.Errorf("maxBytes: %w", err)
	}
	return f, nil
}

// read parses the log of index 0, whose first line is first; empty: any.
func (f *Figures) read(logs []gangjob.Log, first string) {
	if len(logs) == 0 {
		f.LogProblem = "the job has no log"
		return
	}
	raw := logs[0].Data
	if first != "" && len(raw) > 0 {
		_, rest, begins := bytes.Cut(raw, []byte(first+"\n"))
		if f.Rotated = !begins; begins {
			raw = rest
		}
	}
	var problems []string
	if logs[0].Err != "" {
		problems = append(problems, logs[0].Err)
	}
	var err error
	if f.Runs, err = nccl.ParseTests(bytes.NewReader(raw)); err != nil {
		problems = append(problems, err.Error())
	}
	if f.NCCL, err = nccl.ParseLog(bytes.NewReader(raw)); err != nil {
		problems = append(problems, err.Error())
	}
	f.LogProblem = strings.Join(problems, "; ")
	if len(f.Runs) == 0 {
		f.LogTail = tail(raw)
	}
}

// tail is the last few non-empty lines.
func tail(raw []byte) []string {
	const lines, width = 5, 240
	var out []string
	_ = logline.Scan(bytes.NewReader(raw), func(l logline.Line) error { // of a log over the limit, the beginning
		text := strings.ToValidUTF8(strings.TrimSpace(l.Text), "?")
		if text == "" {
			return nil
		}
		out = append(out, text[:min(len(text), width)])
		if len(out) > lines {
			out = out[1:]
		}
		return nil
	})
	return out
}
