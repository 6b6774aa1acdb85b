package inference

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/probe/vllm"
	"github.com/firstlight/firstlight/internal/site"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	w := g.site.Workloads.Inference
	rec.Progress("starting vLLM with %s on %d GPUs", w.Model, w.GPUs)
	started := g.deps.Observer(rec).Begin(KindServer, "job "+jobName, g.serve()+"; GET /health")
	limited, cancel := context.WithTimeout(ctx, g.queue+w.Timeout.D())
	defer cancel()
	s, err := g.start(limited)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("start the server: %w", ctx.Err())
		}
		return started.Record(nil, err)
	}
	defer g.remove(ctx, s, rec)
	if g.queue > 0 { // the server's own time begins with its job
		limited, cancel = context.WithTimeout(ctx, w.Timeout.D())
		defer cancel()
	}
	return g.watch(ctx, limited, s, rec, started)
}

// remove deletes the server, also after ctx has ended. A server with Deps.Hold remains until the
// cleanup of the run, unless ctx has ended.
func (g *Gate) remove(ctx context.Context, s server, rec check.Recorder) {
	if g.deps.Hold && ctx.Err() == nil {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteDeadline)
	defer cancel()
	if err := s.remove(end); err != nil {
		rec.Progress("cannot delete the server: %v", err)
	}
}

// watch waits for the server and measures it.
func (g *Gate) watch(ctx, limited context.Context, s server, rec check.Recorder, started check.Attempt) error {
	w := g.site.Workloads.Inference
	at := s.where()
	of := ServerFigures{Pod: at.pod, Job: at.job, Node: at.node, Model: w.Model, MaxLen: w.MaxModelLen, GPUs: w.GPUs}
	f := of
	f.Claims = s.claims()
	queued := time.Duration(0)
	if g.queue > 0 {
		queued = started.Elapsed()
	}
	c, err := g.connect(limited, s)
	f.WaitedSeconds, f.Healthy = (started.Elapsed() - queued).Seconds(), err == nil
	if ctx.Err() != nil {
		if c != nil {
			c.close()
		}
		return fmt.Errorf("wait for the server: %w", ctx.Err())
	}
	f.Unreached = errors.Is(err, errUnreached)
	if errors.Is(err, errUnwatched) {
		return started.RecordPartial(f, err)
	}
	if err != nil {
		f.Problem, f.Crashed = err.Error(), errors.Is(err, errCrashed)
		return f.recordLog(ctx, s, started)
	}
	defer c.close()
	f.Served = c.served
	life := follow(ctx, s)
	defer life.stop()
	if err := started.Record(f, nil); err != nil {
		return err
	}
	if err := g.measure(limited, s, c.client, rec); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("measure the server: %w", ctx.Err())
	}
	after := g.deps.Observer(rec).Begin(KindEnd, at.String(), "GET /health; log and restarts of "+at.String())
	end := of
	g.healthAfter(ctx, s, life, &end)
	end.WaitedSeconds = after.Elapsed().Seconds()
	return end.recordLog(ctx, s, after)
}

// measure requests the models and the known completion, then loads the server.
func (g *Gate) measure(ctx context.Context, s server, client *vllm.Client, rec check.Recorder) error {
	w := g.site.Workloads.Inference
	observer := g.deps.Observer(rec)
	attempt := observer.Begin(KindModels, "/v1/models", "GET /v1/models")
	models, raw, err := client.Models(ctx)
	failure, err := answered(ctx, err)
	if err := attempt.Raw(raw).Record(ModelsFigures{Models: models, Failure: failure}, err); err != nil {
		return err
	}
	attempt = observer.Begin(KindCompletion, "/v1/completions", fmt.Sprintf("POST /v1/completions prompt %q, temperature 0", w.Prompt))
	// A token has at least one byte, so these are enough for the whole prefix.
	tokens := max(w.OutputTokens, len(w.GoldenPrefix))
	answer, raw, err := client.Complete(ctx, vllm.Request{Model: w.Model, Prompt: w.Prompt, MaxTokens: tokens})
	failure, err = answered(ctx, err)
	if err := attempt.Raw(raw).Record(CompletionFigures{Prompt: w.Prompt, Text: answer.Text, Tokens: answer.Tokens, Failure: failure}, err); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		rec.Progress("%s", g.describeLoad())
		f, err := g.measureLoad(ctx, s, client, rec)
		if err != nil || attempt == measureAttempts || ctx.Err() != nil || !g.spoiled(f) {
			return err
		}
		rec.Progress("the machine of the load generator is too busy to measure on: measuring again")
	}
}

// measureLoad records one load.
func (g *Gate) measureLoad(ctx context.Context, s server, client *vllm.Client, rec check.Recorder) (LoadFigures, error) {
	attempt := g.deps.Observer(rec).Begin(KindLoad, "/v1/completions", "POST /v1/completions: "+g.describeLoad())
	if !g.inside() {
		f, err := load.Run(ctx, g.plan(client.Base), client)
		f.Client = site.ClientMachine
		return f, attempt.Record(f, err)
	}
	p := g.plan(s.service())
	log, pod, err := g.load(ctx, p)
	attempt = attempt.Raw(log)
	var f LoadFigures
	if err == nil {
		f, err = load.Read(log, p)
	}
	if err != nil {
		return LoadFigures{}, attempt.Record(nil, err)
	}
	f.Client, f.Node, f.Image = site.ClientCluster, pod.Node, pod.Image
	return f, attempt.Record(f, nil)
}

// recordLog adds the server's log and restarts to f and records it.
func (f *ServerFigures) recordLog(ctx context.Context, s server, attempt check.Attempt) error {
	const timeout = time.Minute
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var stateErr error
	f.Restarts, f.State, stateErr = s.state(ctx)
	raw, err := s.log(ctx)
	if err == nil {
		f.Log, err = vllm.ParseLog(bytes.NewReader(raw))
	}
	if f.Crashed {
		f.LastLine = lastLine(raw)
	}
	return attempt.Raw(raw).RecordPartial(f, errors.Join(stateErr, err))
}

// lastLine is the last line of a log that has text, at most 300 bytes of it.
func lastLine(log []byte) string {
	const most = 300
	log = bytes.TrimSpace(log)
	line := bytes.TrimSpace(log[bytes.LastIndexByte(log, '\n')+1:])
	return string(bytes.ToValidUTF8(line[:min(len(line), most)], []byte("?")))
}
