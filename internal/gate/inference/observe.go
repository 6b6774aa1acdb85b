package inference

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	w := g.site.Workloads.Inference
	limited, cancel := context.WithTimeout(ctx, w.Timeout.D())
	defer cancel()
	rec.Progress("starting vLLM with %s on %d GPUs", w.Model, w.GPUs)
	o := check.Observation{Kind: KindServer, Target: "job " + jobName, Command: fmt.Sprintf("vllm serve %s --max-model-len %d --tensor-parallel-size %d; GET /health", w.Model, w.MaxModelLen, w.GPUs), At: g.deps.Now()}
	s, err := g.start(limited)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("start the server: %w", ctx.Err())
		}
		o.Err, o.Took = err.Error(), g.deps.Now().Sub(o.At)
		return record(rec, o)
	}
	defer g.remove(ctx, s, rec)
	return g.watch(ctx, limited, s, rec, o)
}

// remove deletes the server, also when ctx has ended; one that is held is left for who
// cleans up after the run, unless it was ended.
func (g *Gate) remove(ctx context.Context, s server, rec check.Recorder) {
	if g.deps.Hold && ctx.Err() == nil {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteDeadline)
	defer cancel()
	if err := s.remove(end); err != nil {
		rec.Progress("the server could not be removed: %v", err)
	}
}

// watch sees the server come up and measures it.
func (g *Gate) watch(ctx, limited context.Context, s server, rec check.Recorder, o check.Observation) error {
	w := g.site.Workloads.Inference
	name, node := s.where()
	f := ServerFigures{Pod: name, Node: node, Model: w.Model, MaxLen: w.MaxModelLen, GPUs: w.GPUs}
	c, err := g.connect(limited, s)
	o.Took = g.deps.Now().Sub(o.At)
	f.WaitedSeconds, f.Healthy = o.Took.Seconds(), err == nil
	if ctx.Err() != nil {
		if c != nil {
			c.close()
		}
		return fmt.Errorf("wait for the server: %w", ctx.Err())
	}
	if errors.Is(err, errBlind) {
		o.Err = err.Error()
		return recordFigures(rec, o, f)
	}
	if err != nil {
		f.Problem, f.Crashed = err.Error(), errors.Is(err, errCrashed)
		f.see(ctx, s, &o)
		return recordFigures(rec, o, f)
	}
	defer c.close()
	if err := recordFigures(rec, o, f); err != nil {
		return err
	}
	if err := g.measure(limited, c.client, rec); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("measure the server: %w", ctx.Err())
	}
	end := check.Observation{Kind: KindEnd, Target: "pod " + name, Command: "log and restarts of pod " + name, At: g.deps.Now()}
	f.see(ctx, s, &end)
	return recordFigures(rec, end, f)
}

// measure asks for the models and the known completion, then loads the server.
func (g *Gate) measure(ctx context.Context, client *vllm.Client, rec check.Recorder) error {
	w := g.site.Workloads.Inference
	o := check.Observation{Kind: KindModels, Target: "/v1/models", Command: "GET /v1/models", At: g.deps.Now()}
	models, raw, err := client.Models(ctx)
	if err := g.keep(rec, o, raw, err, ModelsFigures{Models: models}); err != nil {
		return err
	}
	o = check.Observation{Kind: KindCompletion, Target: "/v1/completions", Command: fmt.Sprintf("POST /v1/completions prompt %q, temperature 0", w.Prompt), At: g.deps.Now()}
	// A token has a byte at least, so that these are enough for the whole prefix.
	tokens := max(w.OutputTokens, len(w.GoldenPrefix))
	answer, raw, err := client.Complete(ctx, vllm.Request{Model: w.Model, Prompt: w.Prompt, MaxTokens: tokens})
	if err := g.keep(rec, o, raw, err, CompletionFigures{Prompt: w.Prompt, Text: answer.Text, Tokens: answer.Tokens}); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		rec.Progress("%d requests, %g a second, at most %d at a time", w.Requests, w.Rate, w.Concurrency)
		f, err := g.measureLoad(ctx, client, rec)
		if err != nil || attempt == measureAttempts || ctx.Err() != nil || !g.spoiled(f) {
			return err
		}
		rec.Progress("this machine is too busy to measure on: measuring again")
	}
}

// measureLoad records one load.
func (g *Gate) measureLoad(ctx context.Context, client *vllm.Client, rec check.Recorder) (LoadFigures, error) {
	w := g.site.Workloads.Inference
	o := check.Observation{Kind: KindLoad, Target: "/v1/completions", At: g.deps.Now(), Command: fmt.Sprintf(
		"POST /v1/completions, streaming, %d requests after %d to warm up, %g a second, at most %d at a time, %d tokens in, %d out",
		w.Requests, w.Warmup, w.Rate, w.Concurrency, w.InputTokens, w.OutputTokens)}
	f := g.loadAndMetrics(ctx, client)
	return f, g.keep(rec, o, nil, nil, f)
}

// keep records what was seen, or why nothing was.
func (g *Gate) keep(rec check.Recorder, o check.Observation, raw []byte, err error, figures any) error {
	o.Raw, o.Took = raw, g.deps.Now().Sub(o.At)
	if err != nil {
		o.Err = err.Error()
		return record(rec, o)
	}
	return recordFigures(rec, o, figures)
}

// see reads the server's log and restarts.
func (f *ServerFigures) see(ctx context.Context, s server, o *check.Observation) {
	const deadline = time.Minute
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	var err error
	if f.Restarts, err = s.restarted(ctx); err != nil {
		o.Err = err.Error()
		return
	}
	if o.Raw, err = s.log(ctx); err != nil {
		o.Err = err.Error()
		return
	}
	if f.Log, err = vllm.ParseLog(bytes.NewReader(o.Raw)); err != nil {
		o.Err = err.Error()
	}
}

func recordFigures(rec check.Recorder, o check.Observation, figures any) error {
	o, err := o.WithFigures(figures)
	if err != nil {
		return err //nolint:wrapcheck // says what
	}
	return record(rec, o)
}

func record(rec check.Recorder, o check.Observation) error {
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record %s: %w", o.Kind, err)
	}
	return nil
}
